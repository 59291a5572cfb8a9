import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandView } from '../../src/cli/command-view.ts';
import { questionFrom } from '../../src/cli/formats.ts';
import { keyFrom, ownKeyOf } from '../../src/cli/given-key.ts';
import { readConfig } from '../../src/config/config.ts';
import type { CommandHost } from '../../src/gateway/plugin.ts';
import { openTrusted } from '../../src/graphql/request/trusted.ts';
import { readFixtures } from '../../src/plugins/offline/fixtures.ts';
import { questionsIn } from '../../src/plugins/offline/wanted.ts';
import { addPublish } from '../../src/plugins/public-pages/publish.ts';
import { plugins } from '../../src/plugins.ts';
import { openFiles } from '../address/publishing.ts';
import { runCommand } from '../support/command.ts';
import { openProgram } from '../support/program.ts';

const QUERY = `query Capital($code: CountryCode!) {
  # Zürich
  country(code: $code) { capital }
}
`;
const FIXTURES = `{"countryGraphFixtures":1,"recordedAt":"2026-11-28T16:24:07.067Z"}

{"name":"latest KE population_total","value":[]}
`;
const HOST = commandView({
  env: {},
  plugins,
  openSandbox() {
    throw new Error('No test asks the sandbox.');
  },
});
const SECRETS = ['KEY_PEPPER', 'CACHE_URL', ...plugins.flatMap(({ secrets = [] }) => secrets)];
const OTHER_SETTINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  OPERATOR_KEY: { ADMIN_PORT: '0', COUNTRY_DATA_KEY: 'some-key' },
  PURGE_KEY: { PURGE_URL: 'http://cache.example' },
};
const secretOf = (name: string) => (name === 'CACHE_URL' ? 'redis://:a@cache.example' : `secret-of-${name}`);

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** Writes a file of the case's folder. */
type Write = (name: string, text: string | Buffer) => Promise<string>;

interface Door {
  readonly text: string;
  /** The faulty text, what the error says of it, and the line. */
  readonly fault?: readonly [text: string, line: number, said: string];
  /** Reads the file as the program does; returns what it has read. */
  readonly read: (file: string, write: Write) => unknown;
  readonly expected: unknown;
}

const NO_GRAPHQL = [QUERY.replace('{ capital }', '{ capital }} }'), 3, 'country(code: $code)'] as const;
/** In this process: a program for each of the forms would keep a busy machine for minutes. */
async function publish(file: string, env: Readonly<Record<string, string>>): Promise<void> {
  const command = new Command();
  addPublish(command, commandView({ env, plugins } as unknown as CommandHost));
  await command.parseAsync([file, '--name', 'new'], { from: 'user' });
}

