import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse as parsePath } from 'node:path';
import {
  buildClientSchema,
  getIntrospectionQuery,
  isInterfaceType,
  isObjectType,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { WHOLE_GRAPH } from '../support/golden-settings.ts';
import { openProgram } from '../support/program.ts';

/**
 * Every `<domain>/<name>.graphql` beside its answer and its bill. To write both anew after a change that was meant:
 * `UPDATE_GOLDEN=1 vitest run test/queries && npm run fix`, and read the diff.
 */
const folder = new URL('./', import.meta.url);
const isUpdating = process.env.UPDATE_GOLDEN === '1';

/** Windows of minute and month stand still, so that answers which name them can be written down. */
const clock = { now: () => Date.parse('2026-03-10T12:00:30Z'), sleep: async () => {} };

const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
const names = files.filter((file) => file.endsWith('.graphql')).map((file) => file.replace('.graphql', ''));
const read = (file: string) => readFileSync(new URL(file, folder), 'utf8');
const write = (file: string, text: string) => writeFileSync(new URL(file, folder), text);
const queryOf = (name: string) => read(`${name}.graphql`);

async function run(name: string) {
  await using program = await openProgram({ clock, sandbox: { now: clock.now }, env: WHOLE_GRAPH });
  const variables = files.includes(`${name}.variables.json`)
    ? JSON.parse(read(`${name}.variables.json`))
    : undefined;
  const { data, errors, upstream } = await program.ask(queryOf(name), { variables });
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
  test.for(names)('%s', async (name) => {
    const ran = await run(name);
    if (isUpdating) {
      write(`${name}.answer.json`, `${JSON.stringify(ran.answer, null, 2)}\n`);
      write(`${name}.calls.txt`, billOf(ran));
    }
    expect(ran.problems).toEqual([]);
    expect(ran.answer).toEqual(JSON.parse(read(`${name}.answer.json`)));
    expect(billOf(ran)).toBe(read(`${name}.calls.txt`));
    expect(ran.told).toEqual(ran.sent);
    expect(ran.calls).toBe(ran.requests.length);
    expect(ran.naive).toBeGreaterThanOrEqual(ran.calls);
  });

  test('there are no files without a query', () => {
    const stray = files
      .map((file) => parsePath(file))
      .filter(({ dir, base }) => dir !== '' && /\.(answer\.json|calls\.txt|variables\.json)$/.test(base))
      .map(({ dir, base }) => `${dir}/${base.replace(/\.(answer\.json|calls\.txt|variables\.json)$/, '')}`)
      .filter((name) => !names.includes(name));
    expect(stray).toEqual([]);
  });
});

/** What a router asks of a subgraph, tested where the schema is; and the time of day, tested where it is held. */
const ASKED_ELSEWHERE = ['Freshness.fetchedAt', 'Query._service', '_Service.sdl'];

test('every field and argument of the graph is used by some golden query', async () => {
  await using program = await openProgram({ env: WHOLE_GRAPH });
  const { data, upstream } = await program.ask(getIntrospectionQuery(), { key: null });
  expect(upstream.calls).toBe(0);
  const schema = buildClientSchema(data);
  const used = new Set<string>();
  for (const name of names) {
    const types = new TypeInfo(schema);
    visit(
      parse(queryOf(name)),
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
