import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'graphql';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/config.ts';
import { files } from '../../src/gateway/files-view.ts';
import { openSchema } from '../../src/gateway/open-schema.ts';
import { sha256Of, type TrustedDocument } from '../../src/graphql/request/persisted.ts';
import { openPublicDocuments } from '../../src/plugins/public-pages/public-documents.ts';
import { countries } from '../../src/sandbox/catalogue/countries.ts';
import { escaped } from '../../src/shared/drawings.ts';
import { holdReadings, openFolder } from '../issued/issuing.ts';
import { servicesWith } from '../support/services.ts';
import { DOCUMENTS, FIGURE, openPublishing, PUBLISHED } from './publishing.ts';

const FORMS = ['', '.json', '.csv', '.wide.csv', '.arrow', '.svg', '.png', '.html', '.metadata.json'];
const TYPES = [
  'text/html; charset=utf-8',
  'application/json; charset=utf-8',
  'text/csv; charset=utf-8; header=present',
  'text/csv; charset=utf-8; header=present; shape=wide',
  'application/vnd.apache.arrow.stream',
  'image/svg+xml; charset=utf-8',
  'image/png',
  'text/html; charset=utf-8',
  'application/json; charset=utf-8',
];

/** Width and height of a PNG, in pixels. */
function sizeOf(png: Buffer) {
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  return [png.readUInt32BE(16), png.readUInt32BE(20)];
}

const meansOf = (
  schema: Awaited<ReturnType<typeof openSchema>>,
  listed: () => readonly TrustedDocument[],
  onProblem: (problem: unknown) => void = () => {},
) => ({
  gateway: servicesWith(schema, {
    persisted: {
      get listed() {
        return listed();
      },
      async look() {},
    },
  }),
  disk: files,
  onProblem,
  leaveOut: null,
});

type Publishing = Awaited<ReturnType<typeof openPublishing>>;

async function refusal(program: Publishing, path: string) {
  const reply = await program.at(path);
  // biome-ignore lint/suspicious/noExplicitAny: as tests look into answers elsewhere
  const { errors } = (await reply.json()) as any;
  expect(reply.headers.get('cache-control')).toBe('no-store');
  return {
    status: reply.status,
    headers: reply.headers,
    code: errors[0].extensions.code,
    message: errors[0].message,
  };
}

it('public documents and issued keys are there beside what routers see', async () => {
  const subgraph = { SUBGRAPH: 'on', SUBGRAPH_ISO3: 'on', SUBGRAPH_NODE: 'on', SUBGRAPH_OMIT: 'tickers' };
  await using program = await openPublishing({ env: { ...subgraph, TRUSTED_DOCUMENTS_FOR: 'issued' } });
  const key = await program.issue({ name: 'page', perDay: 2 });
  const page = await program.at('/c/bars.json');
  expect([page.status, (await page.json()).data.observations.length]).toEqual([200, 3]);
  expect((await program.at('/c/kept')).status).toBe(404);
  const { data } = await program.ask('{ country(code: "UG") { name } }', { key });
  expect(data).toEqual({ country: { name: 'Uganda' } });
  const routers = '{ _entities(representations: [{ __typename: "Country", iso3: "KEN" }]) { __typename } }';
  expect((await program.ask(routers, { key })).data).toEqual({ _entities: [{ __typename: 'Country' }] });
  const spent = await program.ask('{ country(code: "KE") { profile { record } } }', { key });
  expect([spent.status, spent.errors[0]?.extensions.code]).toEqual([200, 'KEY_BUDGET_SPENT']);
  expect(program.requests()).toHaveLength(2);
});

