import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EnumTypeDefinitionNode, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { readConfig, settingNamesOf } from '../../src/config/config.ts';
import { plugins } from '../../src/plugins.ts';
import { FAILURES } from '../../src/shared/errors.ts';
import { blocksOf } from '../support/markdown.ts';
import { openProgram } from '../support/program.ts';

const settingNames = settingNamesOf(plugins);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DOCUMENTS = globSync(
  [
    '{.,.github,bench,docs}/*.md',
    'clients/{.,client,graphiql}/*.md',
    'src/{*,graphql/*,plugins/*}/README.md',
  ],
  {
    cwd: ROOT,
  },
);
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

const readme = read('README.md');

/** Settings that follow from the machine's memory unless they are given. */
const OF_MEMORY = ['memoryMb', 'cacheMaxBytes', 'answersMaxBytes', 'maxAnswerBytes'];

describe('README', () => {
  it.for(['npm ci && npm start', 'npm ci && npm test'])('README names the command `%s`', (command) => {
    expect(blocksOf(readme, 'sh').map((block) => block.trim())).toContain(command);
  });

  it('README names a way to run its commands in a checkout, which is one on the Node of the checkout', () => {
    const [, script = ''] = /In a checkout, write `npm run -s (\S+) --`/.exec(readme) ?? [];
    expect(JSON.parse(read('package.json')).scripts[script]).toBe('exec node bin/country-graph.cjs');
  });

  it('README shows a query with the answer and the bill that it really has', async () => {
    const [query = ''] = blocksOf(readme, 'graphql');
    const [answer = ''] = blocksOf(readme, 'jsonc');
    const { data, extensions } = JSON.parse(answer.replace(/\/\/.*$/gm, ''));
    await using program = await openProgram();
    const reply = await program.ask(query);
    expect(reply.errors).toEqual([]);
    expect(reply.extensions).toEqual(extensions);
    expect(reply.data.countries).toHaveLength(54);
    expect(reply.data.countries.slice(0, data.countries.length)).toEqual(data.countries);
    expect(program.requests()).toHaveLength(extensions.upstream.calls);

    await using holding = await openProgram({ env: { CACHE_URL: 'memory:' } });
    await holding.ask(query);
    const { upstream } = await holding.ask(query);
    expect(readme).toContain(`takes ${upstream.calls} calls, with \`"cached": ${upstream.cached}\``);
    expect(upstream.cached).toBe(extensions.upstream.naive);
  });
});

describe('README, of the alternative', () => {
  const { rows } = JSON.parse(read('bench/REPORT.json'));

  it('README counts the lines and the calls of other servers as they are', () => {
    const lines = read('bench/peers/grafserv.ts').split('\n').length - 1;
    expect(readme).toContain(`\`bench/peers/grafserv.ts\`, ${lines} lines`);
    const [row] = rows.filter(({ row }: { row: string }) => row === 'c');
    const servers = ['grafserv', 'mercurius-jit', 'apollo-dataloader'];
    const calls = servers.map((name) => {
      const { rounds } = row.heats.find(({ server }: { server: string }) => server === name);
      return Math.round(rounds['32'][0].calls);
    });
    const [, said] = /takes the same (\d+) calls for this query/.exec(readme.replaceAll('\n', ' ')) ?? [];
    expect(calls).toEqual(servers.map(() => Number(said)));
  });
});

