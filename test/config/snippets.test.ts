import { execFile, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildClientSchema, getIntrospectionQuery, getOperationAST, parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { settingNamesOf } from '../../src/config/config.ts';
import { plugins } from '../../src/plugins.ts';
import { runCommand } from '../support/command.ts';
import { WHOLE_GRAPH } from '../support/golden-settings.ts';
import { type Block, blocksIn, withoutRecipe } from '../support/markdown.ts';
import { openProgram, type Program } from '../support/program.ts';

const settingNames = settingNamesOf(plugins);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(`${ROOT}${file}`, 'utf8');
const run = promisify(execFile);

const DOCUMENTS = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'clients/README.md',
  'clients/client/README.md',
  'src/sandbox/README.md',
  'src/graphql/execution/README.md',
  ...globSync('docs/*.md', { cwd: ROOT }).sort(),
];

interface Snippet extends Block {
  readonly document: string;
  /** Place for the name of a test. */
  readonly place: string;
}

const snippets: readonly Snippet[] = DOCUMENTS.flatMap((document) =>
  blocksIn(withoutRecipe(read(document))).map((block) => ({
    ...block,
    document,
    place: `${document}:${block.line}`,
  })),
);
const inLanguage = (...languages: readonly string[]) =>
  snippets.filter(({ language }) => languages.includes(language));

/** Samples for the variables of an operation. */
const VARIABLES = { code: 'KE' };

describe('a snippet', () => {
  it('a snippet of the documents is in a language that is looked into here', () => {
    const known = [
      '',
      'ini',
      'graphql',
      'sh',
      'ts',
      'tsx',
      'yaml',
      'json',
      'jsonc',
      'python',
      'r',
      'sql',
      'html',
    ];
    expect(snippets.filter(({ language }) => !known.includes(language)).map(({ place }) => place)).toEqual(
      [],
    );
    expect(snippets.length).toBeGreaterThan(30);
  });
});

it.for(inLanguage('html'))('HTML of $place is the frame of a page, and its script', ({ text }) => {
  const page = 'https://figures\\.example/c/';
  const frame = `<iframe src="${page}\\w+[^"]*" title="\\w+" width="960" height="820" [^>]*></iframe>`;
  expect(text.trim()).toMatch(new RegExp(`^${frame}\n<script async src="${page}frames\\.js"></script>$`));
});

describe('GraphQL', () => {
  const operations = inLanguage('graphql');
  const kindOf = ({ text }: Snippet) => getOperationAST(parse(text))?.operation;

  it.for(operations.filter((snippet) => kindOf(snippet) === 'query'))(
    'GraphQL of $place is answered, for as many calls as the text says',
    async ({ text, after }) => {
      await using program = await openProgram({ env: WHOLE_GRAPH });
      const { errors, upstream } = await program.ask(text, { variables: VARIABLES });
      expect(errors).toEqual([]);
      expect(program.requests()).toHaveLength(upstream.calls);
      const [, said] = /\b(?:takes|took) \*{0,2}(\d+) calls?\b/.exec(after) ?? [];
      if (said !== undefined) expect(upstream.calls).toBe(Number(said));
    },
  );

  it('GraphQL of the documents has numbers in the text that are held against what is sent', () => {
    const said = operations.filter(({ after }) => /\b(?:takes|took) \*{0,2}\d+ calls?\b/.test(after));
    expect(said.length).toBeGreaterThan(5);
  });

  it('GraphQL of the documents is valid where it subscribes', async () => {
    await using program = await openProgram();
    const { data } = await program.ask(getIntrospectionQuery(), { key: null });
    const schema = buildClientSchema(data);
    const subscriptions = operations.filter((snippet) => kindOf(snippet) === 'subscription');
    expect(subscriptions.length).toBeGreaterThan(1);
    for (const { text } of subscriptions) expect(validate(schema, parse(text))).toEqual([]);
  });
});

