import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/config.ts';
import { sha256Of } from '../../src/graphql/request/persisted.ts';
import { openProgram } from '../support/program.ts';
import { open, type Received, type Sent } from './exchange.ts';

const folder = mkdtempSync(join(tmpdir(), 'country-graph-'));
afterAll(() => rmSync(folder, { recursive: true }));

const FIGURE =
  'query Figure { country(code: "KE") { observation(metricKey: "population_total") { value } } }';
const OTHER = 'query Other { country(code: "NG") { profile { record } } }';

const byHash = (sha256Hash: string, query?: string): Sent['body'] => ({
  ...(query === undefined ? {} : { query }),
  extensions: { persistedQuery: { version: 1, sha256Hash } },
});
const HASH = sha256Of(FIGURE);
const codesOf = ({ text }: Received) =>
  (JSON.parse(text).errors ?? []).map(({ extensions }: { extensions: { code: string } }) => extensions.code);
const figureIn = ({ text }: Received) => JSON.parse(text).data?.country?.observation?.value;

/** The ways to name an operation by its hash. */
const NAMED: Readonly<Record<string, Sent>> = {
  'a hash by POST': { body: byHash(HASH) },
  'a hash by GET': { method: 'GET', body: byHash(HASH) },
  'documentId by POST': { body: { documentId: HASH } },
  'documentId by GET': { method: 'GET', body: { documentId: HASH } },
  'doc_id by POST, as Relay 21 documents it': { body: { doc_id: HASH } },
  'doc_id by GET': { method: 'GET', body: { doc_id: HASH } },
  'id by POST, as of Relay beside a text that is null': { body: { id: HASH, query: null } },
  'id by GET': { method: 'GET', body: { id: HASH } },
  'documentId with the name of its digest by POST': { body: { documentId: `sha256:${HASH}` } },
  'documentId with the name of its digest by GET': { method: 'GET', body: { documentId: `sha256:${HASH}` } },
};

// Each opens a program of its own, and one waits for looks at files: they run beside each other.
describe.concurrent('an operation that a client has had kept', () => {
  it.for(Object.entries(NAMED))('an operation that a client has had kept runs by %s', async ([, named]) => {
    await using program = await open();
    expect(codesOf(await program.send(named))).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
    expect(program.requests()).toEqual([]);
    const kept = await program.send({ body: byHash(HASH, FIGURE) });
    expect(figureIn(kept)).toBeGreaterThan(0);
    expect(program.requests()).toHaveLength(1);
    for (let i = 0; i < 3; i += 1) {
      const reply = await program.send(named);
      expect([reply.status, figureIn(reply)]).toEqual([200, figureIn(kept)]);
      expect(JSON.parse(reply.text).extensions.upstream).toMatchObject({ calls: 0, cached: 1 });
    }
    expect(program.repeats()).toEqual([false, false, false, true, true]);
    expect(program.requests()).toEqual([]);
  });

  it('an operation that a client has had kept is the same question as its text, and takes variables', async () => {
    await using program = await open();
    const query =
      'query Of($code: CountryCode!) { country(code: $code) { observation(metricKey: "population_total") { value } } }';
    const hash = sha256Of(query);
    await program.send({ body: { ...byHash(hash, query), variables: { code: 'KE' } } });
    for (let i = 0; i < 2; i += 1) await program.send({ body: { query, variables: { code: 'KE' } } });
    program.repeats();
    const [named, other] = [
      await program.send({ body: { documentId: hash, variables: { code: 'KE' } } }),
      await program.send({ method: 'GET', body: { ...byHash(hash), variables: { code: 'NG' } } }),
    ];
    expect(program.repeats()).toEqual([true, false]);
    expect(figureIn(other)).not.toBe(figureIn(named));
    expect(program.requests()).toHaveLength(2);
  });

  it('an operation that a client has had kept can be kept by GET', async () => {
    await using program = await open();
    expect((await program.send({ method: 'GET', body: byHash(HASH, FIGURE) })).status).toBe(200);
    expect(figureIn(await program.send({ body: { documentId: HASH } }))).toBeGreaterThan(0);
    expect(program.requests()).toHaveLength(1);
  });

  it('an operation that a client has had kept is kept under its own hash alone', async () => {
    await using program = await open();
    for (const method of ['POST', 'GET'] as const) {
      const wrong = await program.send({ method, body: byHash(HASH, OTHER) });
      expect(wrong.text).toContain('provided sha does not match query');
      expect(codesOf(wrong)).toEqual(['BAD_REQUEST']);
      expect(codesOf(await program.send({ method, body: byHash(HASH) }))).toEqual([
        'PERSISTED_QUERY_NOT_FOUND',
      ]);
    }
    // Refuses it once the right text is known, too.
    await program.send({ body: byHash(HASH, FIGURE) });
    program.requests();
    const wrong = await program.send({ body: byHash(HASH, OTHER) });
    expect(wrong.text).toContain('provided sha does not match query');
    expect(codesOf(await program.send({ body: { documentId: `md5:${HASH}` } }))).toHaveLength(1);
    const version = { extensions: { persistedQuery: { version: 2, sha256Hash: HASH } } };
    const unsupported = await program.send({ body: version });
    expect(unsupported.text).toContain('Unsupported persisted query version');
    expect(codesOf(unsupported)).toEqual(['BAD_REQUEST']);
    expect(program.requests()).toEqual([]);
    expect(program.problems).toEqual([]);
  });

  it('an operation that a client has had kept is not kept where it is none', async () => {
    await using program = await open();
    const text = '{ nothing }';
    for (let i = 0; i < 2; i += 1) {
      expect(codesOf(await program.send({ body: byHash(sha256Of(text), text) }))).toEqual([
        'GRAPHQL_VALIDATION_FAILED',
      ]);
      expect(codesOf(await program.send({ body: { documentId: sha256Of(text) } }))).toHaveLength(1);
    }
    expect(program.requests()).toEqual([]);
  });
});