/** All files that people bring. */
const DOORS: Readonly<Record<string, Door>> = {
  SOURCE_NAMES: {
    text: json({ wdi: { name: 'Bänk' } }),
    fault: ['{\n  "wdi": {\n    "name": 3\n  }\n}', 3, 'wdi: name: must be a text (got 3)'],
    read: (file) => readConfig({ SOURCE_NAMES: file }).sourceNames?.get('wdi')?.name,
    expected: 'Bänk',
  },
  ...Object.fromEntries(
    SECRETS.map((name): [string, Door] => [
      `${name}_FILE`,
      {
        text: `${secretOf(name)}\n`,
        read(file) {
          const { plugins: ofPlugins, ...config } = readConfig(
            { ...OTHER_SETTINGS[name], [`${name}_FILE`]: file },
            plugins,
          );
          return Object.values(ofPlugins)
            .concat({ KEY_PEPPER: config.keyPepper, CACHE_URL: config.cacheUrl })
            .flatMap((settings) => settings[name] ?? []);
        },
        expected: [secretOf(name)],
      },
    ]),
  ),
  'the file of --key-file': {
    text: 'a-key\n',
    fault: ['a-key\nanother', 1, 'character 6 is U+000A'],
    read: (file) => keyFrom(undefined, file),
    expected: 'a-key',
  },
  'COUNTRY_DATA_KEY_FILE of a command': {
    text: 'a-key\n\n',
    fault: ['a key', 1, 'character 2 is U+0020'],
    read: (file) => ownKeyOf({}, { COUNTRY_DATA_KEY_FILE: file }),
    expected: 'a-key',
  },
  TRUSTED_DOCUMENTS: {
    text: json({ abc: QUERY }),
    fault: ['{\n"abc": "{ a }",\n"def": {}\n}', 3, 'def: must be a text (got {})'],
    read: async (file) => {
      const { get, stop } = await openTrusted(file);
      stop();
      return get('abc', false);
    },
    expected: QUERY,
  },
  'a manifest of Apollo': {
    text: json({ operations: [{ id: 'abc', body: QUERY }] }),
    fault: ['{"operations": [\n{"id": "abc"}\n]}', 1, 'operations: 0: body: must be a text'],
    read: async (file) => {
      const { get, stop } = await openTrusted(file);
      stop();
      return get('abc', false);
    },
    expected: QUERY,
  },
  PUBLIC_DOCUMENTS: {
    text: json({ card: { document: 'Card', key: 'page', title: 'Länder' } }),
    fault: ['{\n"card": {\n"document": "Card",\n"key": "page", "titel": "x"\n}\n}', 2, 'titel'],
    read: async (file) => {
      const { env, folder } = openFiles();
      using _ = folder;
      const settings = {
        ...env,
        PUBLIC_DOCUMENTS: file,
        COUNTRY_DATA_KEY: 'demo-team',
        CACHE_URL: 'memory:',
      };
      await using program = await openProgram({ env: settings });
      return (await (await fetch(new URL('/openapi.json', program.url))).text()).includes('/c/card');
    },
    expected: true,
  },
  'a file of record': {
    text: FIXTURES,
    fault: [FIXTURES.replace('[]', '[7]'), 3, 'value: must be an answer or figures of the service'],
    read: async (file) => (await readFixtures(file, HOST)).fixtures,
    expected: [{ name: 'latest KE population_total', value: [] }],
  },
  'a document of query and explain': {
    text: QUERY,
    fault: NO_GRAPHQL,
    read: async (file) => (await questionFrom(file, { variables: '{}' })).query,
    expected: QUERY,
  },
  'a document of fill': {
    text: QUERY,
    fault: NO_GRAPHQL,
    read: async (file) => (await questionsIn([file], '{}', HOST)).map(({ query }) => query),
    expected: [QUERY],
  },
  'the variables beside a document of fill': {
    text: json({ code: 'KE' }),
    fault: ['{\n"code": KE\n}', 2, 'Unexpected token'],
    read: async (file, write) => {
      const query = await write('a.graphql', QUERY);
      await write('a.variables.json', await readFile(file));
      return (await questionsIn([query], '{}', HOST)).map(({ variables }) => variables);
    },
    expected: [{ code: 'KE' }],
  },
  'a document of publish': {
    text: QUERY,
    fault: NO_GRAPHQL,
    read: async (file, write) => {
      const [trusted, published] = [await write('t.json', '{}'), await write('p.json', '{}')];
      await publish(file, { TRUSTED_DOCUMENTS: trusted, PUBLIC_DOCUMENTS: published });
      return Object.values(JSON.parse(await readFile(trusted, 'utf8')));
    },
    expected: [QUERY],
  },
  'the file that publish adds to': {
    text: json({ old: { document: 'abc', key: 'page' } }),
    fault: ['{\n"old": {\n"document" "abc" }\n}', 3, "Expected ':'"],
    read: async (file, write) => {
      const [query, trusted] = [await write('q.graphql', QUERY), await write('t.json', '{}')];
      await publish(query, { TRUSTED_DOCUMENTS: trusted, PUBLIC_DOCUMENTS: file });
      return Object.keys(JSON.parse(await readFile(file, 'utf8')));
    },
    expected: ['old', 'new'],
  },
};

