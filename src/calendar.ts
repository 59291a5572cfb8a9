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

/** Units of periods by a letter each: `b` is two months. */
export type Unit = 'a' | 'h' | 't' | 'q' | 'b' | 'm' | 'w' | 'd';

/** Months of a unit that is of whole months. */
export const MONTHS_OF = { a: 12, h: 6, t: 4, q: 3, b: 2, m: 1 } as const;

export const NAMES = {
  a: 'year',
  h: 'half',
  t: 'third',
  q: 'quarter',
  b: 'span',
  m: 'month',
  w: 'week',
  d: 'day',
} as const;

export function unitOf(yearText: string, unit: Unit, numberText: string): Period | null {
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
  if (unit === 'b') return spanOf(iso(year, first, 1), iso(year, first + 2, 0));
  const named = unit === 'a' ? iso(year, 1, 1).slice(0, 4) : `${iso(year, 1, 1).slice(0, 4)}-${key}`;
  return ofMonths(year, first, months, NAMES[unit], named);
}

export function ofMonths(
  year: number,
  first: number,
  months: number,
  frequency: Frequency,
  key: string,
): Period | null {
  const [firstDay, lastDay] = [iso(year, first, 1), iso(year, first + months, 0)];
  return firstDay.length + lastDay.length === 20 ? { frequency, firstDay, lastDay, key } : null;
}

/** Makes a week of ISO 8601: the first one has the 4 January. */
function weekOf(year: number, number: number): Period | null {
  const monday = daysAfter(mondayBefore(iso(year, 1, 4)), (number - 1) * 7);
  const named = number <= 53 ? weekFrom(monday) : null;
  return named?.key === `${iso(year, 1, 1).slice(0, 4)}-W${twoDigits(number)}` ? named : null;
}

/** Makes the week that begins with a Monday: it is of the year that its Thursday is of. */
function weekFrom(firstDay: string): Period | null {
  const [lastDay, thursday] = [daysAfter(firstDay, 6), daysAfter(firstDay, 3)];
  if (firstDay.length + lastDay.length !== 20) return null;
  const ordinal = (daysOf(thursday) - daysOf(`${thursday.slice(0, 4)}-01-01`)) / 7;
  return {
    frequency: 'week',
    firstDay,
    lastDay,
    key: `${thursday.slice(0, 4)}-W${twoDigits(Math.floor(ordinal) + 1)}`,
  };
}

/** @returns null if there is no such day */
export function dayOf(year: string, month: string, day: string): Period | null {
  const [m, d] = [Number(month), Number(day)];
  const text = iso(Number(year), m, d);
  return text === `${year}-${twoDigits(m)}-${twoDigits(d)}` ? spanOf(text, text) : null;
}

/** Makes the period from one day to another: the one with a name, if it is just that. */
export function spanOf(firstDay: string, lastDay: string): Period | null {
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
  if (daysOf(lastDay) - daysOf(firstDay) === 6 && mondayBefore(firstDay) === firstDay)
    return weekFrom(firstDay);
  return { frequency: 'span', firstDay, lastDay, key: `${firstDay}/${lastDay}` };
}

/** Writes a text in lower case and without accents, with plain dashes and single blanks. */
export function plainOf(text: string): string {
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
  /** Digits of a fraction of a second. */
  readonly fraction: string;
  /**
   * Milliseconds for which it may be that time: a minute, if no seconds are written; a day, if there is a zone alone.
   */
  readonly precisionMs: number;
  /** Minutes by which it is later there than in UTC; 0 if no zone is named, which means UTC. */
  readonly offsetMinutes: number;
}

/** The pattern of a zone, which may be named behind its offset, as RFC 9557 has it. */
const ZONE = ' ?(z|utc|gmt|[+-]\\d\\d(?::?\\d\\d)?)?(?:\\[[a-z_/+-]+\\])?$';
const CLOCK = new RegExp(`(?:[t ]|t )(\\d{1,2}):(\\d\\d)(?::(\\d\\d)(?:[.,](\\d+))?)?${ZONE}`);
const COMPACT = new RegExp(`(?<=\\d{8}|-\\d\\d)t(\\d\\d)(\\d\\d)(?:(\\d\\d)(?:[.,](\\d+))?)?${ZONE}`);
/** The pattern of a zone behind a day, as XML Schema has it. */
const ZONED = /(?<=\d)()()()()(z|[+-]\d\d:\d\d)$/;

/**
 * Splits a plain text into its day, and the time of day behind it, if there is one. Days, periods and times are written
 * alike.
 * @returns null if the day has no such time
 */
export function splitClock(plain: string): { readonly day: string; readonly clock: TimeOfDay | null } | null {
  const found = CLOCK.exec(plain) ?? COMPACT.exec(plain) ?? ZONED.exec(plain);
  if (found === null) return { day: plain, clock: null };
  const [, hours = '', minutes = '', seconds, fraction = '', zone] = found;
  const [h, m, s] = [Number(hours), Number(minutes), Number(seconds ?? 0)];
  const offsetMinutes = offsetOf(zone ?? '');
  const isLast = h === 24 && m === 0 && s === 0 && Number(fraction) === 0;
  if ((h > 23 && !isLast) || m > 59 || s > 60 || offsetMinutes === null) return null;
  const total = h * 3_600 + m * 60 + s;
  // A leap second is the last one of a day of UTC.
  if (s === 60 && (total - offsetMinutes * 60) % 86_400 !== 0) return null;
  const precisionMs = hours === '' ? DAY_MS : seconds === undefined ? 60_000 : precisionOf(fraction);
  return {
    day: plain.slice(0, found.index),
    clock: { seconds: total, fraction, precisionMs, offsetMinutes },
  };
}

/** Counts the milliseconds that a second with these digits of a fraction may be any of. */
export function precisionOf(fraction: string): number {
  return Math.max(1, 10 ** (3 - fraction.length));
}

function offsetOf(zone: string): number | null {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  if (sign === undefined) return 0;
  if (Number(hours) > 23 || Number(minutes) > 59) return null;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

export const DAY_MS = 86_400_000;

/** Writes a day. Months and days beyond their year and month are of the next one. */
export function iso(year: number, month: number, day: number): string {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return dayText(date);
}

function dayText(date: Date): string {
  const text = Number.isNaN(date.getTime()) ? '' : date.toISOString();
  return text.length === 24 ? text.slice(0, 10) : '';
}

export function daysAfter(day: string, days: number): string {
  return dayText(new Date((daysOf(day) + days) * DAY_MS));
}

/** Counts the days since the epoch. */
export function daysOf(day: string): number {
  const [year = Number.NaN, month = 1, date = 1] = day === '' ? [] : day.split('-').map(Number);
  return new Date(0).setUTCFullYear(year, month - 1, date) / DAY_MS;
}

function mondayBefore(day: string): string {
  // 1 January 1970 was a Thursday.
  return daysAfter(day, -((((daysOf(day) + 3) % 7) + 7) % 7));
}

export function isLastOfMonth(day: string): boolean {
  return daysAfter(day, 1).endsWith('-01');
}

export function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
