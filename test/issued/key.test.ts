import { expect, it } from 'vitest';
import {
  DamagedKey,
  digestOf,
  issuedKeyFrom,
  issuedKeyIn,
  isWhole,
  makeKey,
} from '../../src/plugins/issued-keys/key.ts';

it('a key has a prefix that scanners know, and a checksum that shows each slip', () => {
  const keys = Array.from({ length: 200 }, makeKey);
  expect(new Set(keys).size).toBe(200);
  for (const key of keys) {
    expect(key).toMatch(/^cgk_[0-9A-Za-z]{28}$/);
    expect(isWhole(key)).toBe(true);
    expect(issuedKeyIn(`bearer  ${key}`)).toBe(key);
    for (let at = 4; at < key.length; at += 1) {
      const other = key[at] === 'a' ? 'b' : 'a';
      expect(isWhole(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
      expect(isWhole(key.slice(0, at))).toBe(false);
    }
  }
});

it('other headers bear no issued key', () => {
  const keys = ['demo-team', 'a-cgkb_c', 'xcgk-1', 'CGKX', 'cgk', 'eyJhbGciOiJIUzI1NiJ9.e30.x', '%zz'];
  for (const header of [undefined, null, '', 'Bearer', ...keys.map((key) => `Bearer ${key}`)])
    expect(issuedKeyIn(header)).toBe(null);
});

it('a kept key is read under its own name alone', () => {
  const kept = {
    name: 'page',
    expiresAt: null,
    origins: [],
    documents: 'any',
    tags: [],
    perMinute: null,
    perDay: null,
    perMonth: null,
    group: null,
    visitorPerMinute: null,
    digest: digestOf('a'),
    createdAt: '2026-03-10T12:00:30Z',
    endsAt: null,
    revokedAt: null,
  };
  const text = JSON.stringify(kept);
  expect(issuedKeyFrom(text, digestOf('a'))).toEqual(kept);
  expect(() => issuedKeyFrom(text, digestOf('b'))).toThrow(DamagedKey);
});