const MANIFESTS: Readonly<Record<string, unknown>> = {
  'as code generators write it': { [HASH]: FIGURE },
  'with the name of the digest': { [`sha256:${HASH}`]: FIGURE },
  'as Apollo writes it': {
    format: 'apollo-persisted-query-manifest',
    version: 1,
    operations: [{ id: HASH, name: 'Figure', type: 'query', body: FIGURE }],
  },
};

let files = 0;
function file(text: string): string {
  const path = join(folder, `${files++}.json`);
  writeFileSync(path, text);
  return path;
}

/** A folder of files; those without an ending are `.json`. */
function manifests(texts: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(folder, 'manifests-'));
  for (const [name, text] of Object.entries(texts)) {
    writeFileSync(join(path, name.includes('.') ? name : `${name}.json`), text);
  }
  return path;
}

describe.concurrent.for(Object.entries(MANIFESTS))('with TRUSTED_DOCUMENTS %s', ([, manifest]) => {
  const env = { TRUSTED_DOCUMENTS: file(JSON.stringify(manifest)) };

  it.for([
    ...Object.entries(NAMED),
    ['its text by POST', { body: { query: FIGURE } }],
    ['its text by GET', { method: 'GET', body: { query: FIGURE } }],
    ['its text and its hash', { body: byHash(HASH, FIGURE) }],
  ] as const)('with TRUSTED_DOCUMENTS, what is listed runs by %s', async ([, named]) => {
    await using program = await open({ env });
    for (let i = 0; i < 3; i += 1) {
      const reply = await program.send(named);
      expect([reply.status, codesOf(reply)]).toEqual([200, []]);
      expect(figureIn(reply)).toBeGreaterThan(0);
    }
    expect(program.requests()).toHaveLength(1);
  });

  it.for([
    ['its text by POST', { body: { query: OTHER } }],
    ['its text by GET', { method: 'GET', body: { query: OTHER } }],
    ['text that differs by a blank', { body: { query: `${FIGURE} ` } }],
    ['its hash', { body: byHash(sha256Of(OTHER)) }],
    ['documentId', { method: 'GET', body: { documentId: sha256Of(OTHER) } }],
    ['its text with its hash', { body: byHash(sha256Of(OTHER), OTHER) }],
    ['its text with the hash of what is listed', { body: byHash(HASH, OTHER) }],
    ['its text beside a documentId that is listed', { body: { query: OTHER, documentId: HASH } }],
    ['its text with its hash by GET', { method: 'GET', body: byHash(sha256Of(OTHER), OTHER) }],
    ['its text for the plan alone', { body: { query: OTHER }, headers: { 'x-explain': '1' } }],
  ] as const)(
    'with TRUSTED_DOCUMENTS, what is not listed is refused without a call: %s',
    async ([, asked]) => {
      await using program = await open({ env });
      for (let i = 0; i < 3; i += 1) await program.send({ body: { query: FIGURE } });
      program.requests();
      for (let i = 0; i < 3; i += 1) {
        const reply = await program.send(asked as Sent);
        // A name alone may be asked for again with its text.
        const isText = 'query' in asked.body;
        expect(codesOf(reply)).toEqual([isText ? 'DOCUMENT_NOT_ALLOWED' : 'PERSISTED_QUERY_NOT_FOUND']);
        if (isText) expect(reply.text).toContain('TRUSTED_DOCUMENTS');
        expect(JSON.parse(reply.text).extensions.upstream.calls).toBe(0);
        expect(JSON.parse(reply.text).data ?? null).toBeNull();
        expect(reply.headers.etag).toBeUndefined();
      }
      expect(program.requests()).toEqual([]);
    },
  );
});

