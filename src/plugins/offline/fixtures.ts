import { z } from 'zod';
import { ConfigError } from '../../config/config.ts';
import type { ComposedGateway } from '../../gateway/plugin.ts';
import { PUBLIC } from '../../keys/tenant.ts';
import { rangesIn } from '../../observations/cached-ranges.ts';
import { isObject, type JsonObject, messageOf } from '../../plugin/index.ts';
import { checkedJson, readTextSync, replaceFile } from '../../shared/text-files.ts';

/** Of the file format. */
const VERSION = 1;

const Head = z.object(
  {
    countryGraphFixtures: z.literal(VERSION, 'must be 1: another version of the program has written it'),
    recordedAt: z.iso.datetime({ offset: true, error: 'must be a time' }),
  },
  'must be the first line of a file of country-graph record',
);

const rows = z.custom<readonly JsonObject[]>((value) => Array.isArray(value) && value.every(isObject));
const year = z.int().nullable();

const Line = z.object(
  {
    name: z.string('must be a text').min(1, 'must not be empty'),
    value: z.union(
      [
        rows,
        z.looseObject({ status: z.literal([200, 404, 422]) }),
        z.looseObject({
          ranges: z.array(z.looseObject({ years: z.object({ from: year, to: year }), rows })),
        }),
        z.object({ absence: z.string() }),
        z.object({ isUndecided: z.literal(true) }),
      ],
      'must be an answer or figures of the service',
    ),
  },
  'must be {"name": …, "value": …}',
);

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
export async function writeFixtures(file: string, { recordedAt, fixtures }: Fixtures): Promise<void> {
  const sorted = fixtures.toSorted(({ name: one }, { name: other }) => (one < other ? -1 : 1));
  const lines = [{ countryGraphFixtures: VERSION, recordedAt }, ...sorted].map(
    (line) => `${JSON.stringify(line)}\n`,
  );
  await replaceFile(file, lines.join(''));
}

export function readFixtures(file: string): Fixtures {
  try {
    const [head = '', ...lines] = readTextSync(file).split('\n');
    const { recordedAt } = checkedJson(Head, head, file);
    const fixtures = lines.flatMap((line, i) =>
      line.trim() === '' ? [] : [checkedJson(Line, line, file, i + 2)],
    );
    return { recordedAt, fixtures };
  } catch (cause) {
    throw new ConfigError(`OFFLINE_FIXTURES: ${messageOf(cause)}`, { cause });
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
