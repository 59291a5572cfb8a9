import { type ResponsePath, responsePathAsArray } from 'graphql';
import {
  type Absence,
  type AbsenceNotes,
  type AbsenceReason,
  type CameFigures,
  Failure,
  type OutcomeOf,
  type PromiseOrValue,
} from '../../plugin/index.ts';

type RowsAsked = Parameters<AbsenceNotes['rows']>[0];
type Row = CameFigures['rows'][number];

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
    latest({ countryCodes, metricKey, maxAgeMs }, figures, pathOf, outcomeOf) {
      onceThere(figures, function* (came) {
        for (const [i, code] of countryCodes.entries()) {
          const figure = came instanceof Error ? came : came[i];
          if (figure != null && !(figure instanceof Error)) continue;
          const wanted = { countryCode: code, metricKey, mode: 'latest', years: null, maxAgeMs } as const;
          const reason = reasonOf(figure ?? outcomeOf(wanted));
          if (reason !== null) yield absence(pathOf(i), reason);
        }
      });
    },
    rows(asked, load, path, outcomeOf) {
      const rows = settled(load);
      onceThere(rows, (came) => {
        const reasons =
          came instanceof Error ? [reasonOf(came)] : came.length > 0 ? [] : reasonsOf(asked, outcomeOf);
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
function reasonOf(outcome: CameFigures | Error | undefined): AbsenceReason | null {
  if (outcome === undefined) return null;
  if (!(outcome instanceof Error)) return outcome.absence ?? 'NO_FIGURE';
  if (!(outcome instanceof Failure)) return null;
  const { code, fields, cause } = outcome;
  if (code === 'NOT_HELD') return 'NOT_HELD';
  // Without a route, we have refused an argument ourselves; with a cause, the service may mean another name.
  return code === 'BAD_USER_INPUT' && fields.route !== undefined && cause === undefined ? 'REFUSED' : null;
}

function* reasonsOf(asked: RowsAsked, outcomeOf: OutcomeOf): Iterable<AbsenceReason | null> {
  const { countryCodes, metricKeys } = asked.filter;
  // Then nothing is missing, whatever the other list names.
  if (countryCodes?.length === 0 || metricKeys?.length === 0) return;
  const [codes, keys] = asked.names();
  if (metricKeys?.some((key) => !keys.includes(key))) yield 'UNKNOWN_INDICATOR';
  if (countryCodes?.some((code) => !codes.includes(code))) yield 'NOT_OFFERED';
  for (const code of codes) for (const key of keys) yield reasonOfPair(asked, code, key, outcomeOf);
}

function reasonOfPair(
  { mode, years, maxAgeMs, filter }: RowsAsked,
  code: string,
  key: string,
  outcomeOf: OutcomeOf,
): AbsenceReason | null {
  const outcomeBy = (asked: typeof mode) =>
    outcomeOf({
      countryCode: code,
      metricKey: key,
      mode: asked,
      years: asked === 'latest' ? null : years,
      maxAgeMs,
    });
  const { scope, fromYear, toYear } = filter;
  const isWanted = ({ locationName }: Row) =>
    scope == null || scope === 'ALL' || (scope === 'NATIONAL') === (locationName === null);
  const first = outcomeBy(mode);
  // If the newest row is of a place, the newest national row stands in the series.
  const firstRows = first === undefined || first instanceof Error ? [] : first.rows;
  const isElsewhere = mode === 'latest' && firstRows.length > 0 && !firstRows.some(isWanted);
  const outcome = isElsewhere ? outcomeBy('series') : first;
  if (outcome === undefined || outcome instanceof Error || outcome.rows.length === 0) {
    const reason = reasonOf(outcome);
    // The row without a value may be of another year.
    return reason === 'BLANK' && (fromYear != null || toYear != null) ? 'NO_FIGURE' : reason;
  }
  const rows = outcome.rows.filter(isWanted);
  const isOlder = ({ year }: Row) => fromYear != null && year < fromYear;
  const isNewer = ({ year }: Row) => toYear != null && year > toYear;
  if (rows.some((row) => !isOlder(row) && !isNewer(row))) return null;
  const [hasOlder, hasNewer] = [rows.some(isOlder), rows.some(isNewer)];
  if (hasOlder === hasNewer) return 'NO_FIGURE';
  // Rows may be missing beyond the years that were asked for.
  const isSure = !outcome.isOfSomeYears || (hasOlder ? toYear : fromYear) == null;
  return !isSure ? 'NO_FIGURE' : hasOlder ? 'OLDER_ONLY' : 'NEWER_ONLY';
}
