import { describe, expect, it } from 'vitest';
import { openPublishing, PUBLISHED } from './publishing.ts';

const published = { ...PUBLISHED, lines: { document: 'Lines', key: 'page', title: '</script><b>' } };

describe('metadata of a page', () => {
  it('metadata of a page name sources, unit, release, times, service and files', async () => {
    await using program = await openPublishing({ published });
    await program.issue({ name: 'page' });
    const reply = await program.at('/c/lines.metadata.json?codes=KE&from=2000');
    expect([reply.status, reply.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    const metadata = (await reply.json()) as {
      readonly fromYear: number;
      readonly sources: readonly Record<string, unknown>[];
    };
    const url = `${program.origin}/c/lines?codes=KE&from=2000`;
    expect(metadata).toMatchObject({
      title: '</script><b>',
      description: expect.stringMatching(/^Synthetic figures/),
      url,
      attribution: { name: 'Country Data Service', url: null },
      isSynthetic: true,
      indicators: [{ key: 'population_total', units: ['persons'] }],
      countries: [{ code: 'KE', name: 'Kenya' }],
      data: [
        { type: 'application/json', url: url.replace('lines', 'lines.json') },
        { type: 'text/csv', url: url.replace('lines', 'lines.csv') },
        { type: 'text/csv; shape=wide', url: url.replace('lines', 'lines.wide.csv') },
        { type: 'application/vnd.apache.arrow.stream', url: url.replace('lines', 'lines.arrow') },
      ],
    });
    expect(metadata.fromYear).toBeGreaterThanOrEqual(2000);
    for (const source of metadata.sources)
      expect(source).toMatchObject({
        key: expect.any(String),
        releases: expect.arrayContaining([expect.any(String)]),
        retrievedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        licence: null,
      });
    expect(metadata.sources.length).toBeGreaterThan(0);
    expect(program.requests()).toHaveLength(1);
  });

  it('metadata of a page stand in it for search engines, and are no script', async () => {
    await using program = await openPublishing({ published });
    await program.issue({ name: 'page' });
    const reply = await program.at('/c/lines');
    const page = await reply.text();
    const [, text = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(page) ?? [];
    expect(JSON.parse(text)).toMatchObject({
      '@context': 'https://schema.org',
      '@type': 'Dataset',
      name: '</script><b>',
      description: expect.stringMatching(/^.{50,5000}$/),
      url: `${program.origin}/c/lines`,
      spatialCoverage: ['Kenya', 'Nigeria'],
      variableMeasured: [{ '@type': 'PropertyValue', unitText: 'persons' }],
      distribution: expect.arrayContaining([
        { '@type': 'DataDownload', encodingFormat: 'text/csv', contentUrl: `${program.origin}/c/lines.csv` },
      ]),
    });
    // The policy names one script, which is the page's own.
    expect(page.match(/<script/g)).toHaveLength(2);
    const policy = reply.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/script-src 'sha256-[^' ]+'; /);
  });

  it('metadata of a page without figures say so', async () => {
    await using program = await openPublishing();
    await program.issue({ name: 'page' });
    const metadata = await (await program.at('/c/card.metadata.json?code=KE')).json();
    expect(metadata).toMatchObject({ title: 'Card', figures: 0 });
  });
});
