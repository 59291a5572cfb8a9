import { describe, expect, it } from 'vitest';
import { DOCUMENTS, openPublishing } from '../../address/publishing.ts';

const SOURCES = 'query Sources { sources { key name } }';

async function openPage(env: Readonly<Record<string, string>> = {}) {
  const program = await openPublishing({ env, documents: { ...DOCUMENTS, sources: SOURCES } });
  await program.issue({ name: 'page' });
  return Object.assign(program, { textAt: async (path: string) => (await program.at(path)).text() });
}

describe('names of sources on public pages', () => {
  it('public pages name sources as the service does where the list of them is cached, and spend no call on it', async () => {
    await using plain = await openPage();
    const [, key = ''] = /Source: ([a-z_]+) \(/.exec(await plain.textAt('/c/lines.svg?codes=KE')) ?? [];
    expect(plain.requests()).toEqual([
      'GET /v1/data?country_codes=KE&limit=1000&metric_keys=population_total',
    ]);

    await using program = await openPage();
    const { data } = await program.ask(SOURCES);
    const { name } = data.sources.find((one: { key: string }) => one.key === key);
    expect(name).not.toBe(key);
    program.requests();
    for (const path of ['/c/lines.svg?codes=KE', '/c/lines?codes=KE'])
      expect(await program.textAt(path)).toContain(`Source: ${name} (`);
    expect(program.requests()).toEqual([
      'GET /v1/data?country_codes=KE&limit=1000&metric_keys=population_total',
    ]);
  });

  it.each(['on', 'off'])(
    'public pages look for names of sources every minute, and never at a call, though the list is past its time (CACHE_RENEWAL=%s)',
    async (CACHE_RENEWAL) => {
      await using program = await openPage({ CACHE_RENEWAL });
      const path = '/c/lines.svg?codes=KE';
      await program.textAt(path);
      // The list comes after the picture.
      await program.ask(SOURCES);
      program.requests();
      const sentWithin = async (seconds: number) => {
        program.pass(seconds);
        expect(await program.textAt(path)).toContain('Source: ');
        return program.requests();
      };
      expect([await sentWithin(61), await sentWithin(61), await sentWithin(61)]).toEqual([[], [], []]);
      // After five minutes, the figures are asked for anew, and the list is not.
      expect(await sentWithin(120)).toEqual([
        'GET /v1/data?country_codes=KE&limit=1000&metric_keys=population_total',
      ]);
      expect(await sentWithin(61)).toEqual([]);
    },
  );
});