describe('a public document', () => {
  it('a public document is there in all forms for one call, and on the second look is not sent', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    const first = await Promise.all(FORMS.map((form) => program.at(`/c/lines${form}`)));
    expect(first.map(({ status }) => status)).toEqual(FORMS.map(() => 200));
    expect(first.map(({ headers }) => headers.get('content-type'))).toEqual(TYPES);
    expect(program.requests()).toHaveLength(1);
    const tags = first.map(({ headers }) => headers.get('etag') ?? '');
    expect(new Set(tags).size).toBe(FORMS.length);
    for (const [i, { headers }] of first.entries()) {
      // The pages alone name an address, which is that of the request.
      const whose = ['', '.html', '.metadata.json'].includes(FORMS[i] ?? '') ? 'private' : 'public';
      expect(headers.get('cache-control')).toMatch(new RegExp(`^${whose}, max-age=(300|29\\d)$`));
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('content-security-policy')).toContain('frame-ancestors *');
    }
    for (const [i, form] of FORMS.entries()) {
      const headers = { 'if-none-match': tags[i] ?? '' };
      const again = await program.at(`/c/lines${form}`, { headers });
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, tags[i], '']);
      const [get, head] = [
        await program.at(`/c/lines${form}`),
        await program.at(`/c/lines${form}`, { method: 'HEAD' }),
      ];
      expect([head.status, await head.text()]).toEqual([200, '']);
      for (const name of ['content-type', 'etag', 'cache-control'])
        expect(head.headers.get(name)).toBe(get.headers.get(name));
      expect(Buffer.from(await get.arrayBuffer())).toEqual(
        form === '.json' ? expect.anything() : Buffer.from(await (first[i] as Response).arrayBuffer()),
      );
    }
    // Other variables are other data, and fetch the missing figures.
    const other = await program.at('/c/lines.svg?codes=KE,ZA', {
      headers: { 'if-none-match': tags[FORMS.indexOf('.svg')] ?? '' },
    });
    expect([other.status, (await other.text()).match(/>South Africa</g)?.length]).toEqual([200, 2]);
    expect(program.requests()).toEqual([
      'GET /v1/data?country_codes=ZA&limit=1000&metric_keys=population_total',
    ]);
    expect((await program.desk.show('page')).usage).toMatchObject([{ calls: 2 }, { calls: 2 }, { calls: 2 }]);
    expect(program.problems).toEqual([]);
  });

  it('a public document that takes countries has a form for them, and no other has one', async () => {
    const two =
      'query Two($a: [CountryCode!], $b: [CountryCode!]) { a: countries(codes: $a) { code } b: countries(codes: $b) { code } }';
    await using program = await openPublishing({
      documents: { ...DOCUMENTS, two },
      published: { ...PUBLISHED, two: { document: 'Two', key: 'page' } },
    });
    await program.issue({ name: 'page' });
    const formOf = async (path: string) => {
      const page = await (await program.at(path)).text();
      return /<form action="(.*?)">.*<\/form>/.exec(page) ?? [null, null];
    };
    const [boxes, action] = await formOf('/c/bars?metric=population_total&codes=ug&picture.highlight=x"><b>');
    expect([action, boxes?.match(/type="checkbox"/g)?.length]).toEqual(['bars', 54]);
    expect(boxes?.match(/value="[^"]*" checked/g)).toEqual(['value="UG" checked']);
    expect(boxes?.match(/<input type="hidden"[^>]*>/g)).toEqual([
      '<input type="hidden" name="metric" value="population_total">',
    ]);
    const [usual] = await formOf('/c/lines');
    expect(usual?.match(/value="[^"]*" checked/g)).toEqual(['value="KE" checked', 'value="NG" checked']);
    const [options] = await formOf('/c/card?code=TZ');
    expect(options?.match(/<option value="[^"]*" selected>[^<]*/g)).toEqual([
      '<option value="TZ" selected>Tanzania',
    ]);
    for (const path of ['/c/map', '/c/two']) expect(await formOf(path)).toEqual([null, null]);
  });

  it('a public document names countries in its title and its form as answers and pictures do', async () => {
    const published = { ...PUBLISHED, lines: { document: 'Lines', key: 'page', title: 'People of $codes' } };
    await using program = await openPublishing({ published });
    await program.issue({ name: 'page' });
    const page = await (await program.at('/c/lines?codes=cd,CV')).text();
    expect(page).toContain('<h1>People of DR Congo and Cabo Verde</h1>');
    const labels = page.matchAll(/value="([A-Z]{2})"[^>]*> ([^<]+)<\/label>/g);
    expect(Array.from(labels, ([, code, name]) => [code, name]).toSorted()).toEqual(
      countries.map(({ code, name }) => [code.toUpperCase(), escaped(name)]).toSorted(),
    );
    expect(program.requests()).toHaveLength(1);
    const url = encodeURIComponent(`${program.origin}/c/lines?codes=ST`);
    expect(await (await program.at(`/oembed?url=${url}`)).json()).toMatchObject({
      title: 'People of São Tomé and Príncipe',
    });
    expect(program.requests()).toEqual([]);
  });

  it('a public document has the axis of its lines begin where an address says', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    const labels = async (axis: string) => {
      const svg = await (await program.at(`/c/lines.svg?codes=KE&from=2015${axis}`)).text();
      const [, ticks = ''] = /aria-label="y-axis tick label">(.*?)<\/g>/.exec(svg) ?? [];
      return Array.from(ticks.matchAll(/>([^<]+)<\/text>/g), ([, text]) => text);
    };
    const [own, zero, data] = await Promise.all(['', '&picture.axis=zero', '&picture.axis=data'].map(labels));
    expect(zero?.[0]).toBe('0');
    expect(own).not.toContain('0');
    expect(data).toEqual(own);
    expect(await refusal(program, '/c/lines.svg?picture.axis=one')).toMatchObject({
      status: 400,
      message: expect.stringContaining('picture.axis'),
    });
    expect(program.requests()).toHaveLength(1);
  });

  it('a public document has an icon for the tabs of browsers', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    expect(await (await program.at('/c/bars')).text()).toContain('<link rel="icon" href="favicon.ico">');
    for (const path of ['/c/favicon.ico', '/favicon.ico']) {
      const icon = await program.at(path);
      expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    }
    expect(program.requests()).toHaveLength(1);
  });

  it('a public document has the data that its operation has by /graphql', async () => {
    await using program = await openPublishing();
    const key = await program.issue({ name: 'page' });
    const ask = (accept: string) =>
      fetch(program.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept, authorization: `Bearer ${key}` },
        body: JSON.stringify({ documentId: sha256Of(DOCUMENTS.bars), variables: { codes: ['KE', 'NG'] } }),
      });
    const own = (await (await ask('application/json')).json()) as { data: object };
    const path = '/c/bars.json?codes=KE&codes=NG';
    expect(((await (await program.at(path)).json()) as { data: object }).data).toEqual(own.data);
    const csv = await (await program.at('/c/bars.csv?codes=KE,NG')).text();
    expect(csv).toBe(await (await ask('text/csv')).text());
    expect(csv.split('\n')).toHaveLength(4);
    expect(program.requests()).toHaveLength(1);
  });

  it.for([
    ['/c/card.json', 'Variable "$code" of required type "CountryCode!" was not provided.'],
    ['/c/card.svg?code=KEX', 'two letters'],
    ['/c/card.json?code=', 'two letters'],
    ['/c/card.json?cod=KE', 'There is no variable cod here; there is code.'],
    ['/c/card.json?code=KE&code=NG', 'The variable code is given 2 times.'],
    ['/c/lines.json?from=soon', 'The variable from must be a number.'],
    ['/c/lines.json?from=1.5', 'Int cannot represent'],
    ['/c/lines.json?from=1e999', 'must be a number'],
    ['/c/lines.json?codes=KE,1', 'two letters'],
    ['/c/lines.svg?theme=loud', 'theme must be light or dark.'],
    ['/c/lines.png?width=9000', 'width must be from 320 to 1600 pixels.'],
    ['/c/lines.png?width=-1', 'width must be'],
    ['/c/lines.svg?bare=yes', 'bare must be 0 or 1.'],
    ['/c/lines.svg?picture.kind=pie', 'picture.kind: Invalid option'],
    ['/c/lines.svg?picture.year=soon', 'picture.year: Invalid input'],
    ['/c/lines.svg?picture.colour=red', 'Unrecognized key: "colour"'],
  ] as const)('a public document refuses %s before any call', async ([path, words]) => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    const { status, code, message } = await refusal(program, path);
    expect([status, code, message]).toEqual([400, 'BAD_USER_INPUT', expect.stringContaining(words)]);
    const page = await program.at(path.replace(/\.\w+(?=\?|$)/, ''));
    expect(page.status).toBe(400);
    expect(await page.text()).toMatch(/<h1>This picture can’t be shown<\/h1>[\s\S]*BAD_USER_INPUT/);
    expect(program.requests()).toEqual([]);
  });

  it('a public document has no more parameters, and no longer lists, than others may have', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    const all = Array.from({ length: 1001 }, () => 'KE');
    const many = await refusal(program, `/c/lines.json?codes=${all.slice(0, 101).join('&codes=')}`);
    expect([many.status, many.message]).toEqual([400, 'An address has up to 100 parameters.']);
    const long = await refusal(program, `/c/lines.json?codes=${all.join()}`);
    expect([long.status, long.message]).toEqual([400, expect.stringContaining('MAX_LIST_ITEMS')]);
    expect(program.requests()).toEqual([]);
  });

  it('a public document takes no notice of what others add to addresses', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    const page = await program.at('/c/card?code=ke&utm_source=letter&fbclid=abc');
    expect(page.status).toBe(200);
    expect(await page.text()).not.toMatch(/utm_source|fbclid/);
    expect(program.requests()).toEqual(['GET /v1/countries']);
  });

  it.for(FORMS)(
    'a public document is not there if it is trusted and not public, or is none: %s',
    async (form) => {
      await using program = await openPublishing();
      await program.issue({ name: 'page' });
      const answers = await Promise.all(
        ['kept', 'Kept', 'nothing', '__proto__', 'constructor'].map((name) =>
          program.at(`/c/${name}${form}`),
        ),
      );
      const texts = await Promise.all(
        answers.map(async (one) => (await one.text()).replace(/"requestId":"[^"]+"/, '')),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
      expect(new Set(texts).size).toBe(1);
      for (const path of ['/c/lines.page', '/c/lines.gif', '/c/lines.svg.png', '/c/', '/c/lines/x'])
        expect((await program.at(path)).status).toBe(404);
      expect(program.requests()).toEqual([]);
    },
  );

  it('a public document of one figure is a bar, by one call', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    const picture = await program.at('/c/bars.svg?codes=KE');
    const text = await picture.text();
    expect([picture.status, text.match(/>Kenya</g)?.length]).toEqual([200, 1]);
    expect((await program.at('/c/bars.png?codes=KE')).status).toBe(200);
    expect(await (await program.at('/c/bars?codes=KE')).text()).toContain('bars.svg?codes=KE');
    expect(program.requests()).toHaveLength(1);
  });

  it('a public document has no picture if it has no figures, and says so', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    for (const form of ['svg', 'png'])
      expect(await refusal(program, `/c/card.${form}?code=KE`)).toMatchObject({
        status: 406,
        code: 'BAD_REQUEST',
      });
    const page = await (await program.at('/c/card?code=KE')).text();
    expect(page).toContain('no figures that make a picture');
    expect(page).toContain('href="card.json?code=KE"');
    expect(page).not.toMatch(/card\.(svg|png)/);
    expect(program.requests()).toEqual(['GET /v1/countries']);
  });

  it.for(['', '.json', '.csv', '.arrow', '.svg', '.png'])(
    'a public document of figures that are never held costs one call: %s',
    async (form) => {
      const documents = {
        now: `query Now { observations(countryCodes: ["KE", "NG"], metricKeys: ["population_total"], maxAge: 0) { ${FIGURE} } }`,
      };
      await using program = await openPublishing({
        documents,
        published: { now: { document: 'Now', key: 'page' } },
      });
      await program.issue({ name: 'page' });
      expect((await program.at(`/c/now${form}`)).status).toBe(200);
      expect(program.requests()).toHaveLength(1);
      expect((await program.desk.show('page')).usage).toMatchObject([
        { calls: 1 },
        { calls: 1 },
        { calls: 1 },
      ]);
    },
  );

  it('a public document that makes no table is refused as one before any call', async () => {
    const documents = { two: `query Two { a: countries { code } b: sources { key } }` };
    await using program = await openPublishing({
      documents,
      published: { two: { document: 'Two', key: 'page' } },
    });
    await program.issue({ name: 'page' });
    for (const form of ['csv', 'wide.csv', 'arrow'])
      expect(await refusal(program, `/c/two.${form}`)).toMatchObject({ status: 406, code: 'BAD_REQUEST' });
    expect(program.requests()).toEqual([]);
  });

  it('a public document is a table that spreadsheets read as UTF-8, if its address says so, to which the page leads', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    const page = await (await program.at('/c/bars?codes=CI,ST')).text();
    expect(page).toContain(
      '<a href="bars.csv?codes=CI%2CST&amp;bom=present" target="_blank" rel="noopener">CSV for Excel</a>',
    );
    const bytes = async (path: string) => Buffer.from(await (await program.at(path)).arrayBuffer());
    const [plain, marked] = [
      await bytes('/c/bars.csv?codes=CI,ST'),
      await bytes('/c/bars.csv?codes=CI,ST&bom=present'),
    ];
    expect(marked).toEqual(Buffer.concat([Buffer.from('\ufeff'), plain]));
    const [tag, other] = await Promise.all(
      ['', '?bom=present'].map(async (bom) => (await program.at(`/c/lines.csv${bom}`)).headers.get('etag')),
    );
    expect(other).not.toBe(tag);
    expect(await refusal(program, '/c/bars.csv?bom=yes')).toMatchObject({ status: 400 });
    expect(program.requests()).toHaveLength(2);
  });

  it('a public document has no parts that a reader could ask for, and says so', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    const whole = await (await program.at('/c/bars.csv')).text();
    for (const form of FORMS) {
      const reply = await program.at(`/c/bars${form}`, { headers: { range: 'bytes=0-9' } });
      expect([reply.status, reply.headers.get('accept-ranges')]).toEqual([200, 'none']);
      if (form === '.csv') expect(await reply.text()).toBe(whole);
    }
    expect(program.requests()).toHaveLength(1);
  });

  it.for(['lines', 'bars', 'map', 'scatter'])(
    'a public document tells sites that show a preview how large its picture is: %s',
    async (name) => {
      await using program = await openPublishing();
      await program.issue({ name: 'page' });
      const page = await (await program.at(`/c/${name}`)).text();
      program.requests();
      const [, path = ''] = /og:image" content="https?:\/\/[^/]+([^"]+)"/.exec(page) ?? [];
      const told = ['width', 'height'].map((side) =>
        Number(new RegExp(`og:image:${side}" content="(\\d+)"`).exec(page)?.[1]),
      );
      expect(sizeOf(Buffer.from(await (await program.at(path)).arrayBuffer()))).toEqual(told);
      expect(program.requests()).toEqual([]);
    },
  );

  it('a public document takes the former names of kinds, in its file and in addresses, and tells of the present ones alone', async () => {
    const kinds = [
      ['multiples', 'small-pictures'],
      ['bars', 'ranking'],
    ] as const;
    const named = (kind: string) => ({ document: 'Lines', key: 'page', picture: { kind } });
    const published = Object.fromEntries(kinds.flat().map((kind) => [kind, named(kind)]));
    await using program = await openPublishing({ published });
    await program.issue({ name: 'page' });
    const text = async (path: string) => (await program.at(path)).text();
    for (const [former, present] of kinds) {
      const drawing = await text(`/c/${present}.svg`);
      expect(drawing).toMatch(/^<svg /);
      expect(await text(`/c/${former}.svg`)).toBe(drawing);
      for (const kind of [former, present])
        expect(await text(`/c/bars.svg?picture.kind=${kind}`)).toBe(
          await text(`/c/ranking.svg?picture.kind=${present}`),
        );
      const page = await text(`/c/ranking?picture.kind=${former}`);
      expect(page).toContain(`picture.kind=${present}`);
      expect(page).not.toContain(`picture.kind=${former}`);
    }
    expect(program.requests()).toHaveLength(1);
  });

  it('a public document is drawn as wide and as dark as asked, within bounds', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    const png = async (path: string) => Buffer.from(await (await program.at(path)).arrayBuffer());
    expect(sizeOf(await png('/c/lines.png'))).toEqual([1920, 1346]);
    const [wide = 0, high = 0] = sizeOf(await png('/c/map.png?width=1600&bare=1'));
    expect(wide).toBeGreaterThan(2400);
    expect(wide * high).toBeLessThanOrEqual(12_100_000);
    const svg = await (await program.at('/c/lines.svg?theme=dark&width=320&bare=1')).text();
    expect(svg).toMatch(/^<svg [^>]*width="320"/);
    expect(svg).toContain('fill="#212a3b"');
    expect(svg).not.toMatch(/<script|Source:|NaN|undefined/);
    expect(program.requests()).toHaveLength(3);
  });

  it.for([
    ['population_total', 320, 45],
    ['energy_imports_net_pct', 320, 45],
    ['population_total', 960, 60],
    ['population_total', 1600, 60],
  ] as const)(
    'a public document of a map has outlines as fine as its width shows: %s, %i pixels, %i kB',
    async ([metric, width, most]) => {
      await using program = await openPublishing();
      await program.issue({ name: 'page' });
      const { statusCode, headers, body } = await request(
        `${program.origin}/c/map.svg?metric=${metric}&width=${width}&bare=1`,
        { headers: { 'accept-encoding': 'gzip' } },
      );
      expect([statusCode, headers['content-encoding']]).toEqual([200, 'gzip']);
      expect((await body.arrayBuffer()).byteLength).toBeLessThanOrEqual(most * 1000);
      expect(program.requests()).toHaveLength(2);
    },
  );
});

