import { namedIn } from '../planner/bisect.ts';
import { DEFAULT_MAX_ROWS } from '../planner/completeness.ts';
import type { Rectangle } from '../planner/cover.ts';
import type { Learned } from '../planner/learned.ts';
import { isWithin, widened, type YearRange } from '../planner/year-range.ts';
import { isAboutYears, type Refusal, type Rows } from './data-calls.ts';

/**
 * True if an answer to a call that named years can be used. Learns from it if the service takes years. An answer with
 * rows of other years may be one of whole series, and so may one without: it is used if it would show that it was cut.
 * The call was not planned for the rows of whole series, so its length alone says nothing.
 */
export function isUsable(answer: Rows, years: YearRange, learned: Learned): boolean {
  const { list } = answer;
  const isHeeded = list.rows.every(({ year }) => isWithin(widened(years), year));
  const isTold = wouldTellOfCut(answer, learned);
  if (!isHeeded || !isTold) learned.learn('yearsParam', 'ignored');
  else if (list.rows.length > 0) learned.learn('yearsParam', 'accepted');
  return isTold;
}

/**
 * True if an answer would tell that the service had cut it: by a total that has proved true, or a limit that applied.
 */
function wouldTellOfCut({ list, limit }: Rows, { totals }: Learned): boolean {
  const { received, meta } = list;
  if (meta.limit !== null || limit !== undefined || received < DEFAULT_MAX_ROWS) return true;
  return meta.total !== null && (totals === 'true' || meta.total > received);
}

/**
 * Tells the reason for the refusal of a call that named years: a name if the service says so; else it may be the years.
 * @returns true if it is a name
 */
export function isForName(refusal: Refusal, rectangle: Rectangle, learned: Learned): boolean {
  return !isAboutYears(refusal.detail) && namedIn(refusal.detail, rectangle, learned).length > 0;
}
