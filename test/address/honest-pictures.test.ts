import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPublishing } from './publishing.ts';

const LATEST = (codes: string, metric: string) =>
  `observations(countryCodes: [${codes}], metricKeys: ["${metric}"], latest: true, scope: NATIONAL) { value }`;

/** Documents that ask for values and nothing else: what a picture tells besides is the gateway's own matter. */
const TEXTS = {
  ranking: LATEST('"KE", "NG", "ER", "ZZ"', 'gdp_current_usd'),
  map: 'observations(metricKeys: ["gdp_current_usd"], latest: true, scope: NATIONAL) { value }',
  months:
    'observations(countryCodes: ["KE", "GH"], metricKeys: ["consumer_price_index"], fromYear: 2018) { value }',
  bands:
    'observations(countryCodes: ["KE", "NG", "GH", "ZA"], metricKeys: ["life_expectancy"], fromYear: 1990) { value estimateLow estimateHigh }',
  named:
    'observations(countryCodes: ["KE", "NG"], metricKeys: ["population_total"], fromYear: 2000) { value source { key name lastSuccessfulRefresh } }',
  migration: LATEST('"KE", "NG", "SO", "ET", "ZW"', 'net_migration_total'),
  all: 'countries { observations(metricKeys: ["population_total"], fromYear: 1990) { value } }',
  two: 'observations(countryCodes: ["KE", "NG"], metricKeys: ["life_expectancy", "population_total", "nothing_at_all"], fromYear: 2000) { value }',
  places: 'observations(metricKeys: ["idps_total"], latest: true) { value }',
};

const documents = Object.fromEntries(
  Object.entries(TEXTS).map(([name, text]) => [name, `query ${name} { ${text} }`]),
);
const published = Object.fromEntries(
  Object.keys(TEXTS).map((document) => [document, { document, key: 'page', picture: {} }]),
);

let program: Awaited<ReturnType<typeof openPublishing>>;
beforeAll(async () => {
  program = await openPublishing({ documents, published });
  await program.issue({ name: 'page' });
});
afterAll(() => program?.[Symbol.asyncDispose]());

