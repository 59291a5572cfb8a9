import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import type { Dice } from '../execution/dice.ts';

/** An answer of the service, as far as it can be broken. */
export interface Sent {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Stands for a number in the text, which JSON.stringify would write otherwise. */
const NUMBER = '@@number:';

const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  '',
  ' ',
  '0',
  'ke',
  'KE',
  'ZZ',
  'null',
  'NaN',
  '2026-13-45',
  '2020-02-30T25:61:61Z',
  '\u0000',
  '\ud800',
  'x'.repeat(10_000),
  '__proto__',
  'constructor',
  ...['1e400', '-1e400', '1e-400', '-0', '12345678901234567890', `0.${'1'.repeat(400)}`, '2147483648'].map(
    (digits) => NUMBER + digits,
  ),
  [],
  {},
  [[]],
  [null],
  [{}],
  { data: [] },
  { id: null },
  { detail: 'no' },
  JSON.parse('{"then":1,"toString":1,"length":5,"toJSON":null,"__proto__":1}'),
];

type Container = Record<string | number, unknown>;

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

/** One place in a body, at any depth, and the value there. */
function placeIn(root: Container, dice: Dice): { holder: Container; name: string } | null {
  let holder = root;
  for (;;) {
    const names = Object.keys(holder);
    if (names.length === 0) return null;
    const name = dice.pick(names);
    const below = holder[name];
    if (!isContainer(below) || Object.keys(below).length === 0 || dice.chance(0.12)) return { holder, name };
    holder = below;
  }
}

function nested(dice: Dice): unknown {
  let value = structuredClone(dice.pick(VALUES));
  for (let i = dice.pick([5, 50, 190, 210, 1_500]); i > 0; i -= 1)
    value = dice.chance(0.5) ? [value] : { a: value };
  return value;
}

function retyped(value: unknown): unknown {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return Number.isNaN(Number(value)) ? value.length : Number(value);
  if (Array.isArray(value)) return Object.fromEntries(value.map((item, i) => [i, item]));
  return isContainer(value) ? Object.values(value) : [value];
}

const CHANGES: readonly ((holder: Container, name: string, dice: Dice) => void)[] = [
  (holder, name) => {
    if (Array.isArray(holder)) holder.splice(Number(name), 1);
    else delete holder[name];
  },
  (holder, name, dice) => {
    holder[name] = structuredClone(dice.pick(VALUES));
  },
  (holder, name) => {
    holder[name] = retyped(holder[name]);
  },
  (holder, name) => {
    holder[name] = [holder[name]];
  },
  (holder, name, dice) => {
    holder[name] = nested(dice);
  },
  (holder, name) => {
    if (Array.isArray(holder)) holder.push(...holder, holder[Number(name)]);
    else holder[`${name}_`] = holder[name];
  },
  (holder, name, dice) => {
    const other = dice.pick(Object.keys(holder));
    [holder[name], holder[other]] = [holder[other], holder[name]];
  },
  (holder, name, dice) => {
    const value = holder[name];
    if (typeof value === 'string') holder[name] = dice.chance(0.5) ? value.toUpperCase() : ` ${value}\u200b`;
    else if (typeof value === 'number') holder[name] = dice.pick([-value, value + 0.5, value * 1e300]);
  },
];

/** The same body, some of whose values are something else. */
function changed(body: string, dice: Dice): string {
  const root: Container = { body: JSON.parse(body) };
  const isEverywhere = dice.chance(0.15);
  const times = isEverywhere ? 1 + dice.below(60) : 1 + dice.below(4);
  for (let i = 0; i < times; i += 1) {
    const place = placeIn(root, dice);
    if (place !== null) dice.pick(CHANGES)(place.holder, place.name, dice);
  }
  const text = JSON.stringify(root.body) ?? '';
  return text.replaceAll(new RegExp(`"${NUMBER}([^"]*)"`, 'g'), '$1');
}

const STATUSES = [201, 204, 206, 301, 304, 400, 401, 403, 404, 405, 410, 418, 422, 429, 500, 502, 503];

