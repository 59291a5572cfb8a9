/** The length of a period; `span` is a range of days that is none of the others. */
export type Frequency = 'year' | 'half' | 'quarter' | 'month' | 'week' | 'day' | 'span';

/** The period that a figure is for. Days are `YYYY-MM-DD` of the Gregorian calendar, and sort as texts do. */
export interface Period {
  readonly frequency: Frequency;
  readonly firstDay: string;
  readonly lastDay: string;
  /**
   * Its one name, in any spelling: `2024`, `2024-H1`, `2024-Q3`, `2024-09`, `2024-W05`, `2024-09-01`,
   * `2024-01-01/2024-02-29`, `FY2024` of a fiscal year. It can be read itself.
   */
  readonly key: string;
}

/** Rows repeat their periods and times, which take long to read. Texts beyond a length are none. */
function memoize<Found>(most: number, maxLength: number, read: (text: string) => Found | null) {
  const cache = new Map<string, Found | null>();
  return (text: string): Found | null => {
    if (text.length > maxLength) return null;
    let cached = cache.get(text);
    if (cached === undefined) {
      cached = read(text);
      if (cache.size >= most) cache.clear();
      cache.set(text, cached);
    }
    return cached;
  };
}

/**
 * Reads a period as ISO 8601, SDMX and the World Bank spell it, in upper or lower case:
 *
 * - years `2024`; parts of them with `-`, a blank or nothing between, in either order: halves `2024-H1`, `2024S1`, quarters
 *   `2024Q3`, `Q3 2024`, months `2024M9`, weeks of ISO 8601 `2024-W05`; months `2024-09`
 * - days `2024-09-01`, `20240901`, `2024/09/01`, with a time or without
 * - fiscal years `2023/24`, `2023-2024`, `FY2024`, of which the year is that in which they end. They begin in July, as
 *   most do: no text names the day. `2011-12` is a month, as in ISO 8601; `2011/12` is a fiscal year
 * - ranges of any of them: `2020-2024`, `2024-01-01/2024-06-30`, `2024-01 to 2024-03`. A range that is just a year, a half
 *   and so on is that
 *
 * @returns null if no rule reads the text
 */
export const periodIn = memoize(8_192, 64, (text): Period | null => {
  const plain = plainOf(text);
  return single(plain) ?? range(plain);
});

interface OfPeriod {
  readonly year: number | null;
  readonly period: string | null;
}

/**
 * Reads the period of a row. If it doesn't name a year, the row does: `annual` is the whole of it, `Q3` a part.
 * @returns null if no rule reads it
 */
export function periodOf({ year, period }: OfPeriod): Period | null {
  const whole = year === null ? '' : fourDigits(year);
  const read = periodIn(period ?? whole);
  if (read !== null || year === null || period === null) return read;
  if (/^\s*(?:annual(?:ly)?|yearly|year|a)\s*$/i.test(period)) return periodIn(whole);
  return /^\s*[a-z]\d\d?\s*$/i.test(period) ? periodIn(`${period} ${whole}`) : null;
}

export function areReadable(rows: readonly OfPeriod[]): boolean {
  return rows.every((row) => periodOf(row) !== null);
}

/**
 * Moves a period by some years: 2023-Q3 for 2024-Q3 and -1.
 * @returns null if there is none, as of a week 53 or a 29 February
 */
export function shiftedPeriod({ key, frequency, firstDay, lastDay }: Period, years: number): Period | null {
  // Whole months stay whole: February has one day more or less.
  const isOfMonths =
    frequency === 'span' && [firstDay, daysAfter(lastDay, 1)].every((day) => day.endsWith('-01'));
  const name = isOfMonths ? `${firstDay.slice(0, 7)}/${lastDay.slice(0, 7)}` : key;
  return periodIn(name.replace(/\d{4}/g, (year) => fourDigits(Number(year) + years)));
}

/** The first rule that reads a text counts. */
const RULES: readonly (readonly [RegExp, (...parts: string[]) => Period | null])[] = [
  [/^(\d{4})a?$/, (year) => partOf(year, 'a', '1')],
  [/^(\d{4})[- ]?([a-z])(\d\d?)$/, (year, letter, n) => partOf(year, letter, n)],
  [/^([a-z])(\d\d?)[- /]?(\d{4})$/, (letter, n, year) => partOf(year, letter, n)],
  [/^(\d{4})-(\d\d)$/, (year, month) => partOf(year, 'm', month)],
  [/^(\d{4})([-/]?)(\d\d)\2(\d\d)$/, (year, _, month, day) => dayOf(`${year}-${month}-${day}`)],
  [/^(?:fy ?)?(\d{4})[-/](\d\d|\d{4})$/, (year, next) => fiscalOf(Number(year) + 1, next)],
  [/^fy ?(\d{4})$/, (year) => fiscalOf(Number(year), year)],
];

