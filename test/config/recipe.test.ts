import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Block, blocksIn } from '../support/markdown.ts';
import { copyProject, type ProjectCopy } from '../support/project-copy.ts';

interface Step {
  readonly file: string;
  readonly isNew: boolean;
  readonly block: Block;
}

const recipe = readFileSync('docs/adding-a-route.md', 'utf8');

/** Each step names its file in its first line, and has its code below. */
const steps: readonly Step[] = recipe
  .split(/^(?=\*\*\d+\. )/m)
  .slice(1)
  .map((step) => {
    const [, mark, file = ''] = /^\*\*\d+\. [^*]+\*\*, (✎|in) `([^`]+)`/.exec(step) ?? [];
    const [block] = blocksIn(step);
    if (block === undefined) throw new Error(`No code: ${step}`);
    return { file, isNew: mark === '✎', block };
  });

const [bill = '', answer = ''] = blocksIn(recipe)
  .filter(({ language }) => language === '' || language === 'json')
  .map(({ text }) => text);

/** Imports go to the top of a file that is there, everything else to its end. */
async function follow(copy: ProjectCopy, { file, isNew, block }: Step): Promise<void> {
  if (isNew) return copy.write(file, block.text);
  const [imports = '', rest = ''] = block.text.split(/\n\n([\s\S]*)/);
  await copy.write(file, `${imports}\n${await copy.read(file)}\n${rest}`);
}

/**
 * Asks for all countries' holidays though ten calls are allowed; the codes of the errors, and the calls that
 * were sent.
 */
const ASKING = `
  import { openProgram } from './test/support/program.ts';
  await using program = await openProgram({ env: { MAX_UPSTREAM_CALLS: '10' } });
  const { errors } = await program.ask('{ countries { holidays { title } } }');
  console.log(JSON.stringify([errors.map(({ extensions }) => extensions.code), program.requests().length]));
`;

describe('a route that is added by the steps of docs/adding-a-route.md', () => {
  let copy: ProjectCopy;
  beforeAll(async () => {
    copy = await copyProject();
    for (const step of steps) await follow(copy, step);
    await copy.run('node', ['scripts/codegen.ts']);
  });
  afterAll(() => copy[Symbol.asyncDispose]());

  const ask = async (): Promise<[codes: string[], calls: number]> => {
    await copy.write('ask.ts', ASKING);
    return JSON.parse(await copy.run('node', ['ask.ts']));
  };

  /** Looks at the types of a folder and of its imports. */
  const compile = async (folder: string) => {
    const config = { extends: './tsconfig.json', include: [folder] };
    await copy.write('tsconfig.part.json', JSON.stringify(config));
    return copy.run('tsc', ['-p', 'tsconfig.part.json']);
  };

  it('a route added by docs/adding-a-route.md takes six files', () => {
    expect(steps.map(({ file }) => file)).toEqual([
      'src/service/records/holidays.ts',
      'src/service/endpoints.ts',
      'schema/holiday.graphql',
      'src/graphql/resolvers/holidays.ts',
      'src/sandbox/routes/holidays.ts',
      'test/queries/holidays/two-countries.graphql',
    ]);
  });

  it('a route added by docs/adding-a-route.md answers its golden query as is said, for the bill that is said, and costs what it says', async () => {
    const query = 'test/queries/holidays/two-countries';
    const said = await copy.run(
      'vitest',
      [
        'run',
        '--reporter=verbose',
        'test/graph/field-costs',
        'test/queries/golden',
        '-t',
        'holidays/two-countries|Country.holidays|said to be: Holiday|is said of every field|every field and argument',
      ],
      { UPDATE_GOLDEN: '1' },
    );
    expect(JSON.parse(await copy.read(`${query}.answer.json`))).toEqual(JSON.parse(answer));
    expect(await copy.read(`${query}.calls.txt`)).toBe(bill);
    expect(said).toMatch(/✓.* is what it reaches of the service: Country\.holidays/);
    expect(said).toMatch(/✓.* is nothing where it is said to be: Holiday/);
    expect(said).toMatch(/✓.* is said of every field that has a resolver/);
    expect(said).toMatch(/✓.* every field and argument of the graph is used by some golden query/);
  });

  it('a route added by docs/adding-a-route.md is sound by its types', async () => {
    await compile('src');
  });

  it('a route added by docs/adding-a-route.md is refused unsent where it is too dear', async () => {
    expect(await ask()).toEqual([['OPERATION_TOO_EXPENSIVE'], 0]);
  });

  it('a route added by docs/adding-a-route.md is refused all the same where its line of cost was forgotten, and would not be if that were free', async () => {
    await copy.edit('schema/holiday.graphql', ' @upstream(takes: EACH)', '');
    expect(await ask()).toEqual([['OPERATION_TOO_EXPENSIVE'], 0]);
    await copy.edit('src/graphql/schema/costs.ts', "? 'NOTHING' : 'UNSAID'", "? 'NOTHING' : 'NOTHING'");
    const [, calls] = await ask();
    expect(calls).toBeGreaterThan(0);
  });

  it('a route added by docs/adding-a-route.md is no program where nothing provides one of its fields', async () => {
    await copy.edit('src/graphql/resolvers/holidays.ts', "'date', ", '');
    await expect(ask()).rejects.toThrow('Nothing provides Holiday.date');
    await expect(compile('src/graphql/resolvers')).rejects.toMatchObject({
      stdout: expect.stringContaining('Holiday.date'),
    });
  });
});
