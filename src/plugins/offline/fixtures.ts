import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { ConfigError } from '../../config/config.ts';
import type { ComposedGateway } from '../../gateway/plugin.ts';
import { PUBLIC } from '../../keys/tenant.ts';
import { rangesIn } from '../../observations/cached-ranges.ts';
import { parseExactly } from '../../shared/exact-json.ts';

/** Of the file format. */
const VERSION = 1;

/** A cached value, without its key and time. */
export interface Fixture {
  readonly name: string;
  readonly value: unknown;
}

export interface Fixtures {
  readonly recordedAt: string;
  readonly fixtures: readonly Fixture[];
}

/** Fixtures are cached under this key, whoever asks. */
const AUTHORIZATION = 'Bearer fixtures';

/** Drops the times from the ranges of a stored series. */
export function timeless(value: unknown): unknown {
  const ranges = rangesIn(value);
  if (ranges.length === 0) return value;
  const bare = ranges.map(({ atMs: _, ...range }) => range);
  return {
    ranges: bare.sort((one, other) => (JSON.stringify(one.years) < JSON.stringify(other.years) ? -1 : 1)),
  };
}

function timed(value: unknown, atMs: number): unknown {
  const ranges = rangesIn(value);
  return ranges.length === 0 ? value : { ranges: ranges.map((range) => ({ ...range, atMs })) };
}

/** Makes all callers ask under one key. */
export const underKey = (authorization: string) => () => ({
  owns: () => true,
  exchange: () => ({ authorization }),
});

/** One line each, sorted, so that a diff shows the changes. */
export function writeFixtures(file: string, { recordedAt, fixtures }: Fixtures): void {
  const sorted = fixtures.toSorted(({ name: one }, { name: other }) => (one < other ? -1 : 1));
  const lines = [{ countryGraphFixtures: VERSION, recordedAt }, ...sorted].map(
    (line) => `${JSON.stringify(line)}\n`,
  );
  writeFileSync(`${file}.part`, lines.join(''));
  renameSync(`${file}.part`, file);
}

export function readFixtures(file: string): Fixtures {
  try {
    const [head, ...fixtures] = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => parseExactly(line) as Record<string, unknown>);
    const { countryGraphFixtures: version, recordedAt } = head ?? {};
    if (version !== VERSION || Number.isNaN(Date.parse(String(recordedAt))))
      throw new Error('it has no first line of fixtures');
    return { recordedAt: String(recordedAt), fixtures: fixtures as unknown as readonly Fixture[] };
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : (error as Error).message;
    throw new ConfigError(`OFFLINE_FIXTURES: ${file} can't be read: ${reason}`);
  }
}

export function serveFixtures({ recordedAt, fixtures }: Fixtures) {
  return {
    keys: underKey(AUTHORIZATION),
    start({ callerOf, service: { tenantCache } }: ComposedGateway): void {
      const atMs = Date.parse(recordedAt);
      const values = new Map(fixtures.map(({ name, value }) => [name, timed(value, atMs)]));
      const { tenant } = callerOf({ authorization: AUTHORIZATION });
      tenantCache.accept(tenant, atMs);
      // Public routes are cached under no key.
      for (const owner of [tenant, PUBLIC]) tenantCache.save(owner, values, atMs);
    },
  };
}