describe('the key of a public document', () => {
  it('the key of a public document has to be there, to work, and to be allowed it', async () => {
    const passMs = holdReadings();
    await using program = await openPublishing();
    expect(await refusal(program, '/c/lines.svg')).toMatchObject({ status: 403, code: 'KEY_EXPIRED' });
    expect(program.warnings.filter((words) => words.startsWith('There is no valid'))).toEqual([
      'There is no valid issued key page, so nobody without a key can be answered. Create it: country-graph keys create page',
    ]);
    await program.issue({ name: 'page', expiresAt: '2026-03-10T12:10:00Z', tags: ['markets'] });
    passMs(1_000);
    await expect.poll(async () => (await refusal(program, '/c/lines.svg')).code).toBe('DOCUMENT_NOT_ALLOWED');
    expect(await refusal(program, '/c/lines.svg')).toMatchObject({ status: 403 });
    expect((await program.at('/c/card.json?code=KE')).status).toBe(200);
    program.pass(600);
    expect(await refusal(program, '/c/card.json?code=KE')).toMatchObject({
      status: 403,
      code: 'KEY_EXPIRED',
    });
    const status = async () => (await program.at('/c/lines.svg')).status;
    await program.issue({ name: 'page' });
    passMs(1_000);
    await expect.poll(status).toBe(200);
    await program.desk.rotate('page', 0);
    passMs(1_000);
    await expect.poll(status).toBe(200);
    await program.desk.revoke('page');
    passMs(1_000);
    await expect.poll(status).toBe(403);
    expect(program.requests()).toEqual([
      'GET /v1/countries',
      'GET /v1/data?country_codes=KE,NG&limit=1000&metric_keys=population_total',
    ]);
  });

  it.for(['', '.json', '.csv', '.svg', '.png'])(
    'the key of a public document, missing, revoked or refused by the service, is no business of visitors: %s',
    async (ending) => {
      await using program = await openPublishing({ env: { COUNTRY_DATA_KEY: 'refused-by-the-service' } });
      const shown = async () => {
        const reply = await program.at(`/c/dear${ending}`);
        const text = await reply.text();
        expect([reply.status, text]).toEqual([
          403,
          expect.stringContaining('This is not public at present.'),
        ]);
        expect(text.slice(text.indexOf('<body>') + 1)).not.toMatch(/country-graph|\bkeys?\b|detail/i);
      };
      await shown();
      await program.issue({ name: 'page' });
      const send = async () => {
        await (await program.at(`/c/dear${ending}`)).text();
        return program.requests();
      };
      await expect.poll(send, { timeout: 30_000 }).toEqual(['GET /v1/countries']);
      await shown();
      await program.desk.revoke('page');
      await shown();
    },
  );

  it('the key of a public document has a budget, and a page says when it begins anew', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page', perDay: 1, origins: ['https://app.example'] });
    expect((await program.at('/c/lines.svg')).status).toBe(200);
    expect(await refusal(program, '/c/bars.json')).toMatchObject({ status: 429, code: 'KEY_BUDGET_SPENT' });
    const page = await program.at('/c/bars');
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([
      429,
      expect.stringContaining('frame-ancestors https://app.example'),
    ]);
    expect(await page.text()).toMatch(
      /<h1>This picture can’t be shown now<\/h1>[\s\S]*The 1 calls a day that this key may send are spent/,
    );
    expect((await program.at('/c/lines.png')).status).toBe(200);
    expect(program.requests()).toHaveLength(1);
  });

  it.each([401, 403])(
    'the key of a public document is shown from what is held while a CDN answers with a page of %d',
    async (status) => {
      await using program = await openPublishing({ env: { CACHE_TTL_SECONDS: '1', UPSTREAM_RETRIES: '0' } });
      await program.issue({ name: 'page' });
      expect((await program.at('/c/lines.svg')).status).toBe(200);
      program.pass(2);
      program.sandbox.faults.set({
        kind: 'status',
        status,
        body: '<!doctype html><title>One moment</title>',
      });
      program.requests();
      const held = await program.at('/c/lines.svg');
      expect([held.status, held.headers.get('cache-control')]).toEqual([200, 'public, no-cache']);
      expect(program.requests().length).toBeGreaterThan(0);
    },
  );

  it('the key of a public document bounds each visitor, a form an operation', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page', visitorPerMinute: 3 });
    for (const form of ['.csv', '.svg', '']) expect((await program.at(`/c/lines${form}`)).status).toBe(200);
    const { status, code, headers } = await refusal(program, '/c/lines.csv');
    expect([status, code, headers.get('retry-after')]).toEqual([429, 'RATE_LIMITED', '30']);
    expect(program.requests()).toHaveLength(1);
  });

  it('the key of a public document is in nothing that anybody sees, nor is the one that it stands for', async () => {
    await using program = await openPublishing();
    const issued = await program.issue({ name: 'page', perDay: 3 });
    const paths = Object.keys(PUBLISHED).flatMap((name) => FORMS.map((form) => `/c/${name}${form}?`));
    const seen: string[] = [];
    for (const path of [
      ...paths,
      '/openapi.json',
      `/oembed?url=${program.origin}/c/lines`,
      '/metrics',
      '/c/card?code=KE',
    ]) {
      const answer = await program.at(path);
      seen.push(
        path,
        JSON.stringify([...answer.headers]),
        Buffer.from(await answer.arrayBuffer()).toString('latin1'),
      );
    }
    seen.push(program.stored().toString('latin1'), JSON.stringify(program.operations));
    const all = seen.join('\n');
    expect(all.length).toBeGreaterThan(300_000);
    for (const secret of ['demo-team', issued, issued.slice(4, 26)]) expect(all).not.toContain(secret);
    expect(program.requests()).toHaveLength(3);
  });
});