/** As editors and shells write a text. */
const FORMS: Readonly<Record<string, (text: string) => Buffer>> = {
  'in UTF-8': (text) => Buffer.from(text),
  'with a byte order mark': (text) => Buffer.from(`\ufeff${text}`),
  'with the mark and the lines of Windows': (text) => Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`),
  'by > of PowerShell': (text) => Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`, 'utf16le'),
  'in UTF-16, big-endian': (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
  'in UTF-16 without a mark': (text) => Buffer.from(text, 'utf16le'),
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'country-graph-texts-'));
});
afterAll(() => rm(folder, { recursive: true }));

let cases = 0;
async function caseFolder(): Promise<Write> {
  cases += 1;
  const path = join(folder, `case-${cases}`);
  await mkdir(path);
  return async (name, text) => {
    await writeFile(join(path, name), text);
    return join(path, name);
  };
}

const rows = Object.entries(DOORS).flatMap(([name, door]) =>
  Object.entries(FORMS).map(([form, encode]) => [name, form, door, encode] as const),
);

describe.concurrent('a file that people bring', () => {
  it.for(rows)(
    'a file that people bring is read in every form: %s, %s',
    async ([, , { text, read, expected }, encode], { expect }) => {
      const write = await caseFolder();
      expect(await read(await write('given', encode(text)), write)).toEqual(expected);
    },
  );

  it.for(Object.entries(DOORS))(
    'a file that people bring is refused by its name, the line, and what stands there: %s',
    async ([, { text, fault, read }], { expect }) => {
      const errorOf = async (bytes: string | Buffer) => {
        const write = await caseFolder();
        const file = await write('given', bytes);
        try {
          await read(file, write);
        } catch (error) {
          return (error as Error).message;
        }
        return 'no error';
      };
      const [first, ...others] = text.split('\n');
      const latin = await errorOf(Buffer.from(`${first}\n\xc4${others.join('\n')}`, 'latin1'));
      expect(latin).toMatch(/(given|a\.variables\.json) is no UTF-8 in line 2: the byte C4 stands there\./);
      expect(latin).not.toContain('secret-of');
      if (fault === undefined) return;
      const [faulty, line, said] = fault;
      const message = await errorOf(faulty);
      expect(message).toMatch(new RegExp(`/(given|a\\.variables\\.json)(,| is no \\w+ in) line ${line}: `));
      expect(message).toContain(said);
    },
  );

  it('a file that people bring is read by one reader: no other file of the program reads a text', ({
    expect,
  }) => {
    const readers = globSync('src/**/*.ts')
      .filter((file) => /\breadFile(Sync)?\(/.test(readFileSync(file, 'utf8')))
      .sort();
    expect(readers).toEqual([
      // What the system tells of a process.
      'src/cli/lost-parent.ts',
      // Files of the package itself.
      'src/graphql/schema/sdl.ts',
      'src/plugin/graph.ts',
      'src/plugins/graphiql/routes.ts',
      'src/plugins/public-pages/address-route.ts',
      'src/shared/own-version.ts',
      // The reader.
      'src/shared/text-files.ts',
    ]);
  });
});

it('standard input is read in every form, and its faults are named', async () => {
  for (const encode of Object.values(FORMS)) {
    const { stdout, code } = await runCommand(['explain', '-', '--variables', '{"code":"KE"}'], {
      input: encode(QUERY),
    });
    expect([code, stdout]).toEqual([0, expect.stringContaining('/v1/countries')]);
  }
  const { stderr, code } = await runCommand(['explain', '-'], { input: '{ countries {\n code }' });
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^Standard input is no GraphQL in line 2: .*code }\n$/),
  ]);
}, 60_000);
