import { describe, expect, it } from 'vitest';
import { openPublishing, PUBLISHED } from './publishing.ts';

const published = {
  ...PUBLISHED,
  lines: { document: 'Lines', key: 'page', title: 'People & <years> of $codes', note: 'By <b>us</b>.' },
};

/** The texts of the data addresses in a page, by their types. */
function partsOf(page: string): Readonly<Record<string, readonly string[]>> {
  const parts: Record<string, string[]> = {};
  for (const [, type = '', text = ''] of page.matchAll(/"data:([a-z/+]+)[^"]*?;base64,([^"]*)"/g))
    parts[type] = [...(parts[type] ?? []), Buffer.from(text, 'base64').toString()];
  return parts;
}

describe('a page that is saved', () => {
  it('a page that is saved has picture, figures and sources in it, and asks for nothing', async () => {
    await using program = await openPublishing({ published });
    await program.issue({ name: 'page' });
    const reply = await program.at('/c/lines.html?codes=KE,ZA&from=2000');
    expect([
      reply.status,
      reply.headers.get('content-type'),
      reply.headers.get('content-disposition'),
    ]).toEqual([200, 'text/html; charset=utf-8', 'attachment; filename="lines.html"']);
    const page = await reply.text();
    expect(page).toContain('<h1>People &amp; &lt;years&gt; of Kenya and South Africa</h1>');
    expect(page).toContain('<p>By &lt;b&gt;us&lt;/b&gt;.</p>');
    expect(page).toContain('Data: Country Data Service');
    expect(page).toContain(`Saved from <a href="${program.origin}/c/lines?codes=KE%2CZA&amp;from=2000">`);
    // Nothing is fetched, and nothing is run.
    const sources = Array.from(page.matchAll(/(?:src|srcset)="([^"]{0,30})/g), ([, url]) => url);
    expect(sources.length).toBe(4);
    expect(sources.filter((url) => !url?.startsWith('data:image/svg+xml;base64,'))).toEqual([]);
    expect(page).not.toMatch(/<script|<link|url\(/);
    const { 'image/svg+xml': drawings = [], 'text/csv': [csv = ''] = [] } = partsOf(page);
    expect(drawings.every((svg) => svg.includes('South Africa'))).toBe(true);
    const lines = csv.trim().split('\r\n');
    expect(lines[0]).toContain('country.code,country.name,indicator.key');
    expect(lines.length).toBeGreaterThan(40);
    expect(page.match(/<tr>/g)).toHaveLength(lines.length);
    expect(program.requests()).toHaveLength(1);
    const again = await program.at('/c/lines.html?codes=KE,ZA&from=2000', {
      headers: { 'if-none-match': reply.headers.get('etag') ?? '' },
    });
    expect(again.status).toBe(304);
    expect((await program.at('/c/card.html?code=KE')).status).toBe(406);
  });

  it('a page that is saved has the colours that are asked for', async () => {
    await using program = await openPublishing({ published });
    await program.issue({ name: 'page' });
    const [light, dark] = await Promise.all(
      ['light', 'dark'].map(async (theme) => (await program.at(`/c/bars.html?theme=${theme}`)).text()),
    );
    expect(partsOf(light ?? '')['image/svg+xml']).toHaveLength(2);
    expect(dark).toContain('<html lang="en" data-theme="dark">');
    expect(partsOf(dark ?? '')['image/svg+xml']).toHaveLength(4);
  });
});
