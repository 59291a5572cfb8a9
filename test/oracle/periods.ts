/** Length of a period; `opaque`: a text that says nothing of days. */
export type Frequency = 'year' | 'fiscal' | 'half' | 'quarter' | 'month' | 'week' | 'day' | 'opaque';

/** A period as the world knows it, however it is spelled: the `nth` one of its frequency in a year, from 1 on. */
export interface Slot {
  readonly frequency: Frequency;
  readonly year: number;
  readonly nth: number;
}

/** Periods of a year. Of days there are two a month. */
export const STEPS: Readonly<Record<Frequency, number>> = {
  year: 1,
  fiscal: 1,
  half: 2,
  quarter: 4,
  month: 12,
  week: 52,
  day: 24,
  opaque: 1,
};

/** Frequencies from the longest on: of periods that end the same day, the longer one is the later. */
const LENGTHS: readonly Frequency[] = ['year', 'fiscal', 'half', 'quarter', 'month', 'week', 'day', 'opaque'];

export function isLonger(a: Slot, b: Slot): number {
  return LENGTHS.indexOf(b.frequency) - LENGTHS.indexOf(a.frequency);
}

/** A name that is equal for two periods if they are the same one. */
export function nameOf({ frequency, year, nth }: Slot): string {
  return `${frequency} ${year} ${nth}`;
}

/** The same period of another year. */
export function shifted(slot: Slot, years: number): Slot {
  return { ...slot, year: slot.year + years };
}

/** The last day, as a text that sorts. A text that says nothing of days ends with its year. */
export function lastDayOf({ frequency, year, nth }: Slot): string {
  switch (frequency) {
    case 'half':
    case 'quarter':
    case 'month':
      return endOfMonth(year, nth * (12 / STEPS[frequency]));
    case 'week':
      return sundayOf(year, nth);
    case 'day':
      return dayOf(year, nth);
    case 'fiscal':
      return `${year}-06-30`;
    default:
      return `${year}-12-31`;
  }
}

function firstDayOf(slot: Slot): string {
  const { frequency, year, nth } = slot;
  if (frequency === 'day') return dayOf(year, nth);
  const months = 12 / STEPS[frequency];
  return `${year}-${two((nth - 1) * months + 1)}-01`;
}

function endOfMonth(year: number, month: number): string {
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
}

/** The last day of a week: the first one holds the fourth of January. */
function sundayOf(year: number, nth: number): string {
  const fourth = new Date(Date.UTC(year, 0, 4));
  const monday = Date.UTC(year, 0, 4 - ((fourth.getUTCDay() + 6) % 7));
  return new Date(monday + (nth * 7 - 1) * 864e5).toISOString().slice(0, 10);
}

/** The tenth and the last day of each month; of February one that every year has. */
function dayOf(year: number, nth: number): string {
  const month = Math.ceil(nth / 2);
  if (nth % 2 === 1) return `${year}-${two(month)}-10`;
  return month === 2 ? `${year}-02-28` : endOfMonth(year, month);
}

const two = (n: number) => `${n}`.padStart(2, '0');

/** Words that no rule reads, though people do. An opaque period is the `nth` of them. */
const OPAQUE = ['provisional', 'long rains', 'second harvest', 'school term', 'since the census'];

export const OPAQUE_WORDS = OPAQUE.length;

/** The ways to spell a period, the usual one first. */
export function spellings(slot: Slot): readonly string[] {
  const { frequency, year, nth } = slot;
  switch (frequency) {
    case 'year':
      return [`${year}`, `${year}-A1`, `${year}A`, 'annual', `${year}-01-01/${year}-12-31`];
    case 'fiscal':
      // Runs from July to June, as most of them; the year is that in which it ends.
      return [`${year - 1}/${year}`];
    case 'half':
      return [`${year}-S${nth}`, `${year}S${nth}`, `${year}H${nth}`, `${year}-H${nth}`, `H${nth} ${year}`];
    case 'quarter':
      return [
        `${year}-Q${nth}`,
        `${year}Q${nth}`,
        `Q${nth} ${year}`,
        `${year} Q${nth}`,
        `Q${nth}/${year}`,
        `${year}-q${nth}`,
        `${firstDayOf(slot)}/${lastDayOf(slot)}`,
        `${firstDayOf(slot)} to ${lastDayOf(slot)}`,
      ];
    case 'month':
      return [
        `${year}-${two(nth)}`,
        `${year}M${two(nth)}`,
        `${year}M${nth}`,
        `${year}-M${two(nth)}`,
        `M${two(nth)} ${year}`,
        `${firstDayOf(slot)}..${lastDayOf(slot)}`,
      ];
    case 'week':
      return [`${year}-W${two(nth)}`, `${year}W${two(nth)}`, `${year}W${nth}`, `W${two(nth)} ${year}`];
    case 'day': {
      const day = lastDayOf(slot);
      return [day, day.replaceAll('-', ''), day.replaceAll('-', '/'), `${day}T00:00:00Z`];
    }
    case 'opaque':
      return [OPAQUE[nth - 1] as string];
  }
}

/** One of the ways to spell a period. */
export function spelledAs(slot: Slot, way: number): string {
  const ways = spellings(slot);
  return ways[way % ways.length] as string;
}
