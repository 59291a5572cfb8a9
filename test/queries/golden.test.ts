import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parse as parsePath } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isInterfaceType, isObjectType, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { describe, expect, test } from 'vitest';
import {
  GOLDEN_FOLDER,
  goldenFiles,
  goldenNames,
  goldenOperation,
  goldenSchema,
  openGolden,
  readGolden,
} from '../support/golden-queries.ts';

/**
 * Every `<domain>/<name>.graphql` beside its answer and its bill. To write both anew after a change that was meant:
 * `UPDATE_GOLDEN=1 vitest run test/queries`, and read the diff. Files that say the same stay as they are.
 */
const isUpdating = process.env.UPDATE_GOLDEN === '1';

const write = (file: string, text: string) => writeFileSync(new URL(file, GOLDEN_FOLDER), text);

function update(name: string, ran: Awaited<ReturnType<typeof run>>): void {
  const answer = `${name}.answer.json`;
  const isThere = goldenFiles.includes(answer);
  if (!isThere || !isDeepStrictEqual(JSON.parse(readGolden(answer)), plain(ran.answer)))
    write(answer, formatted(JSON.stringify(ran.answer, null, 2)));
  write(`${name}.calls.txt`, billOf(ran));
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

/** As the formatter of the checks wants JSON to be. */
const formatted = (json: string) =>
  execFileSync('biome', ['format', '--stdin-file-path=answer.json'], { input: json, encoding: 'utf8' });

async function run(name: string) {
  // What is cached is all that these ask for.
  const isOfCache = /^(availability|journal)\//.test(name);
  await using program = await openGolden(isOfCache ? { CACHE_URL: 'memory:' } : {});
  const { query, variables } = goldenOperation(name);
  const { data, errors, upstream } = await program.ask(query, { variables });
  const { log } = program.sandbox;
  const byRoute: Record<string, number> = {};
  for (const { route } of log) byRoute[String(route)] = (byRoute[String(route)] ?? 0) + 1;
  return {
    answer: errors.length > 0 ? { data, errors } : { data },
    told: upstream.byRoute,
    calls: upstream.calls,
    naive: upstream.naive,
    sent: byRoute,
    requests: program.requests().sort(),
    problems: program.problems,
  };
}

/** Calls by route, a line each, and below them the requests just as they were sent. */
function billOf({ sent, requests }: Awaited<ReturnType<typeof run>>): string {
  const lines = Object.entries(sent).map(([route, count]) => `${count} ${route}`);
  if (lines.length === 0) return 'no calls\n';
  return `${lines.sort().join('\n')}\n\n${requests.join('\n')}\n`;
}

describe('golden queries', () => {
  test.for(goldenNames)('%s', async (name) => {
    const ran = await run(name);
    if (isUpdating) update(name, ran);
    expect(ran.problems).toEqual([]);
    expect(ran.answer).toEqual(JSON.parse(readGolden(`${name}.answer.json`)));
    expect(billOf(ran)).toBe(readGolden(`${name}.calls.txt`));
    expect(ran.told).toEqual(ran.sent);
    expect(ran.calls).toBe(ran.requests.length);
    expect(ran.naive).toBeGreaterThanOrEqual(ran.calls);
  });

  test('there are no files without a query', () => {
    const stray = goldenFiles
      .map((file) => parsePath(file))
      .filter(({ dir, base }) => dir !== '' && /\.(answer\.json|calls\.txt|variables\.json)$/.test(base))
      .map(({ dir, base }) => `${dir}/${base.replace(/\.(answer\.json|calls\.txt|variables\.json)$/, '')}`)
      .filter((name) => !goldenNames.includes(name));
    expect(stray).toEqual([]);
  });
});

/**
 * Fields that a router asks of a subgraph, tested with the schema; and the time of day, tested with held
 * answers.
 */
const ASKED_ELSEWHERE = ['Freshness.fetchedAt', 'Query._service', '_Service.sdl'];

test('every field and argument of the graph is used by some golden query', async () => {
  const schema = await goldenSchema();
  const used = new Set<string>();
  for (const name of goldenNames) {
    const types = new TypeInfo(schema);
    visit(
      parse(goldenOperation(name).query),
      visitWithTypeInfo(types, {
        Field: () => void used.add(`${types.getParentType()?.name}.${types.getFieldDef()?.name}`),
        Argument: () =>
          void used.add(
            `${types.getParentType()?.name}.${types.getFieldDef()?.name}(${types.getArgument()?.name})`,
          ),
      }),
    );
  }
  const all = Object.values(schema.getTypeMap()).flatMap((type) => {
    if (type.name.startsWith('__') || !(isObjectType(type) || isInterfaceType(type))) return [];
    return Object.values(type.getFields()).flatMap((field) => [
      `${type.name}.${field.name}`,
      ...field.args.map(({ name }) => `${type.name}.${field.name}(${name})`),
    ]);
  });
  expect(all.filter((field) => !used.has(field))).toEqual(ASKED_ELSEWHERE);
});
