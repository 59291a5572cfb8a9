/** A body of which digits change from answer to answer, its length never. */
export interface Changing {
  readonly bytes: Buffer;
  /** Place of the ten digits that count answers; none if the body has no `meta`. */
  readonly serialAt?: number;
  /** Of each row that has one: the last digit of its value. */
  readonly digitsAt?: readonly number[];
  /** The same of the six digits below the second of its time. */
  readonly timesAt?: readonly number[];
}

/** One row in as many differs from one answer to the next, unless told otherwise. */
const SHARE = 10;

/** Values of figures and of countries; those beyond fifteen digits, and those with an exponent, stay. */
const VALUE = /"(?:value|area_km2)":-?(?=[\d.]{1,15}[,}])(?:\d+\.)?\d*(\d)(?=[,}])/g;
const TIME = /"retrieved_at":"[^"]*\.(\d{6})Z"/g;
const META = '"meta":{';
const NEVER = '0000000000';
/** The last digit of values that don't change. It is never 0: a number that ends so may be written without. */
const USUAL = '5';

/** Finds the changing digits of a body, and gives it a place for the number of the answer. */
export function changing(sent: Buffer): Changing {
  // A character for each byte, so that places in the text are places in the body.
  const text = sent.toString('latin1');
  const meta = text.lastIndexOf(META);
  const at = meta + META.length;
  const counted = meta < 0 ? text : `${text.slice(0, at)}"serial":${NEVER},${text.slice(at)}`;
  const bytes = Buffer.from(counted, 'latin1');
  const digitsAt = placesOf(VALUE, counted);
  for (const place of digitsAt) bytes.write(USUAL, place, 'latin1');
  return {
    bytes,
    ...(meta < 0 ? {} : { serialAt: at + '"serial":'.length }),
    digitsAt,
    timesAt: placesOf(TIME, counted),
  };
}

function placesOf(form: RegExp, text: string): number[] {
  return [...text.matchAll(form)].map((found) => found.index + found[0].lastIndexOf(found[1] ?? ''));
}

/** The body of one answer. */
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
  // Answers of one address may have every second number, and are to change all rows in time.
  const first = (Math.imul(serial, 0x9e3779b1) >>> 16) % share;
  for (const at of chosen(digitsAt, first, share)) body.write(digit, at, 'latin1');
  for (const at of chosen(timesAt, first, share)) body.write(micros, at, 'latin1');
  return body;
}

function* chosen(places: readonly number[], first: number, share: number): Generator<number> {
  for (let row = first; row < places.length; row += share) yield places[row] as number;
}