const HEADERS: readonly Readonly<Record<string, string>>[] = [
  { 'content-type': 'text/html' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-encoding': 'gzip' },
  { 'content-encoding': 'br, x' },
  { 'retry-after': '-1' },
  { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' },
  { 'cache-control': 'max-age=99999999999, no-store' },
  { etag: '"x"' },
  { etag: 'W/"' },
  { age: 'x' },
  { date: 'never' },
  { expires: '0' },
  { 'x-ratelimit-limit': '-1', 'x-ratelimit-remaining': 'x', 'x-ratelimit-reset': '1e400' },
  { location: '/v1/countries' },
];

/** Ways to send a text other than by UTF-8 of its stated length. */
const BYTES: readonly ((text: string, dice: Dice) => Buffer)[] = [
  (text, dice) => Buffer.from(text).subarray(0, dice.below(text.length + 1)),
  (text) => Buffer.from(`\ufeff${text}`),
  (text) => Buffer.from(text, 'utf16le'),
  (text) => Buffer.from(text, 'latin1'),
  (text) => gzipSync(text),
  (text) => Buffer.from(`${text}${text}`),
  (text) => Buffer.from(`${text}\u0000`),
  (text) => Buffer.from(text.replaceAll('"', "'")),
  (text) => Buffer.from(text.replace('{', '{"data":1,"data":[],')),
  (text, dice) => {
    const bytes = Buffer.from(text);
    for (let i = 0; i < 5 && bytes.length > 0; i += 1) bytes[dice.below(bytes.length)] = dice.below(256);
    return bytes;
  },
  (_, dice) =>
    Buffer.from(dice.pick(['', ' ', 'null', '0', '""', '[]', '{}', '<html>', 'NaN', '[', '{"data":'])),
];

/** Words that no JSON has in the place of a number. */
const FORBIDDEN = ['NaN', '-Infinity', '1.', '.5', '+5', '01', '1e', '0x10', '1,5', 'undefined', '', '1 000'];

/** The same body, some of whose numbers are none. */
function misspelt(text: string, dice: Dice): string {
  const share = dice.pick([0.01, 0.2, 1]);
  return text.replaceAll(/(?<=:)-?\d[\d.e+-]*(?=[,}])/g, (digits) =>
    dice.chance(share) ? dice.pick(FORBIDDEN) : digits,
  );
}

/** Ways in which failures are told under a 200, beside the answer or in its place. */
const FAILURES: readonly object[] = [
  { detail: 'database is down', data: [] },
  { detail: [{ loc: ['db'], msg: 'gone' }], data: {} },
  { error: 'boom' },
  { errors: [{ message: 'boom' }], data: null },
  { success: false, data: [] },
  { status: 'error', message: 'boom' },
  { status: 503, title: 'Away', data: [] },
  { message: 'boom' },
  { data: { error: { code: 7 } } },
  { data: [], meta: { errors: ['boom'] } },
  { detail: 'Rate limit exceeded: 5 requests per minute', data: [] },
  { data: [], error: null, success: true },
];

function told(text: string, dice: Dice): string {
  const failure = dice.pick(FAILURES);
  return JSON.stringify(dice.chance(0.5) ? failure : { ...failure, ...JSON.parse(text) });
}

const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

const ENCODINGS: readonly (readonly [name: string, encode: (bytes: Buffer) => Buffer])[] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', (bytes) => brotliCompressSync(bytes, QUICK)],
  ['zstd', zstdCompressSync],
  ['deflate, identity, zstd', (bytes) => zstdCompressSync(deflateSync(bytes))],
  ['identity', (bytes) => bytes],
  ['gzip', zstdCompressSync],
  ['x-unknown', gzipSync],
];

function encoded({ status, headers, body }: Sent, dice: Dice): Sent {
  const [name, encode] = dice.pick(ENCODINGS);
  const bytes = encode(body);
  const isCut = dice.chance(0.1);
  return {
    status,
    headers: { ...headers, 'content-encoding': name },
    body: isCut ? bytes.subarray(0, dice.below(bytes.length + 1)) : bytes,
  };
}

/** A true answer, broken. */
export function broken(body: string, dice: Dice): Sent {
  const some = dice.chance(0.85) ? changed(body, dice) : body;
  const envelope = dice.chance(0.06) ? told(body, dice) : some;
  const text = dice.chance(0.1) ? misspelt(envelope, dice) : envelope;
  const bytes = dice.chance(0.12) ? dice.pick(BYTES)(text, dice) : Buffer.from(text);
  const sent = {
    status: dice.chance(0.06) ? dice.pick(STATUSES) : 200,
    headers: { 'content-type': 'application/json', ...(dice.chance(0.1) ? dice.pick(HEADERS) : {}) },
    body: bytes,
  };
  return dice.chance(0.1) ? encoded(sent, dice) : sent;
}
