import { describe, expect, it } from 'vitest';
import { DOCUMENTS, openPublishing } from './publishing.ts';

const NAME = 'Office for Données & <Figures>';
const URL_OF_IT = 'https://data.example/about';
const ESCAPED = 'Office for Données &amp; &lt;Figures&gt;';
const IN_HEADER = JSON.stringify({ name: NAME, url: URL_OF_IT }).replace('é', '\\u00e9');
const SETTINGS = { ATTRIBUTION_NAME: NAME, ATTRIBUTION_URL: URL_OF_IT };

const CITED = 'observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true)';
const OTHER_DOCUMENTS = {
  text: `query Text { ${CITED} { citation } }`,
  bibtex: `query Bibtex { ${CITED} { citation(style: BIBTEX) } }`,
  codes: 'query Codes { countries { code } }',
};

type Program = Awaited<ReturnType<typeof openPublishing>>;

const textAt = (path: string) => async (program: Program) => (await program.at(path)).text();

const headerAt = (path: string) => async (program: Program) =>
  (await program.at(path)).headers.get('x-attribution');

const embed = async (program: Program) => {
  const { author_name, author_url } = await (
    await program.at(`/oembed?url=${encodeURIComponent(`${program.origin}/c/lines`)}`)
  ).json();
  return [author_name, author_url];
};

const citation = (query: string) => async (program: Program) =>
  (await program.ask(query)).data.observations[0].citation;

const table = (accept: string) => async (program: Program) => {
  const reply = await fetch(program.url, {
    method: 'POST',
    headers: { accept, 'content-type': 'application/json', authorization: 'Bearer demo-team' },
    body: JSON.stringify({ query: OTHER_DOCUMENTS.codes }),
  });
  expect(await reply.text()).not.toContain('Office');
  return reply.headers.get('x-attribution');
};

const instructions = async (program: Program) => {
  const reply = await program.at('/mcp', {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    }),
  });
  return reply.text();
};

/** Places at which figures leave for people, by how each is read. The first column is what it has by the settings, the second by default. */
const PLACES: readonly (readonly [
  place: string,
  read: (program: Program) => Promise<unknown>,
  set: unknown,
  byDefault: unknown,
])[] = [
  [
    'a page',
    textAt('/c/lines'),
    expect.stringContaining(
      `<p>Data: <a href="${URL_OF_IT}" target="_blank" rel="noopener">${ESCAPED} (${URL_OF_IT})</a>.</p>`,
    ),
    expect.stringContaining('<p>Data: Country Data Service.</p>'),
  ],
  [
    'a page without a picture',
    textAt('/c/card?code=KE'),
    expect.stringContaining(`rel="noopener">${ESCAPED} (${URL_OF_IT})</a>.</p>`),
    expect.stringContaining('<p>Data: Country Data Service.</p>'),
  ],
  ...['lines', 'bars', 'map', 'scatter'].map(
    (name) =>
      [
        `a picture: ${name}`,
        async (program: Program) => {
          const svg = await textAt(`/c/${name}.svg`)(program);
          return [...svg.matchAll(/class="note"[^>]*>([^<]*)</g)].map(([, text]) => text).join(' ');
        },
        expect.stringContaining(`Data: ${ESCAPED} (${URL_OF_IT}).`),
        expect.stringContaining('Data: Country Data Service.'),
      ] as const,
  ),
  ...['', '.json', '.csv', '.arrow', '.svg?bare=1', '.png'].map(
    (form) =>
      [
        `the head of /c/lines${form}`,
        headerAt(`/c/lines${form}`),
        IN_HEADER,
        '{"name":"Country Data Service","url":null}',
      ] as const,
  ),
  ...['text/csv', 'application/x-ndjson', 'application/vnd.apache.arrow.stream'].map(
    (accept) =>
      [
        `the head of a table: ${accept}`,
        table(accept),
        IN_HEADER,
        '{"name":"Country Data Service","url":null}',
      ] as const,
  ),
  ['oEmbed', embed, [NAME, URL_OF_IT], ['Country Data Service', undefined]],
  [
    'a citation',
    citation(OTHER_DOCUMENTS.text),
    expect.stringContaining(` Via ${NAME} (${URL_OF_IT}). Retrieved `),
    expect.stringContaining(' Via Country Data Service. Retrieved '),
  ],
  [
    'a citation for BibTeX',
    citation(OTHER_DOCUMENTS.bibtex),
    expect.stringContaining(`  howpublished = {Via Office for Données \\& <Figures> (${URL_OF_IT})},`),
    expect.stringContaining('  howpublished = {Via Country Data Service},'),
  ],
  [
    'llms.txt',
    textAt('/llms.txt'),
    expect.stringContaining(`\nData: ${NAME} (${URL_OF_IT}).`),
    expect.stringContaining('\nData: Country Data Service.'),
  ],
  [
    'OpenAPI',
    async (program) => JSON.parse(await textAt('/openapi.json')(program)).info.description,
    `Data: ${NAME} (${URL_OF_IT}).`,
    'Data: Country Data Service.',
  ],
  [
    'the instructions of tools',
    instructions,
    expect.stringContaining(`Data: ${NAME} (${URL_OF_IT});`),
    expect.stringContaining('Data: Country Data Service;'),
  ],
  [
    'the settings of GraphiQL',
    async (program) => (await (await program.at('/graphiql/settings.json')).json()).attribution,
    { name: NAME, url: URL_OF_IT },
    { name: 'Country Data Service', url: null },
  ],
];

describe('the service is named wherever figures leave for people, at no call', () => {
  it.for([
    ['by default', {}, 3],
    ['by the settings', SETTINGS, 2],
  ] as const)('the service is named %s', async ([, env, column]) => {
    await using program = await openPublishing({
      documents: { ...DOCUMENTS, ...OTHER_DOCUMENTS },
      env: { MCP: 'on', ...env },
    });
    await program.issue({ name: 'page' });
    for (const place of PLACES) {
      const [name, read] = place;
      expect([name, await read(program)]).toEqual([name, place[column]]);
    }
    // Of the lines, the latest figures, the scatter plot's, the card, and the countries; the rest is cached.
    expect(program.requests().length).toBeLessThanOrEqual(7);
    expect(program.problems).toEqual([]);
  });

  it('a picture with another attribution is not that of the tag', async () => {
    await using before = await openPublishing();
    await before.issue({ name: 'page' });
    const tag = (await before.at('/c/lines.svg')).headers.get('etag') ?? '';
    const headers = { 'if-none-match': tag };
    await using same = await openPublishing();
    await same.issue({ name: 'page' });
    await using other = await openPublishing({ env: SETTINGS });
    await other.issue({ name: 'page' });
    const statuses = [before, same, other].map(
      async (program) => (await program.at('/c/lines.svg', { headers })).status,
    );
    expect(await Promise.all(statuses)).toEqual([304, 304, 200]);
  });
});
