import { expect, it } from 'vitest';
import { FIGURE, holdReadings, openIssuing, openFolder as openStoreFolder } from '../../issued/issuing.ts';
import { LATEST, openFolder, openRecording, row, SERIES } from './recording.ts';

const NEW = { 'x-snapshot': 'new' };
const VARIED =
  'query Some($keys: [String!]!, $latest: Boolean) { observations(countryCodes: ["KE"], metricKeys: $keys, latest: $latest, maxAge: 0) { value record } }';

type Recording = Awaited<ReturnType<typeof openRecording>>;

const tokenOf = ({ extensions }: { readonly extensions: Readonly<Record<string, unknown>> }) =>
  String(extensions.snapshot);

/** Sends an operation over HTTP, in any form. */
async function send({ url, sandbox }: Recording, init: RequestInit & { readonly search?: string }) {
  const { search = '', headers, ...rest } = init;
  const response = await fetch(url + search, {
    ...rest,
    headers: { authorization: `Bearer ${sandbox.keys.team}`, 'content-type': 'application/json', ...headers },
  });
  return { response, text: await response.text() };
}

it('a snapshot is the answer that was, for no call, after figures have been revised', async () => {
  const digits = (text: string) => JSON.rawJSON(text);
  await using program = await openRecording({ rows: [row(2020, digits('1.00000000000000000001'))] });
  const variables = { keys: ['one'], latest: false };
  const first = await program.ask(VARIED, { variables, headers: NEW });
  expect([first.upstream.calls, first.errors]).toEqual([1, []]);
  const token = tokenOf(first);
  expect(first.headers.get('x-snapshot')).toBe(token);
  program.service.revise([row(2020, 2)]);
  program.service.requests.length = 0;
  const again = await program.ask(VARIED, {
    variables: { latest: false, keys: ['one'] },
    headers: { 'x-snapshot': token },
  });
  expect([again.data, again.upstream.calls, again.extensions.snapshot]).toEqual([first.data, 0, token]);
  expect(again.headers.get('cache-control')).toBe('no-store');
  expect(program.service.requests).toEqual([]);
  const now = await program.ask(VARIED, { variables });
  expect(now.data.observations[0].value).toBe(2);
});

it('a snapshot has all digits that the answer had', async () => {
  await using program = await openRecording({ rows: [row(2020, JSON.rawJSON('1234567890.1234567890'))] });
  const body = JSON.stringify({ query: VARIED, variables: { keys: ['one'] } });
  const first = await send(program, { method: 'POST', body, headers: NEW });
  expect(first.text).toContain('1234567890.1234567890');
  const headers = { 'x-snapshot': String(first.response.headers.get('x-snapshot')) };
  const again = await send(program, { method: 'POST', body, headers });
  const dataOf = (text: string) => text.slice(0, text.lastIndexOf(',"extensions":'));
  expect(dataOf(again.text)).toBe(dataOf(first.text));
});