/** Reads a period that is no range. Only days may have a time of day. */
function single(plain: string): Period | null {
  const { day, isTimed } = splitClock(plain) ?? { day: '', isTimed: false };
  for (const [pattern, read] of RULES) {
    const match = pattern.exec(day);
    const period = match && read(...match.slice(1));
    if (period !== null) return isTimed && period.frequency !== 'day' ? null : period;
  }
  return null;
}

/** Reads a range of periods of one kind. */
function range(plain: string): Period | null {
  for (const separator of ['..', '--', ' to ', ' - ', '/', '-']) {
    const parts = plain.split(separator);
    const half = parts.length / 2;
    const [first, last] = [parts.slice(0, half), parts.slice(half)].map((some) =>
      single(some.join(separator).trim()),
    );
    if (first && first.frequency === last?.frequency && first.firstDay <= last.firstDay)
      return spanOf(first.firstDay, last.lastDay);
  }
  return null;
}

/** Parts of a year by the letters for them, of so many months, and their letter in names. */
const PARTS: Readonly<Record<string, readonly [months: number, Frequency, letter: string]>> = {
  a: [12, 'year', ''],
  h: [6, 'half', 'H'],
  s: [6, 'half', 'H'],
  q: [3, 'quarter', 'Q'],
  m: [1, 'month', ''],
};

function partOf(year: string, sent: string, sentNumber: string): Period | null {
  const number = Number(sentNumber);
  if (sent === 'w') return weekOf(year, number);
  const [months, frequency, letter] = PARTS[sent] ?? [13, 'span', ''];
  const first = (number - 1) * months + 1;
  if (number < 1 || first + months > 13) return null;
  const name = months === 1 ? twoDigits(number) : `${letter}${number}`;
  const key = months === 12 ? year : `${year}-${name}`;
  return named(frequency, iso(Number(year), first, 1), iso(Number(year), first + months, 0), key);
}

/** A week of ISO 8601: the first one contains 4 January, and each is of the year of its Thursday. */
function weekOf(year: string, number: number): Period | null {
  const fourth = `${year}-01-04`;
  const firstDay = daysAfter(fourth, (number - 1) * 7 - ((new Date(fourth).getUTCDay() + 6) % 7));
  const isOfYear = daysAfter(firstDay, 3).startsWith(year);
  return isOfYear ? named('week', firstDay, daysAfter(firstDay, 6), `${year}-W${twoDigits(number)}`) : null;
}

/** @returns null if there is no such day */
function dayOf(text: string): Period | null {
  return daysAfter(text, 0) === text ? named('day', text, text, text) : null;
}

/** A fiscal year by the year in which it ends, in two digits or four. */
function fiscalOf(year: number, sent: string): Period | null {
  const ending = fourDigits(year);
  return ending.endsWith(sent) ? named('year', iso(year - 1, 7, 1), iso(year, 6, 30), `FY${ending}`) : null;
}

/** The named period, if the days make one. */
function spanOf(firstDay: string, lastDay: string): Period | null {
  if (firstDay === lastDay) return dayOf(firstDay);
  const [year = '', month] = firstDay.split('-');
  for (const [letter, [months]] of Object.entries(PARTS)) {
    const part = partOf(year, letter, String(Math.ceil(Number(month) / months)));
    if (part?.firstDay === firstDay && part.lastDay === lastDay) return part;
  }
  return named('span', firstDay, lastDay, `${firstDay}/${lastDay}`);
}

/** Null if a day is beyond years of four digits. */
function named(frequency: Frequency, firstDay: string, lastDay: string, key: string): Period | null {
  return firstDay === '' || lastDay === '' ? null : { frequency, firstDay, lastDay, key };
}

/** In lower case, with plain dashes and single blanks. */
function plainOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .replace(/\s+/g, ' ')
    .trim();
}

const DAY_MS = 86_400_000;

/** Months and days beyond their year and month are those of the next one. */
function iso(year: number, month: number, day: number): string {
  return dayText(new Date(0).setUTCFullYear(year, month - 1, day));
}

/** Empty beyond years of four digits, and if there is no such day. */
function daysAfter(day: string, days: number): string {
  return dayText(Date.parse(day) + days * DAY_MS);
}

function dayText(ms: number): string {
  const text = Number.isNaN(ms) ? '' : new Date(ms).toISOString();
  return text.length === 24 ? text.slice(0, 10) : '';
}