it('150 pictures of one visitor keep no other waiting, and those beyond his places are refused for now', async () => {
  await using program = await openPublishing({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
  await program.issue({ name: 'page' });
  expect((await program.at('/c/map.json')).status).toBe(200);
  program.requests();
  const as = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  const told: number[] = [];
  const many = Array.from({ length: 150 }, async (_, i) => {
    const { status, headers } = await program.at(`/c/map.svg?width=${1_000 + i}`, as('203.0.113.1'));
    told.push(status);
    return { status, retryAfter: headers.get('retry-after') };
  });
  await expect.poll(() => told.includes(503)).toBe(true);
  const others = await Promise.all(
    ['203.0.113.2', '203.0.113.3'].map(async (address) => {
      const { status } = await program.at('/c/map.svg?width=500', as(address));
      return { status, drawnBefore: told.filter((one) => one === 200).length };
    }),
  );
  const answers = await Promise.all(many);
  const refused = answers.filter(({ status }) => status === 503);
  expect(answers.length - refused.length).toBe(answers.filter(({ status }) => status === 200).length);
  expect(refused.length).toBeGreaterThan(100);
  expect(new Set(refused.map(({ retryAfter }) => retryAfter))).toEqual(new Set(['2']));
  for (const { status, drawnBefore } of others) {
    expect(status).toBe(200);
    expect(drawnBefore).toBeLessThan(answers.length - refused.length - 5);
  }
  expect(program.requests()).toEqual([]);
});

describe('trouble', () => {
  it('trouble with a public document is told with a status that fits, and kept by nobody', async () => {
    await using program = await openPublishing({ env: { UPSTREAM_RETRIES: '0' } });
    await program.issue({ name: 'page' });
    program.sandbox.faults.set({ kind: 'status', status: 500, route: '/v1/data', times: 1 });
    expect(await refusal(program, '/c/lines.png')).toMatchObject({
      status: 503,
      code: 'UPSTREAM_UNAVAILABLE',
    });
    const good = await program.at('/c/lines.png');
    expect([good.status, good.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(program.requests()).toHaveLength(2);
  });

  it('trouble with a part of a page leaves the rest, with words on it', async () => {
    const documents = {
      two: 'query Two { country(code: "KE") { observation(metricKey: "population_total") { value year } offices { name } } }',
    };
    await using program = await openPublishing({
      documents,
      published: { two: { document: 'Two', key: 'page' } },
      env: { UPSTREAM_RETRIES: '0' },
    });
    await program.issue({ name: 'page' });
    program.sandbox.faults.set({ kind: 'status', status: 500, route: '/v1/government/structure/{code}' });
    const page = await program.at('/c/two');
    expect([page.status, page.headers.get('cache-control'), page.headers.get('etag')]).toEqual([
      200,
      'no-store',
      null,
    ]);
    expect(await page.text()).toContain('The service failed.');
    expect(program.requests()).toHaveLength(2);
  });

  it('trouble with a part of a table is told by its headers, since it has no place for it', async () => {
    const documents = {
      two: 'query Two { countries(codes: ["KE"]) { code observation(metricKey: "population_total") { value } offices { name } } }',
    };
    await using program = await openPublishing({
      documents,
      published: { two: { document: 'Two', key: 'page' } },
      env: { UPSTREAM_RETRIES: '0' },
    });
    await program.issue({ name: 'page' });
    program.sandbox.faults.set({ kind: 'status', status: 500, route: '/v1/data' });
    const { status, headers } = await program.at('/c/two.csv');
    expect([status, headers.get('x-graphql-errors'), headers.get('cache-control')]).toEqual([
      200,
      '1',
      'no-store',
    ]);
    expect(program.requests()).toHaveLength(2);
    program.sandbox.faults.clear();
    const whole = await program.at('/c/two.csv');
    expect(whole.headers.get('x-graphql-errors')).toBeNull();
    expect(whole.headers.get('etag')).toMatch(/^W/);
    expect(program.requests()).toHaveLength(1);
  });

  it('a public document that is too dear is refused before any call', async () => {
    await using program = await openPublishing({ env: { MAX_UPSTREAM_CALLS: '10' } });
    await program.issue({ name: 'page' });
    expect(await refusal(program, '/c/dear.json')).toMatchObject({
      status: 400,
      code: 'OPERATION_TOO_EXPENSIVE',
    });
    expect(program.requests()).toEqual([]);
  });
});

describe('the address of the gateway', () => {
  const STRANGE = 'evil.example';
  const PATHS = [...FORMS.map((form) => `/c/lines${form}`), '/openapi.json', '/c/openapi.json', '/llms.txt'];
  const asked = async (program: { readonly origin: string }, path: string) => {
    const { statusCode, headers, body } = await request(program.origin + path, {
      headers: { host: STRANGE },
    });
    const told = JSON.stringify(headers) + (await body.text());
    return {
      statusCode,
      caching: String(headers['cache-control']),
      etag: headers.etag,
      isTold: told.includes(STRANGE),
    };
  };

  it('the address of the gateway that a stranger writes stands in nothing that others may keep', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    const oembed = `/oembed?url=${encodeURIComponent(`http://${STRANGE}/c/lines`)}`;
    let told = 0;
    for (const path of [...PATHS, oembed]) {
      const { statusCode, caching, isTold } = await asked(program, path);
      expect([path, statusCode]).toEqual([path, 200]);
      if (isTold) expect([path, caching]).toEqual([path, expect.stringContaining('private')]);
      told += Number(isTold);
    }
    expect(told).toBe(6);
    // A page for one host is none for another.
    const [own, strange] = [
      (await program.at('/c/lines')).headers.get('etag'),
      await asked(program, '/c/lines'),
    ];
    expect(strange.etag).not.toBe(own);
    expect(program.requests()).toHaveLength(1);
  });

  it('the address of the gateway that the operator gives stands in pages that others may keep', async () => {
    await using program = await openPublishing({ env: { PUBLIC_URL: 'https://figures.example' } });
    await program.issue({ name: 'page' });
    for (const path of PATHS) {
      const { statusCode, caching, isTold } = await asked(program, path);
      expect([path, statusCode, isTold, caching.startsWith('public')]).toEqual([path, 200, false, true]);
    }
    expect(program.requests()).toHaveLength(1);
  });
});

describe('a gateway behind a path of a proxy', () => {
  const PREFIX = '/africa/figures';
  const under = async (
    program: { readonly at: (path: string, init?: RequestInit) => Promise<Response> },
    path: string,
  ) => (await program.at(path, { headers: { 'x-forwarded-prefix': PREFIX } })).text();

  it('a gateway behind a path of a proxy writes that path into all of its own addresses', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    const base = program.origin + PREFIX;
    const page = await under(program, '/c/lines');
    const own = [...page.matchAll(/(?:content|href)="(http[^"]*)"/g)].map(([, url = '']) => url);
    expect(own.some((url) => url.endsWith('.png'))).toBe(true);
    expect(own.filter((url) => url.startsWith(program.origin) && !url.startsWith(`${base}/`))).toEqual([]);
    expect(own).toContain(`${base}/oembed?url=${encodeURIComponent(`${base}/c/lines`)}`);
    expect(JSON.parse(await under(program, '/openapi.json')).servers).toEqual([{ url: base }]);
    // Readers of oEmbed name the page's address, whatever their proxy says.
    for (const start of [base, base.replace('http:', 'https:')]) {
      const about = encodeURIComponent(`${start}/c/lines`);
      const { html } = JSON.parse(await (await program.at(`/oembed?url=${about}`)).text());
      expect([html.includes(`src="${start}/c/lines"`), html.includes(`src="${start}/c/frames.js"`)]).toEqual([
        true,
        true,
      ]);
    }
    expect((await program.at('/oembed?url=https%3A%2F%2Fevil.example%2Fc%2Flines')).status).toBe(404);
    expect(program.requests()).toHaveLength(1);
  });

  it('what is no path of a proxy stands in no address', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    for (const prefix of ['//evil.example', '/a"b', 'africa', '/a/../b', '/a?b']) {
      const { servers } = (await (
        await program.at('/openapi.json', { headers: { 'x-forwarded-prefix': prefix } })
      ).json()) as { servers: unknown };
      expect([prefix, servers]).toEqual([prefix, [{ url: program.origin }]]);
    }
  });
});

describe('what others read', () => {
  it('/oembed tells how a page is framed, at no call', async () => {
    const published = { ...PUBLISHED, 'bars-of-gdp': { document: 'Bars', key: 'page' } };
    await using program = await openPublishing({
      published,
      env: { PUBLIC_URL: 'https://figures.example/gateway/' },
    });
    const about = (url: string, more = '') => program.at(`/oembed?url=${encodeURIComponent(url)}${more}`);
    const url = 'https://figures.example/gateway/c/lines?codes=KE%2CNG';
    const answer = await about(url, '&maxwidth=400&format=json');
    expect(await answer.json()).toEqual({
      version: '1.0',
      type: 'rich',
      author_name: 'Country Data Service',
      provider_name: 'Country Graph',
      title: 'People & <years>',
      html: `<iframe src="${url}" title="People &amp; &lt;years&gt;" width="400" height="820" loading="lazy" style="border:0;width:100%;max-width:400px;height:auto;min-height:480px;aspect-ratio:400/820"></iframe><script async src="https://figures.example/gateway/c/frames.js"></script>`,
      width: 400,
      height: 820,
    });
    const nameless = await about('https://figures.example/gateway/c/bars-of-gdp');
    expect(await nameless.json()).toMatchObject({ title: 'Bars of gdp' });
    for (const other of [
      'https://evil.example/c/lines',
      'https://figures.example/gateway/c/kept',
      url.replace('lines', 'lines.svg'),
      '',
    ])
      expect((await about(other)).status).toBe(404);
    expect((await about(url.replace('KE', 'KEX'))).status).toBe(400);
    // The frame shows what the address asks for.
    const looked = (await (await about(`${url}&theme=dark&picture.kind=ranking`)).json()) as { html: string };
    expect(looked.html).toContain('codes=KE%2CNG&amp;picture.kind=ranking&amp;theme=dark"');
    const script = await program.at('/c/frames.js');
    expect([script.status, await script.text()]).toEqual([200, expect.stringContaining('country-graph')]);
    expect((await about(url, '&format=xml')).status).toBe(501);
    expect(program.requests()).toEqual([]);
  });

  it('/openapi.json lists each form with its parameters and its price', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    const answer = await program.at('/openapi.json');
    // biome-ignore lint/suspicious/noExplicitAny: a document of another's format
    const { openapi, paths } = (await answer.json()) as any;
    expect(openapi).toBe('3.1.0');
    const forms = FORMS.map((form) => `/c/lines${form}`);
    expect(Object.keys(paths).filter((path) => /lines/.test(path))).toEqual(forms);
    expect(paths['/c/card.csv'].get.parameters).toEqual([
      {
        name: 'code',
        in: 'query',
        required: true,
        style: 'form',
        explode: false,
        schema: { type: 'string', pattern: '^[A-Za-z]{2}$' },
      },
      {
        name: 'bom',
        in: 'query',
        schema: { type: 'string', enum: ['present', 'absent'], default: 'absent' },
      },
    ]);
    expect(paths['/c/lines.svg'].get.parameters.map(({ name }: { name: string }) => name)).toEqual([
      'codes',
      'from',
      'theme',
      'width',
      'bare',
    ]);
    expect(paths['/c/lines'].get.parameters[0].schema.default).toEqual(['KE', 'NG']);
    expect(paths['/c/lines.json'].get['x-upstream-calls']).toMatchObject({ least: 1, expected: 1 });
    expect(paths['/c/dear.json'].get['x-upstream-calls'].expected).toBe(55);
    expect(JSON.stringify(paths)).not.toContain('kept');
    const headers = { 'if-none-match': answer.headers.get('etag') ?? '' };
    expect((await program.at('/c/openapi.json', { headers })).status).toBe(304);
    expect(program.requests()).toEqual([]);
  });
});