describe('docs/settings.md', () => {
  const settings = read('docs/settings.md');

  it('docs/settings.md has every setting with its default, and no other', () => {
    const told: [name: string, value: string][] = [];
    for (const [, names = '', defaults = ''] of settings.matchAll(/^\| (`[A-Z].*?) \|.*?\| ([^|]*) \|/gm)) {
      const values = defaults.split(', ');
      for (const [i, name] of names.split(', ').entries())
        told.push([name.replaceAll('`', ''), (values[i] ?? '').replace(/^unset: .*/, 'unset')]);
    }
    const { plugins: ofPlugins, memoryOwners: _, attribution: __, ...ofKernel } = readConfig({}, plugins);
    // Read before all others, as plugins bring settings of their own.
    const held = [
      ['PLUGINS', 'unset'],
      ...Object.entries(ofKernel).map(([name, value]) => [
        environmentName(name),
        shown(OF_MEMORY.includes(name) ? undefined : value),
      ]),
      ...plugins.flatMap(({ name: plugin, settings }) =>
        Object.keys(settings).map((name) => [name, shown(ofPlugins[plugin]?.[name])]),
      ),
    ];
    expect(told.toSorted()).toEqual(held.toSorted());
  });
});

/** Variables of its specification, which its own packages read. */
const OF_OPENTELEMETRY = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_SDK_DISABLED',
  'OTEL_SERVICE_NAME',
  'OTEL_TRACES_EXPORTER',
  'OTEL_TRACES_SAMPLER',
];

/** A variable of the system's allocator. */
const OF_THE_ALLOCATOR = ['MALLOC_ARENA_MAX'];

/** Variables, and a word, of Node about proxies and TLS. */
const OF_NODE = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_ENV_PROXY', 'SELF_SIGNED_CERT_IN_CHAIN'];

describe('docs/operating.md', () => {
  const operating = read('docs/operating.md');

  it('docs/operating.md names settings that are there, and nothing else that looks like one', () => {
    const codes = [
      ...Object.keys(FAILURES),
      'CLIENT_CLOSED_REQUEST',
      'INTERNAL_SERVER_ERROR',
      'ROWS_LEFT_OUT',
    ];
    const others = [...codes, ...OF_OPENTELEMETRY, ...OF_THE_ALLOCATOR, ...OF_NODE];
    const named = [...operating.matchAll(/(?<![\w/.])([A-Z][A-Z]+(?:_[A-Z]+)+)(?![\w*.])/g)].map(
      ([, name]) => name,
    );
    expect(named.length).toBeGreaterThan(30);
    expect(
      named.filter((name) => !others.includes(name ?? '') && !settingNames.includes(name ?? '')),
    ).toEqual([]);
  });

  it('docs/operating.md names metrics that are there', async () => {
    await using program = await openProgram({ env: { COUNTRY_DATA_KEY: 'demo-team', CACHE_URL: 'memory:' } });
    const text = await (await fetch(program.url.replace('graphql', 'metrics'))).text();
    const named = [...operating.matchAll(/\bcountry_graph_\w+/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(8);
    for (const name of named) expect(text).toContain(`# TYPE ${name} `);
  });

  it('docs/operating.md shows how the library is used as it really is', () => {
    const [block = ''] = blocksOf(operating, 'ts');
    const used = read('test/config/package.test.ts');
    for (const name of ['createGateway', 'settings', 'onProblem', 'gateway.plugin', 'gateway.stop()']) {
      expect(block).toContain(name);
      expect(used).toContain(name);
    }
  });
});

/** `batchHoldMs` is read from `BATCH_HOLD_MS`. */
function environmentName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** A default as the table of settings writes it. */
function shown(value: unknown): string {
  if (value === undefined) return 'unset';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return Array.isArray(value) && value.length === 0 ? 'none' : String(value);
}

/**
 * Names between backticks of documents that mean a file or folder of the project: paths with a slash, and
 * names with the ending of a file. Blocks of code are left out. A file of an example is followed by `<!--
 * imagined -->`.
 */
function pathsIn(document: string): { path: string; isImagined: boolean }[] {
  const text = read(document).replace(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/`([^`\n]+)`(<!-- imagined -->)?/g)]
    .map(([, path = '', mark]) => ({ path, isImagined: mark !== undefined }))
    .filter(({ path }) =>
      /^\.?[\w-][\w.-]*(\/[\w.-]+)+\/?$|^[\w-]+\.(ts|md|json|graphql|txt|yaml)$/.test(path),
    );
}

/** Anchors that a forge gives the headings of a document, which no two of one document share. */
function anchorsOf(markdown: string): string[] {
  const headings = markdown.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('files and folders named', () => {
  const withPaths = [
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'docs/adding-a-route.md',
    'docs/dependencies.md',
    'docs/development.md',
  ];

  it.for(withPaths)('files and folders named in %s are there, save those of an example', (document) => {
    const paths = pathsIn(document);
    expect(paths.length).toBeGreaterThan(5);
    const wrong = paths.filter(({ path, isImagined }) => existsSync(join(ROOT, path)) === isImagined);
    expect(wrong).toEqual([]);
  });

  /** A member of plugins, which looks like the name of a file. */
  const MEMBER = 'http.graphql';

  it.for(DOCUMENTS.filter((document) => document.startsWith('src')))(
    'files named in %s are there, from the root or beside it',
    (document) => {
      const folders = [ROOT, join(ROOT, dirname(document))];
      const wrong = pathsIn(document).filter(
        ({ path }) => path !== MEMBER && !folders.some((folder) => existsSync(join(folder, path))),
      );
      expect(wrong).toEqual([]);
    },
  );

  it.for(DOCUMENTS)('what links of %s lead to is there, with the heading that a link names', (document) => {
    const targets = [...read(document).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(
      ([, target = '']) => target,
    );
    const broken = targets.filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? document : join(dirname(document), path);
      return (
        !existsSync(join(ROOT, file)) || (anchor !== undefined && !anchorsOf(read(file)).includes(anchor))
      );
    });
    expect(broken).toEqual([]);
  });
});

describe('error codes', () => {
  const [errors] = parse(read('schema/errors.graphql')).definitions as readonly EnumTypeDefinitionNode[];
  const architecture = read('ARCHITECTURE.md');
  const paragraphs = read('docs/errors.md');

  it.for(Object.entries(FAILURES))(
    'the error code %s is in the schema and in the documents',
    ([code, { retryable }]) => {
      expect(errors?.values?.map(({ name }) => name.value)).toContain(code);
      expect(architecture).toContain(`| \`${code}\` | ${retryable ? 'yes' : 'no'} |`);
      expect(paragraphs).toContain(`\n## \`${code}\`\n`);
    },
  );
});