const twoDigits = (number: number) => String(number).padStart(2, '0');
const fourDigits = (number: number) => String(number).padStart(4, '0');

/** Digits of a day and its time without marks between them. */
const COMPACT = /^(\d{8}|\d{4}-\d\d-\d\d)t?(\d\d)(\d\d)(?=$|\d\d|[-+z])/;

/** A time of day behind a day, and a zone, which may be named behind its offset, as in RFC 9557. */
const CLOCK =
  /(?:[t ]|t )([01]?\d|2[0-4]):([0-5]\d)(?::?([0-5]\d|60)(?:[.,](\d+))?)? ?(?:z|utc|gmt|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)?(?:\[[a-z_/+-]+\])?$/;

/** A day, and what is written behind it; null if the day has no such time. */
function splitClock(plain: string) {
  const match = CLOCK.exec(plain.replace(COMPACT, '$1t$2:$3'));
  if (match === null) return { day: plain, isTimed: false, ms: 0, fraction: '', precisionMs: DAY_MS };
  const [, hours, minutes, seconds = '', fraction = '', sign, ofHours = 0, ofMinutes = 0] = match;
  const clock = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  const inUtc = clock - (Number(ofHours) * 60 + Number(ofMinutes)) * (sign === '-' ? -60 : 60);
  if (hours === '24' && (clock > 86_400 || Number(fraction) > 0)) return null;
  // A leap second is the last second of a day of UTC.
  if (seconds === '60' && inUtc % 86_400 !== 0) return null;
  return {
    day: match.input.slice(0, match.index),
    isTimed: true,
    /** Since midnight UTC of that day. */
    ms: inUtc * 1_000 + Number(fraction.slice(0, 3).padEnd(3, '0')),
    fraction,
    /** What the text leaves open: a minute without seconds. */
    precisionMs: seconds === '' ? 60_000 : Math.max(1, 10 ** (3 - fraction.length)),
  };
}

/** As precise as the text. */
interface Time {
  /** The first instant that the text can mean, in milliseconds since the epoch. */
  readonly firstMs: number;
  /** The last one: a day later, less a millisecond, if the text names only a day. */
  readonly lastMs: number;
  /** The first instant in RFC 3339, UTC, with the fraction of a second as it was written. */
  readonly text: string;
}

/**
 * Reads a time as services write it: a day as periods are written, alone or with a time of day (minutes, seconds, a
 * fraction of any length, 24:00, a leap second, which is the next second here), with an offset, with `Z`, or without
 * any zone, which is UTC and never that of the machine; a date of HTTP. Digits alone are seconds since the epoch, or
 * milliseconds (10 or 13 of them), or `20261125060000`. A month or a year is no time.
 * @returns null if no rule reads the text
 */
export const timeIn = memoize(2_048, 128, (text): Time | null => {
  const parts = splitClock(plainOf(spelledOut(text)));
  const day = parts && periodIn(parts.day);
  if (parts === null || day?.frequency !== 'day') return null;
  const { ms, fraction, precisionMs } = parts;
  const firstMs = Date.parse(day.firstDay) + ms;
  const utc = new Date(firstMs).toISOString();
  // Years of RFC 3339 have four digits.
  if (utc.length !== 24) return null;
  const digits = fraction === '' ? '' : `.${fraction}`;
  return { firstMs, lastMs: firstMs + precisionMs - 1, text: `${utc.slice(0, 19)}${digits}Z` };
});

/** Numbers since the epoch and dates of HTTP as other times are written. */
function spelledOut(text: string): string {
  const isMs = /^\d{13}$/.test(text);
  const sinceEpoch = isMs || /^\d{10}$/.test(text) ? Number(text.padEnd(13, '0')) : httpDateIn(text);
  return sinceEpoch === null ? text : new Date(sinceEpoch).toISOString().slice(0, isMs ? 23 : 19);
}

/** Tells which of two times is later, by all digits: positive if the first is. One that can't be read is earliest. */
export function compareTimes(a: string, b: string): number {
  if (a === b) return 0;
  const [one, other] = [sortableOf(a), sortableOf(b)];
  return one < other ? -1 : Number(one > other);
}

/** Writes a time so that texts sort as times do: without its zone, and zeros at the end of its fraction. */
function sortableOf(text: string): string {
  const time = timeIn(text)?.text.slice(0, -1) ?? '';
  return time.includes('.') ? time.replace(/\.?0+$/, '') : time;
}

/** Reads a date of an HTTP header, in milliseconds since the epoch; null if it is none. */
export function httpDateIn(text: string): number | null {
  return text.endsWith(' GMT') && new Date(text).toUTCString() === text ? Date.parse(text) : null;
}
