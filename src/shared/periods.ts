/** The length of a period; `span` is a range of days that is none of the others. */
export type Frequency = 'year' | 'half' | 'third' | 'quarter' | 'month' | 'week' | 'day' | 'span';

/** The period that a figure is for. Days are `YYYY-MM-DD` of the Gregorian calendar, and sort as texts do. */
export interface Period {
  readonly frequency: Frequency;
  readonly firstDay: string;
  readonly lastDay: string;
  /**
   * Its one name, in any spelling: `2024`, `2024-H1`, `2024-T1`, `2024-Q3`, `2024-09`, `2024-W05`, `2024-09-01`,
   * `2024-01-01/2024-02-29`, `FY2024` of a fiscal year. It can be read itself.
   */
  readonly key: string;
}

const MAX_LENGTH = 64;

/** Rows repeat their periods and times, which take long to read. */
function memoize<Found>(most: number, read: (text: string) => Found): (text: string) => Found {
  const cache = new Map<string, Found>();
  return (text) => {
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
 * Reads a period as the service, SDMX, the World Bank and Eurostat spell it; upper or lower case, mostly with `-`, `/`, `.`,
 * `_`, a blank or nothing between its parts:
 *
 * - years `2024`, `2024-A1`; halves `2024-H1`, `2024S1`, `H1 2024`; quarters `2024Q3`, `Q3/2024`, `3Q2024`, `2024K3`; weeks
 *   of ISO 8601 `2024-W05`, `2024U05`; months `2024-09`, `2024M9`, `202409`, `09/2024`, `Sep 2024`, `septembre 2024`
 * - `T` as SDMX and Eurostat have it, a third of a year (`2024-T1` to `T3`)
 * - days `2024-09-01`, `20240901`, `1 September 2024`, `2024-D245`, with a time or without; `31/12/2024` and
 *   `12/31/2024`, if just one of both ways is a day
 * - fiscal years `2023/24`, `2023-2024`, `FY2024`, of which the year is that in which they end. They begin in July, as
 *   most do: no text names the day. `2011-12` is a month, as in ISO 8601; `2011/12` is a fiscal year
 * - ranges of any of them: `2020-2024`, `2024-01-01/2024-06-30`, `2024-01 to 2024-03`, `2024-09-01/P1M`. A range that is
 *   just a year, a half and so on is that
 *
 * @returns null if no rule reads the text
 */
export function periodIn(text: string): Period | null {
  return text.length > MAX_LENGTH ? null : cachedPeriod(text);
}

const cachedPeriod = memoize(8_192, (text) => {
  const plain = plainOf(text);
  return single(plain) ?? range(plain);
});

/**
 * Reads the period of a row. If it doesn't name a year, the row does: `annual` is the whole of it, `Q3` a part.
 * @returns null if no rule reads it
 */
export function periodOf({
  year,
  period,
}: {
  readonly year: number | null;
  readonly period: string | null;
}): Period | null {
  const whole = year === null ? '' : String(year).padStart(4, '0');
  if (period === null) return periodIn(whole);
  const read = periodIn(period);
  if (read !== null || year === null || period.length > MAX_LENGTH) return read;
  const plain = plainOf(period);
  if (WHOLE_YEAR.has(plain)) return periodIn(whole);
  return /^[a-z]/.test(plain) && !/\d{3}/.test(plain) ? periodIn(`${plain} ${whole}`) : null;
}

export function areReadable(rows: readonly { readonly year: number; readonly period: string }[]): boolean {
  return rows.every((row) => periodOf(row) !== null);
}

/**
 * Moves a period by some years: 2023-Q3 for 2024-Q3 and -1.
 * @returns null if there is none, as of a week 53 or a 29 February
 */
export function shiftedPeriod({ key, frequency, firstDay, lastDay }: Period, years: number): Period | null {
  if (frequency !== 'span') return periodIn(laterBy(years, key));
  // Whole months stay whole: February has one day more or less.
  const isOfMonths = firstDay.endsWith('-01') && isLastOfMonth(lastDay);
  const first = single(laterBy(years, firstDay));
  const last = single(laterBy(years, isOfMonths ? lastDay.slice(0, 7) : lastDay));
  return first && last && spanOf(first.firstDay, last.lastDay);
}

function laterBy(years: number, text: string): string {
  return text.replace(/\d{4}/, (year) => {
    const later = Number(year) + years;
    return later >= 0 ? String(later).padStart(4, '0') : '';
  });
}

const WHOLE_YEAR = new Set('annual annually yearly year a annuel annuelle anual'.split(' '));

/** Units by the letters for them. */
const UNITS: Readonly<Record<string, Unit>> = {
  ...{ a: 'a', y: 'a', h: 'h', s: 'h', t: 't', q: 'q', k: 'q', m: 'm', w: 'w', u: 'w', d: 'd' },
};

/** In English and French; they may be abbreviated. */
const MONTHS =
  'january janvier|february fevrier|march mars|april avril|may mai|june juin|july juillet|august aout|september septembre|october octobre|november novembre|december decembre'
    .split('|')
    .map((names) => names.split(' '));

/** The number of the month that begins like this; empty if there is none, or several. */
function monthNamed(text: string): string {
  const matches = MONTHS.flatMap((names, i) => (names.some((name) => name.startsWith(text)) ? i + 1 : []));
  return text.length >= 3 && matches.length === 1 ? String(matches[0]) : '';
}

type Reader = (a: string, b: string, c: string, d: string) => Period | null;

/** In the pattern, `_` stands for an optional separator. */
function rule(pattern: string, read: Reader): readonly [RegExp, Reader] {
  return [new RegExp(`^${pattern.replaceAll('_', '[-/._: ]?')}$`), read];
}

const FISCAL = '(?:fy|fiscal year)';

/** The first rule that reads a text counts. */
const RULES = [
  rule('(\\d{4})(?:_[ay]1?)?', (year) => unitOf(year, 'a', '1')),
  rule('(\\d{4})_([a-z])(\\d{1,3})', (year, letter, n) => partOf(year, letter, n)),
  rule('([a-z])(\\d{1,3})_(\\d{4})', (letter, n, year) => partOf(year, letter, n)),
  rule('(\\d{1,2})([a-z])_(\\d{4})', (n, letter, year) => partOf(year, letter, n)),
  rule('(\\d{4})/(\\d\\d|\\d{4})', (year, next) => fiscalOf(year, next)),
  rule('(\\d{4})_(\\d\\d)', (year, month) => unitOf(year, 'm', month)),
  rule('(\\d{4})[-/](\\d)', (year, month) => unitOf(year, 'm', month)),
  rule('(\\d{1,2})[-/. ](\\d{4})', (month, year) => unitOf(year, 'm', month)),
  rule('([a-z]{3,9})\\.?_(\\d{4})', (name, year) => unitOf(year, 'm', monthNamed(name))),
  rule('(\\d{4})_([a-z]{3,9})', (year, name) => unitOf(year, 'm', monthNamed(name))),
  rule('(\\d{4})([-/. ]?)(\\d\\d)\\2(\\d\\d)', (year, _, month, day) => dayOf(year, month, day)),
  rule('(\\d{1,2})([-/. ])(\\d{1,2})\\2(\\d{4})', (a, _, b, year) => dayOfEither(a, b, year)),
  rule('(\\d{1,2})[- ]([a-z]{3,9})\\.?[- ](\\d{4})', (day, name, year) => dayOf(year, monthNamed(name), day)),
  rule('([a-z]{3,9})\\.? (\\d{1,2}),? (\\d{4})', (name, day, year) => dayOf(year, monthNamed(name), day)),
  rule(`${FISCAL}? ?(\\d{4})[-/](\\d\\d|\\d{4})`, (year, next) => fiscalOf(year, next)),
  rule(`${FISCAL} ?(\\d{4})`, (year) => fiscalEnding(Number(year))),
];

/** Reads a period that is no range. Only days may have a time of day. */
function single(text: string): Period | null {
  const parts = splitClock(text);
  if (parts === null) return null;
  for (const [pattern, read] of RULES) {
    const match = pattern.exec(parts.day);
    const period = match && read(...(match.slice(1) as [string, string, string, string]));
    if (period !== null) return parts.clock === null || period.frequency === 'day' ? period : null;
  }
  return null;
}

function partOf(year: string, letter: string, number: string): Period | null {
  const unit = UNITS[letter];
  return unit === undefined || (unit === 'a' && number !== '1') ? null : unitOf(year, unit, number);
}

/** Null if either number may be the month. */
function dayOfEither(a: string, b: string, year: string): Period | null {
  if (Number(a) > 12 || a === b) return dayOf(year, b, a);
  return Number(b) > 12 ? dayOf(year, a, b) : null;
}

/** A fiscal year that is named by both of its years, the second in two digits or four. */
function fiscalOf(year: string, next: string): Period | null {
  const after = String(Number(year) + 1).padStart(4, '0');
  return after.endsWith(next) ? fiscalEnding(Number(after)) : null;
}

function fiscalEnding(year: number): Period | null {
  return year < 1 ? null : ofMonths(year - 1, 7, 12, 'year', `FY${iso(year, 1, 1).slice(0, 4)}`);
}

const RANGES = ['..', '--', ' to ', ' - ', '/', '-'];

/** Reads a range of periods of one kind, or a duration from the first day of one. */
function range(text: string): Period | null {
  for (const separator of RANGES) {
    const parts = text.split(separator);
    if (parts.length % 2 !== 0) continue;
    const half = parts.length / 2;
    const from = parts.slice(0, half).join(separator).trim();
    const to = parts.slice(half).join(separator).trim();
    const [first, last] = [single(from), single(to)];
    const until = first && separator === '/' ? afterDuration(first.firstDay, to) : null;
    if (first && until) return spanOf(first.firstDay, until);
    if (first && last && first.frequency === last.frequency && first.firstDay <= last.firstDay)
      return spanOf(first.firstDay, last.lastDay);
  }
  return null;
}

/** The last day of a duration of ISO 8601. */
function afterDuration(firstDay: string, text: string): string | null {
  const [, count = '0', unit = ''] = /^p(\d{1,4})([ymwd])$/.exec(text) ?? [];
  const [year = 0, month = 0, day = 0] = firstDay.split('-').map(Number);
  const by = { y: 0, m: 0, w: 0, d: 0, [unit]: Number(count) };
  const end = daysAfter(iso(year + by.y, month + by.m, day), by.w * 7 + by.d - 1);
  return end >= firstDay ? end : null;
}

type Unit = 'a' | 'h' | 't' | 'q' | 'm' | 'w' | 'd';

/** Of units of whole months. */
const MONTHS_OF = { a: 12, h: 6, t: 4, q: 3, m: 1 } as const;

const NAMES = { a: 'year', h: 'half', t: 'third', q: 'quarter', m: 'month' } as const;

function unitOf(yearText: string, unit: Unit, numberText: string): Period | null {
  const [year, number] = [Number(yearText), Number(numberText)];
  if (number < 1) return null;
  if (unit === 'd') {
    const day = daysAfter(iso(year, 1, 1), number - 1);
    return Number(day.slice(0, 4)) === year && number <= 366 ? spanOf(day, day) : null;
  }
  if (unit === 'w') return weekOf(year, number);
  const months = MONTHS_OF[unit];
  const key = unit === 'm' ? twoDigits(number) : `${unit.toUpperCase()}${number}`;
  const first = (number - 1) * months + 1;
  if (first + months > 13) return null;
  const named = unit === 'a' ? iso(year, 1, 1).slice(0, 4) : `${iso(year, 1, 1).slice(0, 4)}-${key}`;
  return ofMonths(year, first, months, NAMES[unit], named);
}

function ofMonths(
  year: number,
  first: number,
  months: number,
  frequency: Frequency,
  key: string,
): Period | null {
  const [firstDay, lastDay] = [iso(year, first, 1), iso(year, first + months, 0)];
  return firstDay.length + lastDay.length === 20 ? { frequency, firstDay, lastDay, key } : null;
}

/** A week of ISO 8601: the first one contains 4 January, and each is of the year of its Thursday. */
function weekOf(year: number, number: number): Period | null {
  const firstDay = daysAfter(mondayBefore(iso(year, 1, 4)), (number - 1) * 7);
  const lastDay = daysAfter(firstDay, 6);
  if (number > 53 || Number(daysAfter(firstDay, 3).slice(0, 4)) !== year || lastDay === '') return null;
  const key = `${iso(year, 1, 1).slice(0, 4)}-W${twoDigits(number)}`;
  return { frequency: 'week', firstDay, lastDay, key };
}

/** @returns null if there is no such day */
function dayOf(year: string, month: string, day: string): Period | null {
  const [m, d] = [Number(month), Number(day)];
  const text = iso(Number(year), m, d);
  return text === `${year}-${twoDigits(m)}-${twoDigits(d)}` ? spanOf(text, text) : null;
}

/** The named period, if the days make one. */
function spanOf(firstDay: string, lastDay: string): Period | null {
  if (firstDay.length !== 10 || lastDay.length !== 10 || firstDay > lastDay) return null;
  if (firstDay === lastDay) return { frequency: 'day', firstDay, lastDay, key: firstDay };
  const [year = 0, month = 0, day = 0] = firstDay.split('-').map(Number);
  if (day === 1 && isLastOfMonth(lastDay) && firstDay.slice(0, 4) === lastDay.slice(0, 4)) {
    const months = Number(lastDay.slice(5, 7)) - month + 1;
    for (const unit of ['a', 'h', 't', 'q', 'm'] as const) {
      if (MONTHS_OF[unit] === months && (month - 1) % months === 0)
        return unitOf(String(year), unit, String((month - 1) / months + 1));
    }
  }
  return { frequency: 'span', firstDay, lastDay, key: `${firstDay}/${lastDay}` };
}

/** In lower case and without accents, with plain dashes and single blanks. */
function plainOf(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .replace(/\s+/g, ' ')
    .trim();
}

/** A time of day, as precise as it was written. */
interface TimeOfDay {
  /** Seconds since midnight; a day of them for 24:00. */
  readonly seconds: number;
  readonly fraction: string;
  /** A minute, if no seconds are written; a day, if there is only a zone. */
  readonly precisionMs: number;
  /** Minutes ahead of UTC; 0 if no zone is named. */
  readonly offsetMinutes: number;
}

/** A zone, which may be named behind its offset, as in RFC 9557. */
const ZONE = ' ?(z|utc|gmt|[+-]\\d\\d(?::?\\d\\d)?)?(?:\\[[a-z_/+-]+\\])?$';
const CLOCK = new RegExp(`(?:[t ]|t )(\\d{1,2}):(\\d\\d)(?::(\\d\\d)(?:[.,](\\d+))?)?${ZONE}`);
const COMPACT = new RegExp(`(?<=\\d{8}|-\\d\\d)t(\\d\\d)(\\d\\d)(?:(\\d\\d)(?:[.,](\\d+))?)?${ZONE}`);
/** A zone behind a day, as in XML Schema. */
const ZONED = /(?<=\d)()()()()(z|[+-]\d\d:\d\d)$/;

/** Null if the day has no such time. */
function splitClock(plain: string): { readonly day: string; readonly clock: TimeOfDay | null } | null {
  const match = CLOCK.exec(plain) ?? COMPACT.exec(plain) ?? ZONED.exec(plain);
  if (match === null) return { day: plain, clock: null };
  const [, hours = '', minutes = '', seconds, fraction = '', zone] = match;
  const [h, m, s] = [Number(hours), Number(minutes), Number(seconds ?? 0)];
  const offsetMinutes = offsetOf(zone ?? '');
  const isLast = h === 24 && m === 0 && s === 0 && Number(fraction) === 0;
  if ((h > 23 && !isLast) || m > 59 || s > 60 || offsetMinutes === null) return null;
  const total = h * 3_600 + m * 60 + s;
  // A leap second is the last second of a day of UTC.
  if (s === 60 && (total - offsetMinutes * 60) % 86_400 !== 0) return null;
  const precisionMs = hours === '' ? DAY_MS : seconds === undefined ? 60_000 : precisionOf(fraction);
  return {
    day: plain.slice(0, match.index),
    clock: { seconds: total, fraction, precisionMs, offsetMinutes },
  };
}

/** Milliseconds that a fraction of a second leaves open. */
function precisionOf(fraction: string): number {
  return Math.max(1, 10 ** (3 - fraction.length));
}

function offsetOf(zone: string): number | null {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  if (sign === undefined) return 0;
  if (Number(hours) > 23 || Number(minutes) > 59) return null;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

const DAY_MS = 86_400_000;

/** Months and days beyond their year and month are those of the next one. */
function iso(year: number, month: number, day: number): string {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return dayText(date);
}

function dayText(date: Date): string {
  const text = Number.isNaN(date.getTime()) ? '' : date.toISOString();
  return text.length === 24 ? text.slice(0, 10) : '';
}

function daysAfter(day: string, days: number): string {
  return dayText(new Date((daysOf(day) + days) * DAY_MS));
}

function daysOf(day: string): number {
  const [year = Number.NaN, month = 1, date = 1] = day === '' ? [] : day.split('-').map(Number);
  return new Date(0).setUTCFullYear(year, month - 1, date) / DAY_MS;
}

function mondayBefore(day: string): string {
  // 1 January 1970 was a Thursday.
  return daysAfter(day, -((((daysOf(day) + 3) % 7) + 7) % 7));
}

function isLastOfMonth(day: string): boolean {
  return daysAfter(day, 1).endsWith('-01');
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
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

const MAX_TIME_LENGTH = 128;

/**
 * Reads a time as services write it: a day as periods are written, alone or with a time of day (minutes, seconds, a
 * fraction of any length, 24:00, a leap second, which is the next second here), with an offset, with `Z`, or without
 * any zone, which is UTC and never that of the machine. Digits alone are seconds since the epoch, or milliseconds (10
 * or 13 of them), or `20261125060000`. A month or a year is no time.
 * @returns null if no rule reads the text
 */
export function timeIn(text: string): Time | null {
  return text.length > MAX_TIME_LENGTH ? null : cachedTime(text);
}

const cachedTime = memoize(2_048, (text) => canonical(text) ?? read(plainOf(text).replace(WEEKDAY, '')));

/** Reads a time that is in our own format already, as most are. */
function canonical(text: string): Time | null {
  const [, second, fraction = ''] = CANONICAL.exec(text) ?? [];
  if (second === undefined) return null;
  const secondMs = Date.parse(`${second}Z`);
  // JavaScript takes days beyond their month for those of the next.
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

/** Tells which of two times is later, by all digits: positive if the first is. One that can't be read is earliest. */
export function compareTimes(a: string, b: string): number {
  if (a === b) return 0;
  const [one, other] = [sortableOf(a), sortableOf(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Writes a time so that texts sort as times do: without its zone, and zeros at the end of its fraction. */
function sortableOf(text: string): string {
  const time = timeIn(text)?.text.slice(0, -1) ?? '';
  return time.includes('.') ? time.replace(/\.?0+$/, '') : time;
}

/** Reads a date of an HTTP header, in milliseconds since the epoch; null if it is none. */
export function httpDateIn(text: string): number | null {
  return / gmt$/i.test(text.trim()) ? (timeIn(text)?.firstMs ?? null) : null;
}
