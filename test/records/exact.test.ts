import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { parseExactly } from '../../src/shared/exact-json.ts';
import { openProgram } from '../support/program.ts';

describe('a text that is read exactly', () => {
  it.each([
    '9007199254740993',
    '-12345678901234567890',
    '0.1234567890123456789',
    '1e400',
    '[1,2.5,{"a":9007199254740993}]',
    '"2026-07-24T03:12:45.123456789012345Z"',
    '{"id":"1234567890123456","n":null}',
  ])('a text that is read exactly is written as it was: %s', (text) => {
    expect(JSON.stringify(parseExactly(text))).toBe(text);
  });

  it.each([
    ['0', 0],
    ['1.0', 1],
    ['0.30000000000000004', 0.1 + 0.2],
    ['[9007199254740991, 1.50]', [9_007_199_254_740_991, 1.5]],
    [
      '{"a": 123456789012345, "b": "123456789012345678"}',
      { a: 123_456_789_012_345, b: '123456789012345678' },
    ],
  ])('a text that is read exactly has numbers where they hold it: %s', (text, value) => {
    expect(parseExactly(text)).toEqual(value);
  });

  it('a text that is read exactly is refused where it is not JSON', () => {
    expect(() => parseExactly('{"a": 12345678901234567')).toThrow(SyntaxError);
  });
});

const path = join(tmpdir(), `country-graph-exact-${process.pid}.sqlite`);
afterAll(() => {
  for (const ending of ['', '-shm', '-wal']) rmSync(path + ending, { force: true });
});

const BIG = '9007199254740993';

test.each(['none', 'memory:', `sqlite:${path}`])(
  'records keep all digits with %s as the cache',
  async (cache) => {
    await using program = await openProgram({ env: { CACHE_URL: cache } });
    // biome-ignore lint/suspicious/noExplicitAny: bodies of whatever the sandbox sends
    const spoil = (route: string, change: (data: any) => void) =>
      program.sandbox.faults.set({
        kind: 'shape',
        route,
        patch(body) {
          change(body.data);
          return body;
        },
      });
    spoil('/v1/countries/{code}/profile', (data) => {
      data.area_mm2 = JSON.rawJSON(BIG);
      data.indicators[0].value = JSON.rawJSON(BIG);
    });
    spoil('/v1/data', (rows) => {
      for (const row of rows)
        Object.assign(row, { value: JSON.rawJSON(BIG), note: JSON.rawJSON('0.12345678901234567890') });
    });
    spoil('/v1/countries/{code}/signals', (data) => {
      data.observations[0].value = JSON.rawJSON(BIG);
    });
    const query = `{ country(code: "KE") { profile { record indicators { value record } } signals { observations { value } }
    observation(metricKey: "population_total") { value record } } }`;
    const read = async () => {
      const response = await fetch(program.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${program.sandbox.keys.team}`,
        },
        body: JSON.stringify({ query }),
      });
      const text = await response.text();
      return { text, ...JSON.parse(text) };
    };
    for (const calls of [3, cache === 'none' ? 3 : 0, cache === 'none' ? 3 : 0]) {
      const { text, data, errors, extensions } = await read();
      expect([errors, extensions.warnings]).toEqual([undefined, undefined]);
      expect(text).toContain(`"area_mm2":${BIG}`);
      expect(text).toContain('"note":0.12345678901234567890');
      expect(text.match(new RegExp(`"value":${BIG}`, 'g'))?.length).toBeGreaterThanOrEqual(3);
      expect(data.country.profile.indicators[0].value).toBe(Number(BIG));
      expect(data.country.signals.observations[0].value).toBe(Number(BIG));
      expect(data.country.observation.value).toBe(Number(BIG));
      expect(extensions.upstream.calls).toBe(calls);
    }
  },
);
