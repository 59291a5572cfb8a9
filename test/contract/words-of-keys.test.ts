import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openFolder, openIssuing } from '../issued/issuing.ts';
import { openFixedService } from '../support/fixed-service.ts';
import { SENT_ROW } from '../support/sent-row.ts';

/** The key that the gateway holds, with all that is written otherwise somewhere. */
const HELD = 'sk/live+Zr8Qw=2b_Xy.74-Lm~0p';

const percent = (text: string) => encodeURIComponent(text);
const everyPercent = (text: string) => Buffer.from(text).toString('hex').replace(/../g, '%$&');
const html = (text: string) => text.replace(/[/+=]/g, (character) => `&#${character.charCodeAt(0)};`);
const hexHtml = (text: string) =>
  text.replace(/./g, (character) => `&#x${character.charCodeAt(0).toString(16)};`);
const unicode = (text: string) =>
  text.replace(/./g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);

/** Bodies of errors that tell the key, as they stand on the wire. */
const BODIES: Readonly<Record<string, string>> = {
  plain: `{"detail":"bad key ${HELD}"}`,
  'with escaped slashes': `{"detail":"bad key ${HELD.replaceAll('/', '\\/')}"}`,
  'with escapes of JSON': `{"detail":"bad key ${unicode(HELD)}"}`,
  'in a JSON within the JSON': JSON.stringify({ detail: `{"key":"${unicode(HELD)}"}` }),
  'with escapes of addresses': `{"detail":"bad key ${percent(HELD)}"}`,
  'with all of it escaped so': `{"detail":"bad key ${everyPercent(HELD)}"}`,
  'with these escaped twice': `{"detail":"bad key ${percent(percent(HELD))}"}`,
  'with names of HTML': `{"detail":"bad key ${HELD.replace('/', '&sol;').replace('+', '&plus;').replace('=', '&equals;')}"}`,
  'with numbers of HTML': `{"detail":"bad key ${html(HELD)}"}`,
  'with all of it in HTML': `{"detail":"bad key ${hexHtml(HELD)}"}`,
  'with HTML in HTML': `{"detail":"bad key ${html(HELD).replaceAll('&', '&amp;')}"}`,
  'in upper case': `{"detail":"bad key ${HELD.toUpperCase()}"}`,
  'broken over lines': `{"detail":"bad key ${HELD.slice(0, 7)}\\n  ${HELD.slice(7, 14)}\\u200b${HELD.slice(14)}"}`,
  'cut in the middle': `{"detail":"bad key ${HELD.slice(0, 14)}…"}`,
  'without its beginning': `{"detail":"bad key …${HELD.slice(10)}"}`,
  'at the end of very many words': JSON.stringify({ detail: `${'x'.repeat(19_985)}${HELD}` }),
  'in a list of faults': JSON.stringify({ detail: [{ loc: ['header', percent(HELD)], msg: html(HELD) }] }),
  'in members that nobody knows': JSON.stringify({
    detail: 'bad key',
    key: HELD,
    debug: { headers: [HELD] },
  }),
};

/** A service that refuses everything by one body. */
async function openRefusing(refusal: { readonly status: number; readonly body: string }) {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.writeHead(refusal.status, { 'content-type': 'application/json' }).end(refusal.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

const QUERIES = [
  '{ country(code: "KE") { observation(metricKey: "population_total") { value } profile { record } offices { id } } }',
  '{ indicators { key } sources { key } tickers { symbol } }',
];

/** Runs of six characters of the key, without regard to case: none may be told, however much of it is escaped. */
function piecesIn(text: string): string[] {
  const found = new Set<string>();
  const all = text.toLowerCase();
  for (let at = 0; at + 6 <= HELD.length; at += 1) {
    const piece = HELD.slice(at, at + 6).toLowerCase();
    const written = [
      piece,
      percent(piece),
      percent(percent(piece)),
      everyPercent(piece),
      html(piece),
      hexHtml(piece),
      unicode(piece),
    ];
    for (const one of written) if (all.includes(one.toLowerCase())) found.add(one);
  }
  return [...found];
}

describe('the held key in the words of the service', () => {
  it.each(Object.entries(BODIES))(
    'the held key in the words of the service is told to nobody: %s',
    async (_, body) => {
      for (const status of [200, 400, 404, 500]) {
        using folder = openFolder();
        await using service = await openRefusing({ status, body });
        await using program = await openIssuing({
          ...folder,
          upstreamUrl: service.url,
          env: { COUNTRY_DATA_KEY: HELD, UPSTREAM_RETRIES: '0' },
        });
        const key = await program.issue({ name: 'page' });
        const told: unknown[] = [];
        for (const query of QUERIES) told.push(await program.ask(query, { key }));
        expect(service.requests()).toBeGreaterThan(0);
        told.push(program.operations, program.problems.map(String));
        told.push(await (await fetch(program.url.replace('graphql', 'metrics'))).text());
        // Once as texts are in JSON, and once as they are.
        const all = JSON.stringify(told);
        expect([status, piecesIn(all), piecesIn(all.replaceAll('\\\\', '\\'))]).toEqual([status, [], []]);
      }
    },
  );

  it('the words of the service that hold the key are withheld, and the error says which it is', async () => {
    using folder = openFolder();
    await using service = await openRefusing({
      status: 400,
      body: BODIES['with escapes of addresses'] ?? '',
    });
    await using program = await openIssuing({
      ...folder,
      upstreamUrl: service.url,
      env: { COUNTRY_DATA_KEY: HELD },
    });
    const { errors } = await program.ask('{ indicators { key } }', {
      key: await program.issue({ name: 'page' }),
    });
    expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', detail: '[redacted]' });
    expect(service.requests()).toBe(1);
  });

  it('a row that repeats the held key comes without it, whoever asks', async () => {
    using folder = openFolder();
    const national = { ...SENT_ROW, location_name: null };
    const links = { self: `https://service.example/v1/data?api_key=${percent(HELD)}&page=1` };
    await using service = await openFixedService({
      rows: [{ ...national, trace: `asked by ${HELD}.`, [HELD]: 1, links }],
    });
    const env = { COUNTRY_DATA_KEY: HELD };
    await using program = await openIssuing({ ...folder, upstreamUrl: service.url, env });
    for (const key of [await program.issue({ name: 'page' }), HELD]) {
      const query = '{ country(code: "KE") { observation(metricKey: "population_total") { value record } } }';
      const { data, errors } = await program.ask(query, { key });
      expect(errors).toEqual([]);
      expect(data.country.observation).toEqual({
        value: SENT_ROW.value,
        record: {
          ...national,
          trace: 'asked by [redacted].',
          '[redacted]': 1,
          links: { self: 'https://service.example/v1/data?api_key=[redacted]&page=1' },
        },
      });
    }
  });
});
