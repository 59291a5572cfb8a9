import { type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import { didYouMean as didYouMeanIn } from 'graphql/jsutils/didYouMean.js';
import type { ObservationLoader } from '../../observations/loaders/observations.ts';
import { leftOutOf } from '../../service/records/envelope.ts';
import { mayBeUnreadable, type ObservationRecord } from '../../service/records/observations.ts';
import type { PromiseOrValue } from '../../shared/async/promises.ts';
import { excerpt } from '../../shared/errors.ts';
import { periodOf, timeIn } from '../../shared/periods.ts';
import type { GraphContext } from '../schema/context.ts';
import { alikeNames } from './alike.ts';

export type Path = GraphQLResolveInfo['path'];

/** Keys that differ in case only, among those that a warning names. */
const MAX_SUGGESTIONS = 5;

/** Warns of codes that name no country. */
export function warnOfCountries({ warnings }: GraphContext, path: Path, codes: readonly string[]): void {
  for (const name of codes) {
    const message = `The service covers no country of the code ${name}.`;
    warnings.add({ code: 'UNKNOWN_COUNTRY', message, path: responsePathAsArray(path), name });
  }
}

/** Warns of keys that are not among those of the whole catalogue. */
export function warnOfKeys(
  { warnings }: GraphContext,
  path: Path,
  keys: readonly string[],
  catalogue: readonly string[],
): void {
  const names = new Set(catalogue);
  const code = 'UNKNOWN_INDICATOR';
  for (const name of keys) {
    if (names.has(name)) continue;
    warnings.addOf(code, name, () => {
      const didYouMean = alikeNames(name, catalogue).slice(0, MAX_SUGGESTIONS);
      const message = `The catalogue has no indicator of the key ${name}.${didYouMeanIn(didYouMean)}`;
      return { code, message, path: responsePathAsArray(path), name, didYouMean };
    });
  }
}

/** Maximum names compared for suggestions, in all warnings of an operation. */
const MAX_COMPARED = 100_000;

/**
 * Warns of unproven keys at the end of the operation, if no country in it has a figure of them.
 * @param path left out if the field of these keys is not resolved yet
 */
export function doubtKeys(context: GraphContext, keys: readonly string[], path?: () => Path): void {
  if (context.loaders.doubts.raise(keys, path)) context.warnings.lookAt(() => warnOfAbsent(context));
}

function warnOfAbsent({ loaders: { doubts, listed, figured }, warnings }: GraphContext): void {
  const code = 'UNKNOWN_INDICATOR';
  let names: readonly string[] | undefined;
  let compared = 0;
  for (const [name, path] of doubts.absent()) {
    warnings.addOf(code, name, () => {
      names ??= [...new Set([...listed.metrics, ...figured.metrics])];
      compared += names.length;
      const alike = compared > MAX_COMPARED ? [] : alikeNames(name, names);
      const didYouMean = alike.slice(0, MAX_SUGGESTIONS);
      const message = `No figure of ${name} has come for any country that was asked for: there is none, or no such indicator.${didYouMeanIn(didYouMean)}`;
      return { code, message, path: responsePathAsArray(path), name, didYouMean };
    });
  }
}

/** Returns a list, with a warning of rows that were left out of the service's answer. */
export function warned<List extends object | null>(
  { warnings }: GraphContext,
  path: () => Path,
  list: List,
): List {
  const leftOut = list === null ? null : leftOutOf(list);
  if (leftOut === null) return list;
  const { count, first } = leftOut;
  const { route = '', detail = '' } = first.fields;
  const message = `What can't be read of the service's answer is left out (${detail}).`;
  const warning = { code: 'ROWS_LEFT_OUT' as const, message, path: responsePathAsArray(path()) };
  warnings.add({ ...warning, route, count, detail }, leftOut);
  return list;
}

/** Like {@link warned}, for a list that may still be loading. */
export function warnedOnceLoaded<List extends object | null>(
  context: GraphContext,
  info: GraphQLResolveInfo,
  list: PromiseOrValue<List>,
): PromiseOrValue<List> {
  if (!(list instanceof Promise)) return warned(context, () => info.path, list);
  // Read before any await: the objects of a field share one `info`, which moves on to the next (`FieldInfo`).
  const { path } = info;
  return list.then((items) => warned(context, () => path, items));
}

type PickedFigures = readonly (ObservationRecord | Error | null)[];

/**
 * Passes figures on. Warns of rows in the same answers that belong to no country, and of periods that can't be
 * parsed.
 * @param arePicked true if each was picked among the figures of its period: then several candidates are warned of too
 * @param pathOf returns the path of each of them; left out if all stand at the one path
 */
export function warnedFigures<Some extends PickedFigures>(
  context: GraphContext,
  path: () => Path,
  figures: PromiseOrValue<Some>,
  arePicked: boolean,
  pathOf?: (i: number) => Path,
): PromiseOrValue<Some> {
  if (!(figures instanceof Promise)) {
    // Figures that need no await are cached ones, and answers with such rows are never cached.
    if (arePicked) warnOfPicked(context, pathOf ?? always(path()), figures);
    return warnedOfPeriods(context, path, figures);
  }
  const where = path();
  return figures.then((figures) => {
    warnedOfPeriods(context, always(where), figures);
    for (const { route, count, detail } of context.loaders.observations.leftOut()) {
      const message = `The answer had ${count} rows that name no country there is; they are left out.`;
      context.warnings.add({
        code: 'ROWS_LEFT_OUT',
        message,
        path: responsePathAsArray(where),
        route,
        count,
        detail,
      });
    }
    if (arePicked) warnOfPicked(context, pathOf ?? always(where), figures);
    return figures;
  });
}

/** Passes figures on, with a warning of periods that no rule reads, one for each indicator. */
export function warnedOfPeriods<Figures extends readonly (ObservationRecord | Error | null)[]>(
  { warnings }: GraphContext,
  path: () => Path,
  figures: Figures,
): Figures {
  if (!mayBeUnreadable()) return figures;
  const code = 'UNREADABLE_PERIOD';
  for (const figure of figures) {
    if (figure === null || figure instanceof Error || periodOf(figure) !== null) continue;
    const { metricKey: name } = figure;
    warnings.addOf(code, name, () => {
      const detail = excerpt(figure.period);
      const message = `A figure of ${name} is for a period that no rule reads (${JSON.stringify(detail)}): it is passed on as it is, and compared with nothing but the same text.`;
      return { code, message, path: responsePathAsArray(path()), name, detail };
    });
  }
  return figures;
}

/** A time of the service as RFC 3339 in UTC; null with a warning if it can't be parsed. */
export function warnedTime({ warnings }: GraphContext, path: () => Path, text: string | null): string | null {
  if (text === null) return null;
  const time = timeIn(text);
  if (time !== null) return time.text;
  const code = 'UNREADABLE_TIME';
  const detail = excerpt(text);
  const where = path();
  warnings.addOf(code, `${where.key} ${detail}`, () => {
    const message = `\`${where.key}\` is null: the service sent no time that a rule reads (${JSON.stringify(detail)}).`;
    return { code, message, path: responsePathAsArray(where), detail };
  });
  return null;
}

const always = (path: Path) => () => path;

/** Warns if figures have alternatives. The series that shows them may arrive later, for another field. */
function warnOfPicked(context: GraphContext, pathOf: (i: number) => Path, figures: PickedFigures): void {
  const { severalOf, hasSeveral } = context.loaders.observations;
  context.warnings.lookAt(() => {
    if (!hasSeveral()) return;
    for (const [i, figure] of figures.entries()) {
      if (figure === null || figure instanceof Error) continue;
      const several = severalOf(figure);
      if (several !== null) warnOfSeveral(context, () => pathOf(i), figure, several);
    }
  });
}

/** Warns that an identifier names a version of a figure that the service has since revised. */
export function warnOfRevised(
  { warnings }: GraphContext,
  path: Path,
  [countryCode, metricKey, year, , , , , release = '']: readonly string[],
  now: ObservationRecord,
): void {
  const named =
    release === '' ? 'no release of a dataset' : `the release ${JSON.stringify(excerpt(release))}`;
  const version =
    now.datasetVersion === null ? 'names none' : `is of ${JSON.stringify(excerpt(now.datasetVersion))}`;
  const message = `The figure of ${countryCode} ${metricKey} for ${year} that this id names, of ${named}, has been revised since: this is today's, which ${version}. Its own id is another one.`;
  warnings.add({ code: 'REVISED_SINCE', message, path: responsePathAsArray(path), detail: excerpt(release) });
}

/** Warns of rows of a series that are versions of one figure, and so share its identifier. */
export function warnOfStates(
  { warnings }: GraphContext,
  path: () => Path,
  { countryCode, metricKey, period, source }: ObservationRecord,
): void {
  const subject = JSON.stringify(['states', countryCode, metricKey, period, source]);
  const code = 'SEVERAL_FIGURES';
  warnings.addOf(code, subject, () => {
    const message = `${countryCode} ${metricKey} has several figures for ${period}, of ${source}, that only their value or their retrieval tells apart: they share an id, and a cache that keeps objects by id keeps one of them.`;
    return { code, message, path: responsePathAsArray(path()), sources: [source] };
  });
}

/** Warns, once per figure, that it was picked among several of its country, metric and period. */
export function warnOfSeveral(
  { warnings }: GraphContext,
  path: () => Path,
  taken: ObservationRecord,
  { sources, isByRule }: NonNullable<ReturnType<ObservationLoader['severalOf']>>,
): void {
  const code = 'SEVERAL_FIGURES';
  const { countryCode, metricKey, year, period, source, datasetVersion } = taken;
  const subject = JSON.stringify([countryCode, metricKey, year, period, source, datasetVersion, isByRule]);
  warnings.addOf(code, subject, () => {
    const release = datasetVersion === null ? '' : ` (${datasetVersion})`;
    const why = isByRule
      ? 'the first by the order that the schema describes'
      : 'the one that the service gives as the latest';
    const message = `${countryCode} ${metricKey} has several figures for ${period}, of ${sources.join(', ')}. Taken is that of ${source}${release}: ${why}.`;
    return { code, message, path: responsePathAsArray(path()), sources };
  });
}