it.concurrent.for([
  ['any', {}, false, []],
  [
    'those of a list alone',
    { TRUSTED_DOCUMENTS: file(JSON.stringify({ [HASH]: FIGURE })) },
    true,
    [{ id: HASH, text: FIGURE }],
  ],
] as const)('GraphiQL is told which operations may run: %s', async ([, env, isTrustedOnly, documents]) => {
  await using program = await openProgram({ env });
  const told = async (name: string) => (await fetch(new URL(`/graphiql/${name}.json`, program.url))).json();
  expect(await told('settings')).toMatchObject({ isTrustedOnly });
  expect(await told('documents')).toEqual(documents);
});

describe.concurrent('names of other kinds', () => {
  it.for(['figure', 'app:figure', 'md5:0123'])(
    'names of other kinds such as %s name what is listed',
    async (id) => {
      const env = { TRUSTED_DOCUMENTS: file(JSON.stringify({ [id]: FIGURE })) };
      await using program = await open({ env });
      for (let i = 0; i < 3; i += 1) {
        expect(figureIn(await program.send({ body: { documentId: id } }))).toBeGreaterThan(0);
        expect(figureIn(await program.send({ body: byHash(id) }))).toBeGreaterThan(0);
      }
      expect(codesOf(await program.send({ body: { documentId: HASH } }))).toHaveLength(1);
      expect(program.requests()).toHaveLength(1);
    },
  );
});

describe.concurrent('a folder of TRUSTED_DOCUMENTS', () => {
  it('a folder of TRUSTED_DOCUMENTS holds manifests of several kinds, and is read again when one changes, comes or goes', async ({
    expect,
  }) => {
    const OTHER = 'query Other { platformVersion { version } }';
    const apollo = JSON.stringify({ operations: [{ id: 'other', body: OTHER }] });
    const path = manifests({ codegen: JSON.stringify({ [HASH]: FIGURE }), 'readme.txt': 'no manifest' });
    await using program = await open({ env: { TRUSTED_DOCUMENTS: path } });
    const isThere = async (documentId: string) => {
      const reply = await program.send({ body: { documentId } });
      return codesOf(reply).length === 0;
    };
    expect([await isThere(HASH), await isThere('other')]).toEqual([true, false]);
    writeFileSync(join(path, 'apollo.json'), apollo);
    await expect.poll(() => isThere('other')).toBe(true);
    expect(await isThere(HASH)).toBe(true);
    writeFileSync(join(path, 'codegen.json'), '{ half written');
    await expect.poll(() => program.problems.length).toBe(1);
    expect(String(program.problems[0])).toContain('codegen.json is no JSON in line 1: ');
    expect([await isThere(HASH), await isThere('other')]).toEqual([true, true]);
    rmSync(join(path, 'codegen.json'));
    await expect.poll(() => isThere(HASH)).toBe(false);
    const text = await program.send({ body: { query: FIGURE } });
    expect(codesOf(text)).toHaveLength(1);
    expect(await isThere('other')).toBe(true);
  });
});

describe.concurrent('a file of TRUSTED_DOCUMENTS', () => {
  const FAULTY: Readonly<Record<string, string>> = {
    'that is not there': join(folder, 'nowhere.json'),
    'that is a folder without any': mkdtempSync(join(folder, 'empty-')),
    'that is in a folder, and says otherwise than another': manifests({
      a: '{"x": "{ a }"}',
      b: '{"x": "{ b }"}',
    }),
    'that is no JSON': file('{'),
    'that is a list': file('["query { health { status } }"]'),
    'that holds numbers': file('{"a": 1}'),
    'that holds an empty text': file('{"a": ""}'),
    'of Apollo, without texts': file('{"operations": [{"id": "a"}]}'),
  };

  it.for(Object.entries(FAULTY))(
    'a file of TRUSTED_DOCUMENTS is a fault of the settings: %s',
    async ([, path]) => {
      const opening = openProgram({ env: { TRUSTED_DOCUMENTS: path } });
      await expect(opening).rejects.toThrow(ConfigError);
      await expect(opening).rejects.toThrow(/^TRUSTED_DOCUMENTS: /);
      await expect(opening).rejects.toThrow(path);
    },
  );

  it('a file of TRUSTED_DOCUMENTS that is not there ends the program with 2, in a line', async () => {
    const child = spawn(process.execPath, ['bin/country-graph.cjs', 'serve'], {
      env: { PATH: process.env.PATH, PORT: '0', TRUSTED_DOCUMENTS: FAULTY['that is not there'] },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect(code).toBe(2);
    expect(said).toMatch(/^TRUSTED_DOCUMENTS: .*nowhere\.json.*\n$/);
  });
});
