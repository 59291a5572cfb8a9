import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DOCUMENTS, openPublishing } from './publishing.ts';

const LIFE = `query Life($codes: [CountryCode!] = ["KE", "NG"], $from: Int = 2000) {
  observations(countryCodes: $codes, metricKeys: ["life_expectancy"], fromYear: $from) { value }
}`;

const OFFICES = 'query Offices { countries(codes: ["KE"]) { offices { name } } }';

type Publishing = Awaited<ReturnType<typeof openPublishing>>;

/** A gateway where the key `editor` may publish, and `reader` may not. */
async function openEditing(env: Readonly<Record<string, string>> = {}) {
  const program = await openPublishing({
    env: { TRUSTED_DOCUMENTS_FOR: 'issued', PUBLISHERS: 'editor, press', MAX_UPSTREAM_CALLS: '20', ...env },
  });
  const editor = await program.issue({ name: 'editor' });
  await program.issue({ name: 'pages' });
  const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    sent(program, method, path, body, { authorization: `Bearer ${editor}`, ...headers });
  return Object.assign(program, {
    editor,
    send,
    publish: (body: object, headers?: Record<string, string>) =>
      send('POST', '/c', { name: 'life', query: LIFE, ...body }, headers),
  });
}

async function sent(
  program: Publishing,
  method: string,
  path: string,
  body: object | undefined,
  headers: Readonly<Record<string, string>>,
) {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const reply = await program.at(path, {
    method,
    headers: { ...type, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: as tests look into answers elsewhere
  const answer = (await reply.json()) as any;
  return { status: reply.status, answer, code: answer.errors?.[0]?.extensions.code, headers: reply.headers };
}

const pageOf = async (program: Publishing, path: string) => (await program.at(path)).text();

describe('publishing from a browser', () => {
  it('publishing from a browser makes a page at once, priced and with its words, at no call', async () => {
    await using program = await openEditing();
    const words = {
      title: 'Lives since $from',
      note: 'By <b>our</b> desk.',
      theme: 'dark',
      picture: { kind: 'ranking', year: 2010 },
    };
    const { status, answer } = await program.publish(words);
    expect([status, answer]).toEqual([
      201,
      {
        name: 'life',
        title: 'Lives since 2000',
        price: 'It takes 1 call to the service, and none while its figures are cached.',
      },
    ]);
    expect(program.requests()).toEqual([]);
    const page = await pageOf(program, '/c/life');
    expect(page).toContain('<h1>Lives since 2000</h1>');
    expect(page).toContain('<p>By &lt;b&gt;our&lt;/b&gt; desk.</p>');
    expect(page).toContain('<html lang="en" data-theme="dark">');
    expect(page).toContain('2010');
    // A picture that stands for itself has the note, and one beside which it stands has not.
    expect(await pageOf(program, '/c/life.svg')).toContain('>By &lt;b&gt;our&lt;/b&gt; desk.</text>');
    expect(await pageOf(program, '/c/life.svg?bare=1')).not.toContain('desk');
    expect(program.requests()).toHaveLength(1);
    expect(program.problems).toEqual([]);
  });

  it('publishing from a browser changes nothing of what a page may do', async () => {
    await using program = await openEditing();
    await program.publish({ note: '</p><script>alert(1)</script>', title: '"><img src=x onerror=alert(1)>' });
    await program.issue({ name: 'page' });
    const [own, operators] = await Promise.all(['/c/life', '/c/lines'].map((path) => program.at(path)));
    const policy = 'content-security-policy';
    expect(own?.headers.get(policy)).toBe(operators?.headers.get(policy));
    const text = (await own?.text()) ?? '';
    // Beside its script, the data block of its sources.
    expect(text.match(/<script/g)).toHaveLength(2);
    expect(text).not.toContain('<img src=x');
  });

  it('publishing from a browser is listed, and taken back by whoever has published', async () => {
    await using program = await openEditing();
    await program.publish({ title: 'Lives' });
    const press = { authorization: `Bearer ${await program.issue({ name: 'press' })}` };
    expect((await program.send('GET', '/c')).answer).toEqual({ pages: [{ name: 'life', title: 'Lives' }] });
    expect((await program.send('GET', '/c', undefined, press)).answer).toEqual({ pages: [] });
    const ofOther = await program.send('DELETE', '/c/life', undefined, press);
    expect([ofOther.status, ofOther.code]).toEqual([404, 'BAD_USER_INPUT']);
    expect((await program.at('/c/life.json')).status).toBe(200);
    // The operator's own is nobody's here.
    expect((await program.send('DELETE', '/c/lines')).status).toBe(404);
    expect((await program.send('DELETE', '/c/life')).status).toBe(200);
    expect((await program.at('/c/life.json')).status).toBe(404);
    expect((await program.send('GET', '/c')).answer).toEqual({ pages: [] });
  });

  it('publishing from a browser six times at once loses nothing, and gives a name once', async () => {
    await using program = await openEditing();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const replies = await Promise.all(names.map((name) => program.publish({ name })));
    expect(replies.map(({ status }) => status)).toEqual(names.map(() => 201));
    const pages = await Promise.all(names.map((name) => program.at(`/c/${name}`)));
    expect(pages.map(({ status }) => status)).toEqual(names.map(() => 200));
    const same = await Promise.all(names.map(() => program.publish({ name: 'same' })));
    expect(same.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const taken = await program.publish({ name: 'lines' });
    expect([taken.status, taken.code, taken.answer.errors[0].message]).toEqual([
      409,
      'BAD_USER_INPUT',
      'The name lines is taken: choose another.',
    ]);
    expect(readdirSync(dirname(program.published)).filter((name) => name.endsWith('.lock'))).toEqual([]);
  });

  it.for([
    ['a stranger', { authorization: '' }, 401, 'UNAUTHENTICATED'],
    ['an unknown key', { authorization: 'Bearer cgk_0000000000000000000000000000' }, 401, 'UNAUTHENTICATED'],
    ['a key of the service', { authorization: 'Bearer demo-team' }, 403, 'FORBIDDEN'],
    ['a page of another origin', { origin: 'https://evil.example' }, 403, 'ORIGIN_NOT_ALLOWED'],
    ['a page of another origin', { 'sec-fetch-site': 'cross-site' }, 403, 'ORIGIN_NOT_ALLOWED'],
    ['a page of another origin', { 'sec-fetch-site': 'same-site' }, 403, 'ORIGIN_NOT_ALLOWED'],
    ['a form', { 'content-type': 'text/plain' }, 415, 'BAD_REQUEST'],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'BAD_REQUEST'],
  ] as const)('publishing from a browser is refused to %s: %o', async ([, headers, status, code]) => {
    await using program = await openEditing({ CORS_ORIGINS: '*' });
    for (const [method, path, body] of [
      ['POST', '/c', { name: 'life', query: LIFE }],
      ['DELETE', '/c/life', undefined],
      ['GET', '/c', undefined],
    ] as const) {
      if (status === 415 && method !== 'POST') continue;
      const reply = await program.send(method, path, body, headers);
      expect([reply.status, reply.code, reply.headers.get('cache-control')]).toEqual([
        status,
        code,
        'no-store',
      ]);
    }
    expect(readFileSync(program.published, 'utf8')).not.toContain('life');
    expect(program.requests()).toEqual([]);
  });

  it('publishing from a browser is refused to keys without that right, that have ended, or of another site', async () => {
    await using program = await openEditing();
    const by = async (terms: object) => ({ authorization: `Bearer ${await program.issue(terms)}` });
    expect((await program.publish({}, await by({ name: 'reader' }))).code).toBe('FORBIDDEN');
    const press = await by({ name: 'press', origins: ['https://desk.example'] });
    expect((await program.publish({}, press)).code).toBe('ORIGIN_NOT_ALLOWED');
    await program.desk.revoke('press');
    const brief = await by({ name: 'press', expiresAt: '2026-03-11T00:00:00Z' });
    expect((await program.publish({ name: 'brief' }, brief)).status).toBe(201);
    program.pass(24 * 60 * 60 * 1000);
    const late = await program.publish({ name: 'late' }, brief);
    expect([late.status, late.code]).toEqual([401, 'KEY_EXPIRED']);
    await program.desk.revoke('editor');
    expect((await program.at('/c/brief.json')).status).toBe(200);
    expect((await program.at('/c/late.json')).status).toBe(404);
  });

  it.for([
    [{ name: '<b>' }, 'name: must be up to 64 letters'],
    [{ name: '../x' }, 'name: must be up to 64 letters'],
    [{ query: '{ a' }, 'Syntax Error'],
    [{ query: '{ nothing }' }, 'Cannot query field "nothing"'],
    [{ query: 'subscription { sourceRefreshed { key } }' }, 'A page is made of one query'],
    [{ query: 'query A { health { status } } query B { health { status } }' }, 'A page is made of one query'],
    [
      { query: 'query A($theme: String!) { source(key: $theme) { key } }' },
      '$theme has the name of a parameter',
    ],
    [{ title: 'Since $until' }, 'its title names $until'],
    [{ picture: { kind: 'pie' } }, 'picture.kind: '],
    [{ key: 'other' }, 'Unrecognized key'],
    [{ by: 'press' }, 'Unrecognized key'],
    [{ query: 'query A { countries { offices { name } } }' }, 'MAX_UPSTREAM_CALLS'],
  ] as const)(
    'publishing from a browser refuses in words what no page can show: %j',
    async ([body, words]) => {
      await using program = await openEditing();
      const { status, code, answer } = await program.publish(body);
      expect([status, code]).toEqual([400, 'BAD_USER_INPUT']);
      expect(answer.errors[0].message).toContain(words);
      expect(program.requests()).toEqual([]);
    },
  );

  it('publishing from a browser shows nothing that its key or the key of pages may not read', async () => {
    await using program = await openEditing();
    const press = { authorization: `Bearer ${await program.issue({ name: 'press', tags: ['figures'] })}` };
    const refused = await program.publish({ query: OFFICES }, press);
    expect([refused.status, refused.code]).toEqual([403, 'DOCUMENT_NOT_ALLOWED']);
    expect((await program.publish({ query: OFFICES })).status).toBe(201);
  });

  it('publishing from a browser takes no other page its query by the name of the new one', async () => {
    await using program = await openEditing();
    await program.issue({ name: 'page' });
    const lines = LIFE.replace('query Life', 'query Lines');
    const { status, answer } = await program.publish({ query: lines });
    expect([status, answer.errors[0].message]).toEqual([
      409,
      'The page lines has its query by the name Lines: give this query another name.',
    ]);
    expect((await program.publish({ name: 'again', query: DOCUMENTS.lines })).status).toBe(201);
    const pages = await Promise.all(['lines', 'again'].map((name) => program.at(`/c/${name}.json`)));
    expect(pages.map(({ status }) => status)).toEqual([200, 200]);
    expect(program.requests()).toHaveLength(1);
  });

  it('publishing from a browser needs the key that pages run under', async () => {
    await using program = await openPublishing({
      env: { TRUSTED_DOCUMENTS_FOR: 'issued', PUBLISHERS: 'editor' },
    });
    const headers = { authorization: `Bearer ${await program.issue({ name: 'editor' })}` };
    const { status, answer } = await sent(program, 'POST', '/c', { name: 'life', query: LIFE }, headers);
    expect([status, answer.errors[0].message]).toEqual([
      400,
      'Pages run under the issued key pages, and there is none: the operator has to create it.',
    ]);
  });

  it('publishing from a browser adds no document where only trusted ones may run', async () => {
    await using program = await openEditing({ TRUSTED_DOCUMENTS_FOR: 'all' });
    const other = await program.publish({});
    expect([other.status, other.code]).toEqual([403, 'DOCUMENT_NOT_ALLOWED']);
    expect((await program.publish({ query: DOCUMENTS.kept })).status).toBe(201);
  });

  it('publishing from a browser that the file does not take leaves it as it was', async () => {
    await using program = await openEditing();
    const damaged = '{ "lines": ';
    writeFileSync(program.published, damaged);
    const { status, code } = await program.publish({});
    expect([status, code]).toEqual([500, 'INTERNAL_SERVER_ERROR']);
    expect(readFileSync(program.published, 'utf8')).toBe(damaged);
    expect(program.problems.map(String).join()).toContain('is no JSON');
  });

  it('publishing from a browser is off unless the operator names who may', async () => {
    await using program = await openPublishing();
    const key = await program.issue({ name: 'editor' });
    const { status } = await sent(
      program,
      'POST',
      '/c',
      { name: 'life', query: LIFE },
      {
        authorization: `Bearer ${key}`,
      },
    );
    expect(status).toBe(404);
    const settings = await (await program.at('/graphiql/settings.json')).json();
    expect(settings).toMatchObject({ canPublish: false });
  });
});