describe('a file of public documents', () => {
  it.for([
    [{ 'a.b': { document: 'Card', key: 'page' } }, 'a.b'],
    [{ a: { document: 'Card' } }, 'key'],
    [{ a: { document: 'Card', key: 'page', picture: { kind: 'pie' } } }, 'kind'],
    [{ a: { document: 'Nothing', key: 'page' } }, 'TRUSTED_DOCUMENTS has no document Nothing'],
    [{ a: { document: 'Themed', key: 'page' } }, '$theme has the name of a parameter'],
    [{ a: { document: 'Ordered', key: 'page' } }, "$order can't be written in an address"],
    [{ a: { document: 'Wrong', key: 'page' } }, 'Cannot query field'],
  ] as const)('a file of public documents is refused at start for %j', async ([published, words]) => {
    const documents = {
      ...DOCUMENTS,
      themed: 'query Themed($theme: String!) { indicators(category: $theme) { key } }',
      ordered:
        'query Ordered($order: [ObservationOrder!]) { observations(countryCodes: ["KE"], metricKeys: ["population_total"], orderBy: $order) { value } }',
      wrong: 'query Wrong { nothing }',
    };
    const schema = await openSchema();
    using folder = openFolder();
    const path = join(folder.path, 'public.json');
    writeFileSync(path, JSON.stringify(published));
    const listed = Object.values(documents).map((text) => ({ id: sha256Of(text), text }));
    const opening = openPublicDocuments(
      path,
      meansOf(schema, () => listed),
    );
    await expect(opening).rejects.toThrow(words);
    await expect(opening).rejects.toBeInstanceOf(ConfigError);
  });

  it('a file of public documents ends with what is trusted no longer', async () => {
    const schema = await openSchema();
    const trusted = [{ id: sha256Of(DOCUMENTS.card), text: DOCUMENTS.card }];
    let listed = trusted;
    using folder = openFolder();
    const path = join(folder.path, 'public.json');
    writeFileSync(path, JSON.stringify({ card: { document: 'Card', key: 'page' } }));
    const { current, stop } = await openPublicDocuments(
      path,
      meansOf(schema, () => listed),
    );
    expect([...current().keys()]).toEqual(['card']);
    expect(parse(current().get('card')?.text ?? '').definitions).toHaveLength(1);
    listed = [];
    expect(current().size).toBe(0);
    listed = trusted;
    expect(current().size).toBe(1);
    stop();
  });

  it('a file of public documents is read again when the file changes, and not taken over while it is at fault', async () => {
    const schema = await openSchema();
    let listed = [{ id: sha256Of(DOCUMENTS.card), text: DOCUMENTS.card }];
    using folder = openFolder();
    const path = join(folder.path, 'public.json');
    const write = (published: object) => writeFileSync(path, JSON.stringify(published));
    write({ card: { document: 'Card', key: 'page' } });
    const problems: unknown[] = [];
    const means = meansOf(
      schema,
      () => listed,
      (problem) => problems.push(problem),
    );
    const opened = await openPublicDocuments(path, means, 10);
    const names = () => [...opened.current().keys()];
    write({ card: { document: 'Card', key: 'page' }, second: { document: 'Card', key: 'page' } });
    await expect.poll(names).toEqual(['card', 'second']);
    write({ card: { document: 'Card', key: 'page' }, kept: { document: 'Kept', key: 'page' } });
    await expect.poll(() => problems.map(String)).toEqual([expect.stringContaining('no document Kept')]);
    expect(names()).toEqual(['card', 'second']);
    // The document comes to be trusted a moment later.
    listed = [...listed, { id: sha256Of(DOCUMENTS.kept), text: DOCUMENTS.kept }];
    await expect.poll(names).toEqual(['card', 'kept']);
    expect(problems).toHaveLength(1);
    opened.stop();
  });
});
