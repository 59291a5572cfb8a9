import { Failure } from '../../errors.ts';
import type { YearsParams } from '../../upstream/extra/years.ts';

const FIRST_YEAR = 1900;
const LAST_YEAR = 2100;

const MAX_TOP = 20;

export interface YearsArgs {
  readonly fromYear?: number | null | undefined;
  readonly toYear?: number | null | undefined;
}

/** @throws Failure BAD_USER_INPUT if they are no years, or the wrong way round */
export function yearsOf({ fromYear, toYear }: YearsArgs): YearsParams {
  for (const [name, year] of Object.entries({ fromYear, toYear })) {
    if (year == null || (year >= FIRST_YEAR && year <= LAST_YEAR)) continue;
    throw new Failure(
      'BAD_USER_INPUT',
      `${name} is a year from ${FIRST_YEAR} to ${LAST_YEAR}; this is ${year}.`,
    );
  }
  if (fromYear != null && toYear != null && fromYear > toYear)
    throw new Failure('BAD_USER_INPUT', `fromYear (${fromYear}) is after toYear (${toYear}).`);
  return { startYear: fromYear ?? undefined, endYear: toYear ?? undefined };
}

/** @throws Failure BAD_USER_INPUT if the service lists no such number */
export function topOf(top: number | null | undefined): number | undefined {
  if (top == null) return undefined;
  if (top >= 1 && top <= MAX_TOP) return top;
  throw new Failure('BAD_USER_INPUT', `top is from 1 to ${MAX_TOP}; this is ${top}.`);
}

/** @throws Failure BAD_USER_INPUT if a text that is to be found is empty */
export function checkNotEmpty(texts: Readonly<Record<string, string | null | undefined>>): void {
  for (const [name, text] of Object.entries(texts)) {
    if (text?.trim() === '')
      throw new Failure('BAD_USER_INPUT', `\`${name}\` is empty: leave it out to ask for all.`);
  }
}
