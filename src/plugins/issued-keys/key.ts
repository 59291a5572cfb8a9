import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { looksIssued, originIn, TAGS, timeIn } from '../../plugin/index.ts';

/** Scanners for secrets know issued keys by it. */
const PREFIX = 'cgk_';
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 128 random bits take 22 digits; six more are their checksum. */
const SECRET_LENGTH = 22;
const SECRET_BYTES = 16;
const CHECK_LENGTH = 6;

function inDigits(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text;
  return text;
}

const checkOf = (secret: string) => inDigits(BigInt(crc32(PREFIX + secret)), CHECK_LENGTH);

export function makeKey(): string {
  const secret = inDigits(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_LENGTH);
  return PREFIX + secret + checkOf(secret);
}

/** Returns the issued key of an `Authorization` header; null if it doesn't look like ours, empty if it isn't a bearer. */
export function issuedKeyIn(authorization: string | null | undefined): string | null {
  if (authorization == null || !looksIssued(authorization)) return null;
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
}

/** Checks form and checksum, without asking the store. */
export function isWhole(key: string): boolean {
  const secret = key.slice(PREFIX.length, -CHECK_LENGTH);
  const isFormed = secret.length === SECRET_LENGTH && /^\w+$/.test(secret);
  return isFormed && key.slice(-CHECK_LENGTH) === checkOf(secret);
}

/** A plain hash is enough to store a key by, since its bits are random. */
export function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}

const calls = z.int().min(0).max(1_000_000_000).nullable().default(null);
const shortName = z.string().regex(/^[\w.-]{1,64}$/, 'must be up to 64 letters, digits, dots and dashes');

/** Calls per window; null for any number. */
const budget = { perMinute: calls, perDay: calls, perMonth: calls };

const origin = z
  .string()
  .transform(originIn)
  .pipe(z.string('must be an origin such as https://app.example or https://*.app.example'));

export const Terms = z.strictObject({
  name: shortName,
  expiresAt: z.iso.datetime({ offset: true }).nullable().default(null),
  /** Pages that may use it; empty for any client. */
  origins: z.array(origin).max(100).default([]),
  documents: z.enum(['any', 'trusted']).default('any'),
  /** Parts of the graph that it may read beside countries and the catalogue; empty for all. */
  tags: z.array(z.enum(TAGS)).default([]),
  ...budget,
  /** A budget shared with other keys. */
  group: z
    .strictObject({ name: shortName, ...budget })
    .nullable()
    .default(null),
  visitorPerMinute: calls,
});

const StoredKey = Terms.extend({
  digest: z.string(),
  createdAt: z.string(),
  /** Until then it works beside the key that has replaced it. */
  endsAt: z.string().nullable(),
  revokedAt: z.string().nullable(),
});

export type IssuedKey = z.output<typeof StoredKey>;

export function isPast(instant: string | null, nowMs: number): boolean {
  return instant !== null && msOf(instant) <= nowMs;
}

/** The stored record of a key is damaged. The message quotes nothing of it. */
export class DamagedKey extends Error {
  override readonly name = 'DamagedKey';
  /** Null if the record doesn't tell. */
  readonly keyName: string | null;

  constructor(keyName: string | null, problem: string) {
    super(problem);
    this.keyName = keyName;
  }
}

/** @throws DamagedKey if the text is no record of a key, or that of another digest */
export function issuedKeyFrom(text: string, digest?: string): IssuedKey {
  const stored = StoredKey.safeParse(jsonIn(text));
  if (!stored.success) {
    const named = z.object({ name: Terms.shape.name }).safeParse(jsonIn(text));
    // The engine's own message would quote the text.
    const problem = jsonIn(text) === undefined ? 'Its text is no JSON.' : z.prettifyError(stored.error);
    throw new DamagedKey(named.data?.name ?? null, problem);
  }
  if (digest !== undefined && stored.data.digest !== digest)
    throw new DamagedKey(stored.data.name, 'It is stored in the place of another key.');
  return stored.data;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Milliseconds since the epoch; those of a day are its first. */
export function msOf(instant: string): number {
  return timeIn(instant)?.firstMs ?? 0;
}

/** In UTC, as `2026-03-10`. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