it('a token is for its operation, its variables and its key alone, and the errors say what to do', async () => {
  await using program = await openRecording({ rows: [row(2020, 1)] });
  const token = tokenOf(await program.ask(VARIED, { variables: { keys: ['one'] }, headers: NEW }));
  program.service.requests.length = 0;
  const refused = async (query: string, variables: object, snapshot: string, key?: string) => {
    const { data, errors, upstream, status } = await program.ask(query, {
      variables: variables as Record<string, unknown>,
      headers: { 'x-snapshot': snapshot },
      ...(key !== undefined && { key }),
    });
    expect([data, upstream.calls, status, errors[0]?.extensions.code]).toEqual([
      undefined,
      0,
      404,
      'NOT_RECORDED',
    ]);
    return errors[0]?.message;
  };
  const unknown = 'There is no such snapshot of this key';
  expect(await refused(SERIES, {}, token)).toContain('of another operation');
  expect(await refused(VARIED, { keys: ['two'] }, token)).toContain('of other variables');
  expect(await refused(VARIED, { keys: ['one'] }, 'nothing')).toContain(unknown);
  expect(await refused(VARIED, { keys: ['one'] }, token, program.sandbox.keys.free)).toContain(unknown);
  expect(program.service.requests).toEqual([]);
  const keyless = await program.ask(VARIED, { variables: { keys: ['one'] }, headers: NEW, key: null });
  expect([keyless.status, keyless.errors[0]?.extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
});

it('a snapshot expires, and a key that the service refuses gets none', async () => {
  await using program = await openRecording({
    rows: [row(2020, 1)],
    env: { JOURNAL_SNAPSHOT_DAYS: '2' },
  });
  const first = await program.ask(LATEST, { headers: NEW });
  const headers = { 'x-snapshot': tokenOf(first) };
  const day = 24 * 60 * 60;
  program.pass(day);
  // The key is proved again, by one call.
  const later = await program.ask(LATEST, { headers });
  expect([later.data, later.upstream.calls, later.upstream.byRoute]).toEqual([
    first.data,
    1,
    { '/v1/platform/etl-status': 1 },
  ]);
  program.pass(day + 1);
  expect((await program.ask(LATEST, { headers })).errors[0]?.extensions.code).toBe('NOT_RECORDED');
});

it('beyond their bound, the oldest snapshots of whoever has the most are dropped, and a longer answer is not kept', async () => {
  const unit = 'a unit of many words '.repeat(100);
  const rows = Array.from({ length: 99 }, (_, i) => row(1900 + i, i, { unit }));
  await using program = await openRecording({ rows, env: { JOURNAL_MB: '1' } });
  const { free } = program.sandbox.keys;
  const kept = (fields: string, key?: string) =>
    program.ask(`{ observations(countryCodes: ["KE"], metricKeys: ["one"]) { ${fields} } }`, {
      headers: NEW,
      ...(key !== undefined && { key }),
    });
  const others = tokenOf(await kept('unit', free));
  const tokens: string[] = [];
  for (let i = 0; i < 3; i += 1) tokens.push(tokenOf(await kept('unit year')));
  const again = async (token: string, fields: string, key?: string) => {
    const query = `{ observations(countryCodes: ["KE"], metricKeys: ["one"]) { ${fields} } }`;
    const headers = { 'x-snapshot': token };
    const { errors, upstream } = await program.ask(query, { headers, ...(key !== undefined && { key }) });
    return [errors[0]?.extensions.code, upstream.calls];
  };
  expect(await again(tokens[0] as string, 'unit year')).toEqual(['NOT_RECORDED', 0]);
  expect(await again(tokens[2] as string, 'unit year')).toEqual([undefined, 0]);
  expect(await again(others, 'unit', free)).toEqual([undefined, 0]);
  const { extensions } = await kept('a: unit b: unit c: unit');
  expect([extensions.snapshot, extensions.snapshotProblem]).toEqual([
    null,
    expect.stringMatching(/^Answers are kept up to 500000 bytes/),
  ]);
});

it('a gateway without a journal refuses whoever asks for a snapshot, and gives no figure of today', async () => {
  await using program = await openRecording({ rows: [row(2020, 1)], env: { JOURNAL_FILE: '' } });
  for (const wanted of ['new', 'a-token']) {
    const { data, errors, upstream } = await program.ask(LATEST, { headers: { 'x-snapshot': wanted } });
    expect([data, errors[0]?.extensions.code, upstream.calls]).toEqual([undefined, 'NOT_RECORDED', 0]);
    expect(errors[0]?.message).toContain('JOURNAL_FILE');
  }
  expect(program.service.requests).toEqual([]);
});

it('an answer with errors is not kept, and the answer says so', async () => {
  await using program = await openRecording({ rows: [row(2020, 1)] });
  const { data, extensions, headers } = await program.ask(
    '{ country(code: "KE") { observation(metricKey: "one") { value } observations(metricKeys: ["a b"]) { value } } }',
    { headers: NEW },
  );
  expect(data.country.observation).toEqual({ value: 1 });
  expect(extensions).toMatchObject({ snapshot: null, snapshotProblem: 'An answer with errors is not kept.' });
  expect(headers.get('x-snapshot')).toBeNull();
});

it('a snapshot is one for tables, addresses, hashes and answers in parts, and each operation of a batch has its own', async () => {
  await using program = await openRecording({ rows: [row(2020, 1), row(2021, 5)] });
  const query = 'query Q { observations(countryCodes: ["KE"], metricKeys: ["one"]) { year value } }';
  const json = await send(program, { method: 'POST', body: JSON.stringify({ query }), headers: NEW });
  const token = String(json.response.headers.get('x-snapshot'));
  program.service.revise([row(2020, 2)]);
  program.pass(400);
  await program.ask('{ sources { key } }');
  program.service.requests.length = 0;
  const headers = { 'x-snapshot': token };
  const table = await send(program, {
    method: 'POST',
    body: JSON.stringify({ query }),
    headers: { ...headers, accept: 'text/csv' },
  });
  expect(table.text.split('\r\n').slice(1, 3)).toEqual(['2020,1', '2021,5']);
  expect(JSON.parse(String(table.response.headers.get('x-upstream-bill')))).toMatchObject({ calls: 0 });
  const address = await send(program, { search: `?${new URLSearchParams({ query })}`, headers });
  const parts = await send(program, {
    method: 'POST',
    body: JSON.stringify({ query }),
    headers: { ...headers, accept: 'multipart/mixed; deferSpec=20220824, application/json' },
  });
  const { data } = JSON.parse(json.text);
  for (const { text } of [address, parts]) expect(JSON.parse(text).data).toEqual(data);
  const batch = await send(program, {
    method: 'POST',
    body: JSON.stringify([{ query }, { query: '{ sources { key } }' }]),
    headers: NEW,
  });
  const tokens = JSON.parse(batch.text).map(tokenOf);
  expect([new Set(tokens).size, batch.response.headers.get('x-snapshot')]).toEqual([2, null]);
  const one = await program.ask(query, { headers: { 'x-snapshot': tokens[0] } });
  expect([one.data, one.upstream.calls]).toEqual([JSON.parse(batch.text)[0].data, 0]);
});

it('a client whose answers come in parts gets a snapshot whole', async () => {
  await using program = await openRecording({ rows: [row(2020, 1)] });
  const query = '{ countries { code ... @defer { observation(metricKey: "one") { value } } } }';
  const accept = 'multipart/mixed; deferSpec=20220824, application/json';
  const { response, text } = await send(program, {
    method: 'POST',
    body: JSON.stringify({ query }),
    headers: { ...NEW, accept },
  });
  expect(response.headers.get('content-type')).toContain('application/json');
  expect(JSON.parse(text).data.countries[0]).toEqual({ code: 'KE', observation: { value: 1 } });
});

it('a snapshot of an issued key is for that key, as long as it may read what is in it', async () => {
  const passMs = holdReadings();
  using folder = openFolder();
  using stored = openStoreFolder();
  await using issuing = await openIssuing({
    cacheUrl: stored.cacheUrl,
    env: { JOURNAL_FILE: folder.file },
  });
  const [one, other] = [await issuing.issue({ name: 'one' }), await issuing.issue({ name: 'other' })];
  const first = await issuing.ask(FIGURE, { key: one, headers: NEW });
  const headers = { 'x-snapshot': tokenOf(first) };
  const again = await issuing.ask(FIGURE, { key: one, headers });
  expect([again.data, again.errors]).toEqual([first.data, []]);
  expect(await issuing.codes(FIGURE, { key: other, headers })).toEqual(['NOT_RECORDED']);
  await issuing.desk.revoke('one');
  passMs(2_000);
  issuing.requests();
  await expect.poll(() => issuing.codes(FIGURE, { key: one, headers })).toEqual(['UNAUTHENTICATED']);
  const poorer = await issuing.issue({ name: 'one', tags: ['markets'] });
  expect(await issuing.codes(FIGURE, { key: poorer, headers })).toEqual(['DOCUMENT_NOT_ALLOWED']);
  expect(issuing.requests()).toEqual([]);
});
