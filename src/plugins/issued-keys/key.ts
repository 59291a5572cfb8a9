import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { originIn } from '../../config/origins.ts';
import { looksIssued } from '../../keys/tenant.ts';
import { TAGS } from '../../service/rights.ts';
import { timeIn } from '../../shared/periods.ts';

/** By which scanners for secrets know a key of this gateway's own. */
const PREFIX = 'cgk_';
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Digits that 128 random bits take, and those of their checksum. */
const SECRET_LENGTH = 22;
const SECRET_BYTES = 16;
const CHECK_LENGTH = 6;

function inDigits(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text;
  return text;
}

const checkOf = (secret: string) => inDigits(BigInt(crc32(PREFIX + secret)), CHECK_LENGTH);

/** Makes a key: `cgk_`, 22 random digits, and six more that show a slip. */
export function makeKey(): string {
  const secret = inDigits(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_LENGTH);
  return PREFIX + secret + checkOf(secret);
}

/**
 * Returns what an `Authorization` header bears in place of a key of the service; null if nothing in it looks like ours.
 * One that is spelt in another way than issued is none of ours, and none of the service's either: empty, if not of Bearer.
 */
export function issuedKeyIn(authorization: string | null | undefined): string | null {
  if (authorization == null || !looksIssued(authorization)) return null;
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
}

/** True if a key has the form and the checksum of one of ours, without asking anybody. */
export function isWhole(key: string): boolean {
  const secret = key.slice(PREFIX.length, -CHECK_LENGTH);
  const isFormed = secret.length === SECRET_LENGTH && /^\w+$/.test(secret);
  return isFormed && key.slice(-CHECK_LENGTH) === checkOf(secret);
}

/** Names a key where it is stored. Its bits are random, so that nobody can find it by its name. */
export function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}

const calls = z.int().min(0).max(1_000_000_000).nullable().default(null);
const shortName = z.string().regex(/^[\w.-]{1,64}$/, 'must be up to 64 letters, digits, dots and dashes');

/** Calls that may be sent in each window; null for any number. */
const budget = { perMinute: calls, perDay: calls, perMonth: calls };

const origin = z
  .string()
  .transform(originIn)
  .pipe(z.string('must be an origin such as https://app.example or https://*.app.example'));

/** The terms of a key, as the operator gives them. */
export const Terms = z.strictObject({
  name: shortName,
  expiresAt: z.iso.datetime({ offset: true }).nullable().default(null),
  /** Pages that may use it; none in the list for any client. */
  origins: z.array(origin).max(100).default([]),
  documents: z.enum(['any', 'trusted']).default('any'),
  /** Parts of the graph that it may read beside countries and the catalogue; none in the list for all. */
  tags: z.array(z.enum(TAGS)).default([]),
  ...budget,
  /** A budget that it has in common with the other members. */
  group: z
    .strictObject({ name: shortName, ...budget })
    .nullable()
    .default(null),
  visitorPerMinute: calls,
});

const StoredKey = Terms.extend({
  digest: z.string(),
  createdAt: z.string(),
  /** Instant at which another took its place. */
  endsAt: z.string().nullable(),
  revokedAt: z.string().nullable(),
});

/** A key as it is stored: all of it but the key. */
export type IssuedKey = z.output<typeof StoredKey>;

/** True if an instant has come; null never comes. */
export function isPast(instant: string | null, nowMs: number): boolean {
  return instant !== null && msOf(instant) <= nowMs;
}

/** Tells that the stored record of a key is damaged, in words that repeat nothing by which the key could be found. */
export class DamagedKey extends Error {
  override readonly name = 'DamagedKey';
  /** Name of the key, as far as its text tells. */
  readonly keyName: string | null;

  constructor(keyName: string | null, problem: string) {
    super(problem);
    this.keyName = keyName;
  }
}

/**
 * Reads the key that is stored under the name of its digest; under any, if none is given.
 * @throws DamagedKey if the text is that of no key, or of another one
 */
export function issuedKeyFrom(text: string, digest?: string): IssuedKey {
  const stored = StoredKey.safeParse(jsonIn(text));
  if (!stored.success) {
    const named = z.object({ name: Terms.shape.name }).safeParse(jsonIn(text));
    // The engine's words on what is no JSON repeat some of it.
    const problem = jsonIn(text) === undefined ? 'Its text is no JSON.' : z.prettifyError(stored.error);
    throw new DamagedKey(named.data?.name ?? null, problem);
  }
  if (digest !== undefined && stored.data.digest !== digest)
    throw new DamagedKey(stored.data.name, 'It is stored in the place of another key.');
  return stored.data;
}

/** Reads JSON; undefined if it is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the instant that a text of ours tells, in milliseconds since the epoch; that of a day is its first. */
export function msOf(instant: string): number {
  return timeIn(instant)?.firstMs ?? 0;
}

/** Returns the day (UTC) of an instant, as `2026-03-10`. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
