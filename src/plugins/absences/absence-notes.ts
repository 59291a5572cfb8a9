import { type ResponsePath, responsePathAsArray } from 'graphql';
import type { Absence, AbsenceNotes, AbsenceReason, GraphContext } from '../../graphql/schema/context.ts';
import { absenceIn, isOfSomeYears } from '../../observations/absences.ts';
import { demandFor } from '../../observations/planner/demand.ts';
import type { ObservationRecord } from '../../service/records/observations.ts';
import type { PromiseOrValue } from '../../shared/async/turns.ts';
import { Failure } from '../../shared/errors.ts';

type RowsAsked = Parameters<AbsenceNotes['rows']>[0];

const MAX_ABSENCES = 10_000;

/** Reasons are looked for at the end of an operation, when all of its figures have arrived. */
export function openAbsenceNotes(): AbsenceNotes {
  const looks: (() => Iterable<Absence>)[] = [];

  function onceThere<Value>(
    coming: PromiseOrValue<Value>,
    look: (came: Value | Error) => Iterable<Absence>,
  ): void {
    const add = (came: Value | Error) => void looks.push(() => look(came));
    if (coming instanceof Promise)
      coming.then(add, (error: unknown) => {
        if (error instanceof Error) add(error);
      });
    else add(coming);
  }

  return {
    note(path, reason) {
      looks.push(() => [absence(path(), reason)]);
    },
    latest({ countryCodes, metricKey, maxAgeMs }, figures, pathOf, { loaders: { observations } }) {
      onceThere(figures, function* (came) {
        for (const [i, code] of countryCodes.entries()) {
          const figure = came instanceof Error ? came : came[i];
          if (figure != null && !(figure instanceof Error)) continue;
          const demand = demandFor('latest', code, metricKey, maxAgeMs);
          const reason = reasonOf(figure ?? observations.outcomeOf(demand));
          if (reason !== null) yield absence(pathOf(i), reason);
        }
      });
    },
    rows(asked, load, path, context) {
      const rows = settled(load);
      onceThere(rows, (came) => {
        const reasons =
          came instanceof Error ? [reasonOf(came)] : came.length > 0 ? [] : reasonsOf(asked, context);
        return [...new Set(reasons)].flatMap((reason) => (reason === null ? [] : absence(path, reason)));
      });
      if (rows instanceof Error) throw rows;
      return rows;
    },
    listed() {
      const absences: Absence[] = [];
      for (const look of looks)
        for (const one of look()) {
          if (absences.length === MAX_ABSENCES) return absences;
          absences.push(one);
        }
      return absences;
    },
  };
}

function settled<Value>(load: () => Value): Value | Error {
  try {
    return load();
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

function absence(path: ResponsePath, reason: AbsenceReason): Absence {
  return { path: responsePathAsArray(path), reason };
}

/** Null if the outcome proves no reason. */
function reasonOf(outcome: readonly ObservationRecord[] | Error | undefined): AbsenceReason | null {
  if (outcome === undefined) return null;
  if (!(outcome instanceof Error)) return absenceIn(outcome) ?? 'NO_FIGURE';
  if (!(outcome instanceof Failure)) return null;
  const { code, fields, cause } = outcome;
  if (code === 'NOT_HELD') return 'NOT_HELD';
  // Without a route, we have refused an argument ourselves; with a cause, the service may mean another name.
  return code === 'BAD_USER_INPUT' && fields.route !== undefined && cause === undefined ? 'REFUSED' : null;
}

function* reasonsOf(asked: RowsAsked, context: GraphContext): Iterable<AbsenceReason | null> {
  const { countryCodes, metricKeys } = asked.filter;
  const [codes, keys] = asked.names();
  if (metricKeys?.some((key) => !keys.includes(key))) yield 'UNKNOWN_INDICATOR';
  if (countryCodes?.some((code) => !codes.includes(code))) yield 'NOT_OFFERED';
  for (const code of codes) for (const key of keys) yield reasonOfPair(asked, code, key, context);
}

function reasonOfPair(
  { mode, years, maxAgeMs, filter }: RowsAsked,
  code: string,
  key: string,
  { loaders: { observations } }: GraphContext,
): AbsenceReason | null {
  const outcomeOf = (asked: typeof mode) =>
    observations.outcomeOf(demandFor(asked, code, key, maxAgeMs, asked === 'latest' ? null : years));
  const { scope, fromYear, toYear } = filter;
  const isWanted = ({ locationName }: ObservationRecord) =>
    scope == null || scope === 'ALL' || (scope === 'NATIONAL') === (locationName === null);
  const first = outcomeOf(mode);
  // If the newest row is of a place, the newest national row stands in the series.
  const isElsewhere = mode === 'latest' && Array.isArray(first) && first.length > 0 && !first.some(isWanted);
  const outcome = isElsewhere ? outcomeOf('series') : first;
  if (outcome === undefined || outcome instanceof Error || outcome.length === 0) {
    const reason = reasonOf(outcome);
    // The row without a value may be of another year.
    return reason === 'BLANK' && (fromYear != null || toYear != null) ? 'NO_FIGURE' : reason;
  }
  const rows = outcome.filter(isWanted);
  const isOlder = ({ year }: ObservationRecord) => fromYear != null && year < fromYear;
  const isNewer = ({ year }: ObservationRecord) => toYear != null && year > toYear;
  if (rows.some((row) => !isOlder(row) && !isNewer(row))) return null;
  const [hasOlder, hasNewer] = [rows.some(isOlder), rows.some(isNewer)];
  if (hasOlder === hasNewer) return 'NO_FIGURE';
  // Rows may be missing beyond the years that were asked for.
  const isSure = !isOfSomeYears(outcome) || (hasOlder ? toYear : fromYear) == null;
  return !isSure ? 'NO_FIGURE' : hasOlder ? 'OLDER_ONLY' : 'NEWER_ONLY';
}
