import { DAY_MS, daysOf, periodIn, plainOf, precisionOf, remembering, splitClock } from './periods.ts';

/** An instant, as precisely as a text names it. Milliseconds since the epoch. */
interface Time {
  /** The first instant that the text can mean. */
  readonly firstMs: number;
  /** The last one: a day later, but for a millisecond, if the text names the day alone. */
  readonly lastMs: number;
  /** The first instant by RFC 3339 in UTC, with the fraction of a second as it was written. */
  readonly text: string;
}

/** Characters beyond which a text is no time. */
const MAX_LENGTH = 128;

/**
 * Reads a time as services write it: a day as periods are written, alone or with a time of day (minutes, seconds, a
 * fraction of any length, 24:00, a leap second, which is the next second here), with an offset, with `Z`, or without
 * any zone, which is UTC and never that of the machine. Digits alone are seconds since the epoch, or milliseconds (10
 * or 13 of them), or `20261125060000`. A month or a year is no time.
 * @returns null if no rule reads the text
 */
export function timeIn(text: string): Time | null {
  return text.length > MAX_LENGTH ? null : known(text);
}

const known = remembering(2_048, (text) => canonical(text) ?? read(plainOf(text).replace(WEEKDAY, '')));

/** Reads a time that is as it leaves: the service mostly writes such. */
function canonical(text: string): Time | null {
  const [, second, fraction = ''] = CANONICAL.exec(text) ?? [];
  if (second === undefined) return null;
  const secondMs = Date.parse(`${second}Z`);
  // Days beyond their month are taken for those of the next.
  if (Number.isNaN(secondMs) || new Date(secondMs).toISOString().slice(0, 19) !== second) return null;
  return timeOf(secondMs + thousandths(fraction), fraction, precisionOf(fraction));
}

const CANONICAL = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?Z$/;

function thousandths(fraction: string): number {
  return Number(fraction.slice(0, 3).padEnd(3, '0'));
}

const WEEKDAY = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? (?=[\da-z])/;

function read(plain: string): Time | null {
  if (/^\d{10}$|^\d{13}$/.test(plain)) {
    const precisionMs = plain.length === 10 ? 1_000 : 1;
    return timeOf(Number(plain) * precisionMs, plain.length === 10 ? '' : plain.slice(10), precisionMs);
  }
  const parts = splitClock(plain.replace(/^(\d{8})(\d{4}(?:\d\d)?)$/, '$1t$2'));
  const day = parts === null ? null : periodIn(parts.day);
  if (parts === null || day?.frequency !== 'day') return null;
  const { seconds, fraction, precisionMs, offsetMinutes } = parts.clock ?? WHOLE_DAY;
  const wholeMs = daysOf(day.firstDay) * DAY_MS + (seconds - offsetMinutes * 60) * 1_000;
  return timeOf(wholeMs + thousandths(fraction), fraction, precisionMs);
}

const WHOLE_DAY = { seconds: 0, fraction: '', precisionMs: DAY_MS, offsetMinutes: 0 };

/** @param fraction digits of the second's fraction, which may be more than milliseconds */
function timeOf(firstMs: number, fraction: string, precisionMs: number): Time | null {
  const sent = Math.abs(firstMs) < MAX_MS ? new Date(firstMs).toISOString() : '';
  // Years of RFC 3339 have four digits.
  if (sent.length !== 24) return null;
  const text = `${sent.slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}Z`;
  return { firstMs, lastMs: firstMs + precisionMs - 1, text };
}

/** Milliseconds beyond which there are no dates. */
const MAX_MS = 8_640_000_000_000_000;

/**
 * Tells which of two times is later, by all digits of their fractions: positive if the first is. One that can't be read
 * is the earliest.
 */
export function compareTimes(a: string, b: string): number {
  if (a === b) return 0;
  const [one, other] = [sortableOf(a), sortableOf(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

/**
 * Writes a time so that texts sort as times do: without its zone, which is UTC, and without zeros at the end of its
 * fraction.
 */
function sortableOf(text: string): string {
  const time = timeIn(text)?.text.slice(0, -1) ?? '';
  return time.includes('.') ? time.replace(/\.?0+$/, '') : time;
}

/** Reads a date of an HTTP header, in any of its three forms, in milliseconds since the epoch; null if it is none. */
export function httpDateIn(text: string): number | null {
  const plain = text.trim().replace(/\s+/g, ' ').slice(0, MAX_LENGTH);
  const asctime = /^[a-z]{3} ([a-z]{3}) (\d{1,2}) ([\d:]{8}) (\d{4})$/i.exec(plain);
  if (asctime !== null) return dateMs(`${asctime[2]} ${asctime[1]} ${asctime[4]} ${asctime[3]}`);
  const rfc850 = /^[a-z]{6,9}, (\d\d)-([a-z]{3})-(\d\d) ([\d:]{8}) gmt$/i.exec(plain);
  if (rfc850 === null) return / gmt$/i.test(plain) ? dateMs(plain) : null;
  const century = Number(rfc850[3]) < 70 ? 20 : 19;
  return dateMs(`${rfc850[1]} ${rfc850[2]} ${century}${rfc850[3]} ${rfc850[4]}`);
}

function dateMs(text: string): number | null {
  return timeIn(text)?.firstMs ?? null;
}
