import { request } from 'undici';
import { expect, it } from 'vitest';
import { openAddresses } from './tagged.ts';

/** Headers that a cache would copy to the answer that it holds. */
const OF_ANSWERS = [
  'cache-control',
  'vary',
  'etag',
  'content-security-policy',
  'x-content-type-options',
  'cross-origin-resource-policy',
  'access-control-allow-origin',
];

it.for([
  ['GET', {}],
  ['HEAD', {}],
  ['GET', { 'accept-encoding': 'br', origin: 'https://page.example' }],
] as const)(
  'a 304 to a %s has the headers of the answer, and none of a body: %j',
  async ([method, further]) => {
    await using program = await openAddresses();
    const tagged: string[] = [];
    for (const path of program.paths) {
      const ask = async (asked: Readonly<Record<string, string>>) => {
        const headers = { ...program.headers, ...further, ...asked };
        const { statusCode, headers: told, body } = await request(program.origin + path, { method, headers });
        const bytes = await body.bytes();
        return { statusCode, told, bytes };
      };
      // A repeated operation has an age from the cache, as its 304 has.
      await ask({});
      const whole = await ask({});
      expect([path, whole.statusCode]).toEqual([path, 200]);
      const { etag } = whole.told;
      if (etag === undefined) continue;
      tagged.push(path);
      const { statusCode, told, bytes } = await ask({ 'if-none-match': String(etag) });
      expect([path, statusCode, bytes.length]).toEqual([path, 304, 0]);
      expect(
        Object.keys(told).filter((name) => name.startsWith('content-') && !name.endsWith('policy')),
      ).toEqual([]);
      for (const name of OF_ANSWERS) {
        const expected =
          name === 'cache-control'
            ? expect.stringContaining(String(whole.told[name]).slice(0, 12))
            : whole.told[name];
        expect([path, name, told[name]]).toEqual([path, name, expected]);
      }
    }
    expect(tagged).toEqual(program.paths.filter((path) => !/^\/(?:health|metrics|llms)/.test(path)));
  },
);