const plain = (text: string) =>
  text
    .replace(/&#160;|\u00a0/g, ' ')
    .replace(/&#8722;/g, '−')
    .replace(/&#8211;/g, '–');
const svgOf = async (path: string) => plain(await (await program.at(`/c/${path}`)).text());
const textsOf = (svg: string) => [...svg.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text = '']) => text);
const notesOf = (svg: string) =>
  [...svg.matchAll(/<text class="note"[^>]*>([^<]*)/g)].map(([, text = '']) => text).join(' ');

describe('a picture by address', () => {
  it('a picture by address asks for all that a picture needs by itself, at no further call', async () => {
    program.requests();
    const svg = await svgOf('months.svg');
    // Countries and not "Ghana 2, Ghana 3", sources and times of the retrieval.
    expect([...svg.matchAll(/data-legend="([^"]*)"/g)].map(([, name]) => name).sort()).toEqual(['Ghana']);
    expect(notesOf(svg)).toContain('No figures: Kenya.');
    expect(notesOf(svg)).toMatch(/Source: \w+ \(2018–20\d\d\)\. Retrieved on \d+ \w+ 20\d\d\./);
    expect(program.requests()).toHaveLength(1);
    // The data are those of the document as it is written.
    const { data } = (await (await program.at('/c/months.json')).json()) as {
      data: { observations: object[] };
    };
    expect(Object.keys(data.observations[0] ?? {})).toEqual(['value']);
    expect(program.requests()).toEqual([]);
  });

  it('a picture by address says of latest figures which are not of the newest year, and stripes what is old', async () => {
    const svg = await svgOf('ranking.svg');
    expect(textsOf(svg).find((text) => text.includes('latest figures'))).toMatch(
      /latest figures: \d of 2024, the others back to 2011/,
    );
    expect(textsOf(svg)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^994\.1 million \(2011\)$/)]),
    );
    expect(notesOf(svg)).toContain('2011: Eritrea. Striped: more than 5 years older.');
    expect(/<g[^>]*class="old"[^>]*>(.*?)<\/g>/s.exec(svg)?.[1]?.match(/<rect/g)).toHaveLength(1);
    const map = await svgOf('map.svg');
    expect(/<g[^>]*class="old"[^>]*>(.*?)<\/g>/s.exec(map)?.[1]?.match(/<path/g)).toHaveLength(1);
    expect(textsOf(map)).toContain('over 5 years older than 2025');
  });

  it('a picture by address names the countries and the indicators that were asked for, and that have no figures', async () => {
    expect(notesOf(await svgOf('ranking.svg'))).toContain('No figures: ZZ.');
    const page = plain(await (await program.at('/c/two')).text());
    expect(page).toContain('No figures of any country: nothing_at_all.');
    // One of two pictures is drawn, and the page leads to the other.
    expect(page).toMatch(/<a href="two\?picture\.indicator=[a-z_]+"/);
  });

  it('a picture by address names sources as the answer does, and tells their last refresh', async () => {
    expect(notesOf(await svgOf('named.svg'))).toMatch(
      /Source: World Bank, World Development Indicators \(2000–2025\)\. Last refreshed on \d+ July 2026\./,
    );
  });

  it('a picture by address has bands for three lines, and for one of more that stands out', async () => {
    const areas = (svg: string) => /aria-label="area"[^>]*>(.*?)<\/g>/s.exec(svg)?.[1]?.match(/<path/g) ?? [];
    expect(areas(await svgOf('bands.svg'))).toHaveLength(0);
    const focused = await svgOf('bands.svg?picture.focus=Ghana');
    expect(areas(focused)).toHaveLength(1);
    expect(areas(await svgOf('bands.svg?picture.removed=ZA'))).toHaveLength(3);
  });

  it('a picture by address brings the line that stands out into view, however low it ranks', async () => {
    const linesOf = (svg: string) =>
      new Set([...svg.matchAll(/data-line="([^"]*)"/g)].map(([, name]) => name));
    const legendOf = (svg: string) => [...svg.matchAll(/data-legend="([^"]*)"/g)].map(([, name]) => name);
    expect(legendOf(await svgOf('all.svg'))).not.toContain('Lesotho');
    const focused = await svgOf('all.svg?picture.focus=Lesotho');
    expect(legendOf(focused)).toContain('Lesotho');
    expect(linesOf(focused)).toContain('Lesotho');
  });

  it.each(['svg', 'png', ''])(
    'a picture by address is refused where no line has the name that is to stand out, as %s',
    async (form) => {
      for (const [page, name] of [
        ['bands', 'focus'],
        ['bands', 'highlight'],
        ['ranking', 'focus'],
      ]) {
        const address = `/c/${page}${form === '' ? '' : `.${form}`}?picture.${name}=Atlantis`;
        const refused = await program.at(address);
        expect(refused.status).toBe(400);
        expect(plain(await refused.text())).toMatch(
          /No line of this picture is named .{1,6}Atlantis.{1,6}; there are (Ghana|Kenya|Nigeria|South Africa), /,
        );
      }
      expect((await program.at('/c/bands?picture.focus=Ghana')).status).toBe(200);
    },
  );

  it('a picture by address has one bar of a ranking stand out', async () => {
    const fillsOf = (svg: string) => {
      const [, bars = ''] = /<g aria-label="bar"[^>]*>(.*?)<\/g>/s.exec(svg) ?? [];
      return [...bars.matchAll(/ fill="([^"]+)"/g)].map(([, fill]) => fill);
    };
    const [plainFill, ...others] = fillsOf(await svgOf('ranking.svg'));
    expect(others).toEqual([plainFill, plainFill]);
    for (const width of [320, 960]) {
      const svg = await svgOf(`ranking.svg?picture.focus=Nigeria&width=${width}`);
      const fills = fillsOf(svg);
      const at = textsOf(svg)
        .filter((text) => /^(Nigeria|Kenya|Eritrea)$/.test(text))
        .indexOf('Nigeria');
      expect([fills.indexOf(plainFill), fills.lastIndexOf(plainFill)]).toEqual([at, at]);
      expect(svg).toMatch(/ font-weight="600"[^>]*>Nigeria</);
    }
  });

  it('a picture by address is one image with a title and words for those who do not see it', async () => {
    const svg = await svgOf('ranking.svg');
    expect(svg).toMatch(/^<svg[^>]* role="img"/);
    expect(svg).toMatch(
      /<title>Gross domestic product, current prices<\/title><desc>Gross domestic product, current prices, US dollars\. \w+ is highest with .* less\. Ranking, 3 figures\.</,
    );
  });

  it('a picture by address writes numbers in words, and no number over another, for any width', async () => {
    for (const width of [320, 390, 960]) {
      const svg = await svgOf(`migration.svg?width=${width}`);
      const axis = /aria-label="x-axis tick label"[^>]*>(.*?)<\/g>/s.exec(svg)?.[1] ?? '';
      const labels = [...axis.matchAll(/translate\(([\d.]+),[^>]*>([^<]*)/g)].map(([, x, text = '']) => ({
        x: Number(x),
        half: (text.length * 6.6) / 2,
        text,
      }));
      expect(labels.map(({ text }) => text)).toContain('0');
      for (const [i, { x, half }] of labels.slice(1).entries())
        expect(x - half).toBeGreaterThan((labels[i]?.x ?? 0) + (labels[i]?.half ?? 0));
    }
    const many = textsOf(await svgOf('all.svg?picture.kind=small-pictures&width=320'));
    expect(many.filter((text) => /^[\d.,]+( million)? to [\d.,]+( million)?$/.test(text))).toHaveLength(54);
    expect(many.join(' ')).not.toContain('…');
    expect(textsOf(await svgOf('all.svg')).filter((text) => text === '200 million')).toHaveLength(1);
  });

  it('a picture by address shows Western Sahara as one area without figures', async () => {
    const svg = await svgOf('map.svg?tips=1');
    const hatched = /<g[^>]*class="without-figure"[^>]*>(.*?)<\/g>/s.exec(svg)?.[1] ?? '';
    expect(hatched.match(/<path/g)).toHaveLength(1);
    expect(hatched.match(/M/g)).toHaveLength(1);
    expect(svg).toContain('Western Sahara\\nno figure');
  });

  it('a picture by address brings the words on each figure along, if it is asked for them', async () => {
    const svg = await svgOf('bands.svg?tips=1');
    const { all } = JSON.parse(
      /<metadata>(.*)<\/metadata>/s.exec(svg)?.[1]?.replaceAll('&#34;', '"') ?? '',
    ) as {
      all: { x: number; y: number; line: string; words: string }[];
    };
    expect(all.length).toBeGreaterThan(130);
    expect(all[0]?.words).toMatch(/^\w+\n[\d.]+ years\n[\d.]+ to [\d.]+\n1990, modelled\nworld_bank_wdi$/);
    expect(await svgOf('bands.svg')).not.toContain('<metadata>');
  });

  it('a picture by address has its axis say the scale of its values where words at each of them would take too much room', async () => {
    const [wide, narrow] = [await svgOf('all.svg?width=960'), await svgOf('all.svg?width=320')];
    expect(textsOf(wide)).toEqual(expect.arrayContaining(['↑ persons', '200 million', '0']));
    expect(textsOf(narrow)).toEqual(expect.arrayContaining(['↑ persons, in millions', '200', '0']));
    expect(textsOf(narrow).filter((text) => /^\d+ million$/.test(text))).toEqual([]);
    // Lines have half of what there is.
    const [, path = ''] = /<g[^>]* class="top"[^>]*>\s*<path[^>]* d="([^"]*)"/.exec(narrow) ?? [];
    const places = [...path.matchAll(/[ML]([\d.]+),/g)].map(([, x]) => Number(x));
    expect(Math.max(...places) - Math.min(...places)).toBeGreaterThan(110);
    // A logarithmic scale has no one word.
    expect(textsOf(await svgOf('all.svg?width=320&picture.isLog=true'))).toContain('100 million');
    const shared = textsOf(
      await svgOf('all.svg?width=320&picture.kind=small-pictures&picture.isShared=true'),
    );
    expect(shared).toEqual(expect.arrayContaining(['One scale for all, in millions.', '200']));
  });

  it('a picture by address gives bars their length beside long numbers', async () => {
    const lengths = async (width: number) => {
      const svg = await svgOf(`ranking.svg?width=${width}`);
      const [, bars = ''] = /<g aria-label="bar"[^>]*>(.*?)<\/g>/s.exec(svg) ?? [];
      return {
        texts: textsOf(svg),
        bars: [...bars.matchAll(/ width="([\d.]+)"/g)].map(([, at]) => Number(at)),
      };
    };
    const [wide, narrow] = [await lengths(960), await lengths(320)];
    expect(wide.texts.filter((text) => / billion/.test(text)).length).toBeGreaterThan(3);
    expect(narrow.texts).toContain('US dollars, in billions →');
    expect(narrow.texts.filter((text) => /\d billion/.test(text))).toEqual([]);
    // Each is as long beside the longest as on a wide picture.
    const [longest, other] = [0, 1].map((i) => (wide.bars[i] ?? 0) / (wide.bars[0] ?? 1));
    expect(narrow.bars[0]).toBeGreaterThan(50);
    expect((narrow.bars[1] ?? 0) / (narrow.bars[0] ?? 1)).toBeCloseTo((other ?? 0) / (longest ?? 1), 1);
  });

  it('a picture by address gives a telephone most of its width for lines and bars, and names each once', async () => {
    const spanOf = (places: readonly number[]) => Math.max(...places) - Math.min(...places);
    const lines = await svgOf('bands.svg?width=320');
    const paths = [
      ...lines.matchAll(/<path[^>]* data-line="[^"]*"[^>]*>|<path[^>]*stroke="#\w+"[^>]* d="(M[^"]*)"/g),
    ];
    const places = paths.flatMap(([path]) => [...path.matchAll(/[ML]([\d.]+),/g)].map(([, x]) => Number(x)));
    expect(spanOf(places)).toBeGreaterThan(0.7 * 320);
    for (const name of ['Kenya', 'Nigeria', 'Ghana', 'South Africa'])
      expect(textsOf(lines).filter((text) => text === name)).toEqual([name]);
    const ranking = await svgOf('ranking.svg?width=320');
    const [, bars = ''] = /<g aria-label="bar"[^>]*>(.*?)<\/g>/s.exec(ranking) ?? [];
    const lengths = [...bars.matchAll(/ width="([\d.]+)"/g)].map(([, at]) => Number(at));
    expect(Math.max(...lengths)).toBeGreaterThan(0.6 * 320);
    // No line strikes through the numbers.
    expect(ranking).not.toContain('aria-label="x-grid"');
    for (const name of ['Kenya', 'Nigeria', 'Eritrea'])
      expect(textsOf(ranking).filter((text) => text === name)).toEqual([name]);
  });

  it('a picture by address has its values begin at zero, or says where they begin', async () => {
    expect(textsOf(await svgOf('all.svg'))).toEqual(expect.arrayContaining(['↑ persons', '0']));
    const bands = textsOf(await svgOf('bands.svg'));
    const [, from] = /^↑ years, from (\d+)$/.exec(bands.find((text) => text.startsWith('↑')) ?? '') ?? [];
    expect(Number(from)).toBeGreaterThan(20);
    expect(bands.map(Number).filter((value) => value < Number(from))).toEqual([]);
    expect(textsOf(await svgOf('bands.svg?picture.isLog=true')).join()).not.toContain(', from');
    expect(textsOf(await svgOf('bands.svg?picture.measure=difference')).join()).not.toContain(', from');
  });
});
