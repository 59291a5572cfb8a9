/** A body of the same length each time, in which some digits change from response to response. */
export interface Changing {
  readonly bytes: Buffer;
  /** Offset of the ten-digit serial number; absent if the body has no `meta`. */
  readonly serialAt?: number;
  /** Offsets of the last digits of values, one for each row that has one. */
  readonly digitsAt?: readonly number[];
  /** Offsets of the six-digit microseconds of timestamps, likewise. */
  readonly timesAt?: readonly number[];
}

/** By default, one row in this many changes from one response to the next. */
const SHARE = 10;

/** Values of figures and of countries. Those of more than fifteen digits or with an exponent don't change. */
const VALUE = /"(?:value|area_km2)":-?(?=[\d.]{1,15}[,}])(?:\d+\.)?\d*(\d)(?=[,}])/g;
const TIME = /"retrieved_at":"[^"]*\.(\d{6})Z"/g;
const META = '"meta":{';
const NEVER = '0000000000';
/** The last digit of values that don't change. Not 0, which may be lost when a number is serialized again. */
const USUAL = '5';

/** Locates the digits of a body that change, and adds a serial number to it. */
export function changing(sent: Buffer): Changing {
  // One character per byte, so that offsets in the text are offsets in the body.
  const text = sent.toString('latin1');
  const meta = text.lastIndexOf(META);
  const at = meta + META.length;
  const counted = meta < 0 ? text : `${text.slice(0, at)}"serial":${NEVER},${text.slice(at)}`;
  const bytes = Buffer.from(counted, 'latin1');
  const digitsAt = offsetsOf(VALUE, counted);
  for (const at of digitsAt) bytes.write(USUAL, at, 'latin1');
  return {
    bytes,
    ...(meta < 0 ? {} : { serialAt: at + '"serial":'.length }),
    digitsAt,
    timesAt: offsetsOf(TIME, counted),
  };
}

function offsetsOf(pattern: RegExp, text: string): number[] {
  return [...text.matchAll(pattern)].map((match) => match.index + match[0].lastIndexOf(match[1] ?? ''));
}

/** The body of one response. */
export function changed(
  { bytes, serialAt, digitsAt = [], timesAt = [] }: Changing,
  serial: number,
  share = SHARE,
): Buffer {
  if (serialAt === undefined && digitsAt.length === 0) return bytes;
  const body = Buffer.from(bytes);
  if (serialAt !== undefined) body.write(String(serial), serialAt, 'latin1');
  const digit = String(1 + (serial % 9));
  const micros = String(serial % 1_000_000).padStart(6, '0');
  // Hashed, since responses from one URL may get only every second serial number, and all rows have to change in time.
  const first = (Math.imul(serial, 0x9e3779b1) >>> 16) % share;
  for (const at of chosen(digitsAt, first, share)) body.write(digit, at, 'latin1');
  for (const at of chosen(timesAt, first, share)) body.write(micros, at, 'latin1');
  return body;
}

function* chosen(offsets: readonly number[], first: number, share: number): Generator<number> {
  for (let row = first; row < offsets.length; row += share) yield offsets[row] as number;
}