/** Lines of a shell, with those that go on joined, and without comments. */
function commandsIn(text: string): string[] {
  return text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/\s#\s.*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

const shell = inLanguage('sh').flatMap(({ text, place }) =>
  commandsIn(text).flatMap((line) => line.split(' && ').map((command) => ({ command, place }))),
);
const beginningWith = (...words: readonly string[]) =>
  shell
    .map(({ command, place }) => ({ command, place, bare: command.replace(/^([A-Z_]+=\S+ )+/, '') }))
    .filter(({ bare }) => words.some((word) => bare.startsWith(word)));

/**
 * The program as a package installs it: by its name for programs that look it up, and by its own file, which
 * takes signals.
 */
const OURS = ['npx country-graph', 'node node_modules/country-graph/bin/country-graph.cjs'];

/** Commands of ours that end by themselves, and cost nobody anything. */
const ENDING = new Set(['query', 'explain', 'doctor', 'schema']);

describe('a command', () => {
  let program: Program;
  const folder = `${tmpdir()}/snippets-${process.pid}`;
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    program = await openProgram();
  });
  afterAll(async () => {
    await program[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('a command of the documents is of a program that is looked into here', () => {
    const known = new Set(beginningWith('npm ', ...OURS, 'curl ').map(({ command }) => command));
    expect(shell.filter(({ command }) => !known.has(command))).toEqual([]);
  });

  it.for(beginningWith('curl '))(
    'a command of $place is answered by the gateway: $command',
    async ({ command }) => {
      program.requests();
      const { port } = new URL(program.url);
      const { stdout } = await run('bash', ['-c', command.replaceAll(':4000/', `:${port}/`)], {
        cwd: folder,
      });
      const [, file] = / -o (\S+)/.exec(command) ?? [];
      if (file !== undefined) {
        expect(readFileSync(`${folder}/${file}`, 'utf8').split('\n').length).toBeGreaterThan(54);
        return;
      }
      const { data, errors, extensions } = JSON.parse(stdout);
      expect(errors).toBeUndefined();
      if (command.includes('x-explain')) expect([data, program.requests()]).toEqual([null, []]);
      expect(extensions.explain ?? data).toBeTruthy();
    },
  );

  it.for(beginningWith(...OURS))(
    'a command of $place is one of the program: $command',
    async ({ command, bare }) => {
      // The package has no files of the checkout.
      for (const [, file = ''] of command.matchAll(/ ([\w./-]+\.graphql)\b/g))
        expect([file, existsSync(`${ROOT}${file}`)]).toEqual([file, false]);
      const settings = [...command.matchAll(/\b([A-Z_]+)=/g)].map(([, name]) => name ?? '');
      const known = [...settingNames, 'COUNTRY_GRAPH_KEY', 'COUNTRY_GRAPH_URL'];
      expect(settings.filter((name) => !known.includes(name) && !name.startsWith('OTEL_'))).toEqual([]);
      const words = [...bare.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
      const [name = '', ...args] = words.slice(words.findIndex((word) => word.endsWith('country-graph')) + 1);
      const ends = ENDING.has(name);
      // Keys and their use are kept in a store, which each of these commands has to be told of.
      if (name === 'keys' || name === 'usage') expect(settings).toContain('CACHE_URL');
      const asked = name === 'keys' ? args.slice(0, 1) : [];
      const { code, stdout } = await runCommand([name, ...(ends ? args : [...asked, '--help'])]);
      expect([code, stdout !== '']).toEqual([0, true]);
      if (!ends)
        for (const flag of args.filter((arg) => arg.startsWith('--'))) expect(stdout).toContain(flag);
    },
  );

  it.for(beginningWith('npm '))(
    'a command of $place is one of npm, or a script: $command',
    ({ bare: command }) => {
      const { scripts, version } = JSON.parse(read('package.json'));
      const [, script] = /^npm run (?:--silent )?([\w:]+)/.exec(command) ?? [];
      if (script !== undefined) expect(Object.keys(scripts)).toContain(script);
      else expect(command).toMatch(/^npm (ci|start|test|pack|install \.\/country-graph-[\d.]+\.tgz)\b/);
      const [, named] = /country-graph-([\d.]+)\.tgz/.exec(command) ?? [];
      expect(named ?? version).toBe(version);
      for (const [, file = ''] of command.matchAll(/ ([\w./-]+\.graphql)\b/g))
        expect(existsSync(`${ROOT}${file}`)).toBe(true);
    },
  );
});

/** True if Python is there, and if it has the packages that documents read tables with. */
const hasPython = spawnSync('python3', ['--version']).status === 0;
const hasDataFrames = hasPython && spawnSync('python3', ['-c', 'import pandas, polars']).status === 0;

describe.runIf(hasPython)('Python', () => {
  const folder = `${tmpdir()}/snippets-python-${process.pid}`;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.for(inLanguage('python'))(
    'Python of $place can be read, and runs where its libraries are',
    async ({ text }) => {
      await run('python3', ['-c', 'import ast, sys; ast.parse(sys.argv[1])', text]);
      if (!hasDataFrames) return;
      await using program = await openProgram();
      mkdirSync(folder, { recursive: true });
      const query =
        '{ countries { code name gdp: observation(metricKey: "gdp_current_usd") { value year } } }';
      const table = await fetch(program.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'text/csv',
          authorization: `Bearer ${program.sandbox.keys.team}`,
        },
        body: JSON.stringify({ query }),
      });
      writeFileSync(`${folder}/gdp.csv`, await table.text());
      await run('python3', ['-c', text], { cwd: folder });
    },
  );
});

describe('settings of other programs', () => {
  it.for(inLanguage('yaml'))('settings of other programs in $place are YAML', ({ text }) => {
    expect(parseYaml(text)).toBeTypeOf('object');
  });

  it.for(inLanguage('json', 'jsonc'))(
    'settings of other programs in $place are JSON, with comments',
    ({ text }) => {
      expect(JSON.parse(text.replace(/\/\/.*$/gm, ''))).toBeTypeOf('object');
    },
  );
});

/** Names of a program that documents take for granted, around their code. */
const GRANTED: Readonly<Record<string, string>> = {
  'clients/README.md': `
    import { ApolloClient, type ApolloLink, DocumentTransform, InMemoryCache } from '@apollo/client';
    import { cacheExchange } from '@urql/exchange-graphcache';
    import { Client, fetchExchange, mapExchange } from 'urql';
    declare const link: ApolloLink;
    declare const url: string;
    declare function ask(): Promise<void>;
    declare function signIn(): void;
    declare function show(words: string): void;`,
  'docs/live.md': 'declare const key: string;',
};

/** The package of Hive Gateway's own command isn't installed: its settings are those of the library behind it. */
const HIVE = `import type { GatewayConfigSupergraph } from '@graphql-hive/gateway-runtime';
export declare function defineConfig(config: Partial<GatewayConfigSupergraph>): object;`;

const RECIPES = `${ROOT}clients/recipes/`;

/**
 * A snippet with the files beside its document, and the types that gql.tada makes of our schema, if they are
 * there.
 */
function placed(text: string, document: string): string {
  return text
    .replaceAll("from './graphql-env.d.ts'", `from '${RECIPES}tanstack/graphql-env.d.ts'`)
    .replaceAll("from './", `from '${ROOT}${dirname(document)}/`);
}
/** Installed, and built: gql.tada makes its types then. */
const hasLibraries = process.env.CI === 'true' || existsSync(`${RECIPES}tanstack/graphql-env.d.ts`);
const hasRouters = process.env.CI === 'true' || existsSync(`${ROOT}test/federation/node_modules`);

describe.runIf(hasLibraries && hasRouters)('TypeScript', () => {
  const folder = `${RECIPES}generated/snippets`;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('TypeScript of all documents passes the compiler, beside the libraries that it imports', async () => {
    const blocks = inLanguage('ts', 'tsx');
    expect(blocks.length).toBeGreaterThan(5);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const { document, text, language, line } of blocks)
      writeFileSync(
        `${folder}/${document.replaceAll(/\W/g, '_')}_${line}.${language}`,
        `${GRANTED[document] ?? ''}\n${placed(text, document)}\nexport {};\n`,
      );
    writeFileSync(`${folder}/hive.d.ts`, HIVE);
    const compilerOptions = {
      target: 'es2024',
      lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'],
      module: 'esnext',
      moduleResolution: 'bundler',
      allowImportingTsExtensions: true,
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      types: ['node'],
      paths: {
        '@country-graph/client': [`${ROOT}clients/client/src/index.ts`],
        '@country-graph/client/*': [`${ROOT}clients/client/src/*.ts`],
        'country-graph': [`${ROOT}src/server/library.ts`],
        '@apollo/gateway': [`${ROOT}test/federation/node_modules/@apollo/gateway/dist/index.d.ts`],
        '@envelop/response-cache': [
          `${ROOT}test/federation/node_modules/@envelop/response-cache/typings/index.d.ts`,
        ],
        '@graphql-hive/gateway': [`${folder}/hive.d.ts`],
        '@graphql-hive/gateway-runtime': [
          `${ROOT}test/federation/node_modules/@graphql-hive/gateway-runtime/dist/index.d.ts`,
        ],
      },
    };
    writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['.'] }));
    const { stdout } = await run(`${ROOT}node_modules/.bin/tsc`, ['-p', folder], { cwd: ROOT }).catch(
      (failed: { stdout: string }) => failed,
    );
    // Our own code, which one of them imports, is checked with settings of its own.
    const faults = stdout.split('\n').filter((line) => /^clients\/|^error/.test(line));
    expect(faults).toEqual([]);
  });
});
