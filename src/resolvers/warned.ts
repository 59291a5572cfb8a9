import { type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import { didYouMean as didYouMeanIn } from 'graphql/jsutils/didYouMean.js';
import { suggestionList } from 'graphql/jsutils/suggestionList.js';
import type { PromiseOrValue } from '../async/promise-or-value.ts';
import { excerpt } from '../errors.ts';
import type { GraphContext } from '../graph/context.ts';
import { periodOf } from '../periods.ts';
import { timeIn } from '../times.ts';
import type { IndicatorRecord } from '../upstream/records/indicators.ts';
import { leftOutOf } from '../upstream/records/left-out.ts';
import { mayBeUnreadable, type ObservationRecord } from '../upstream/records/observations.ts';

type Path = GraphQLResolveInfo['path'];

/** Keys that are spelt alike, of those that a warning names. */
const MAX_SUGGESTIONS = 5;

/** Warns of codes that name no country. */
export function warnOfCountries({ warnings }: GraphContext, path: Path, codes: readonly string[]): void {
  for (const name of codes) {
    const message = `The service covers no country of the code ${name}.`;
    warnings.add({ code: 'UNKNOWN_COUNTRY', message, path: responsePathAsArray(path), name });
  }
}

/** Warns of keys that name no indicator of the catalogue. What the catalogue lacks may be among them, and is warned of as such. */
export function warnOfIndicators(
  { warnings }: GraphContext,
  path: Path,
  keys: readonly string[],
  catalogue: readonly IndicatorRecord[],
): void {
  if (leftOutOf(catalogue) !== null) return;
  const known = catalogue.map(({ key }) => key);
  warnOfKeys({ warnings }, path, keys, known);
}

/** Warns of keys that are not among those of the whole catalogue. */
export function warnOfKeys(
  { warnings }: Pick<GraphContext, 'warnings'>,
  path: Path,
  keys: readonly string[],
  catalogue: readonly string[],
): void {
  const known = new Set(catalogue);
  const code = 'UNKNOWN_INDICATOR';
  for (const name of keys) {
    if (known.has(name)) continue;
    warnings.addOf(code, name, () => {
      const didYouMean = suggestionList(name, catalogue).slice(0, MAX_SUGGESTIONS);
      const message = `The catalogue has no indicator of the key ${name}.${didYouMeanIn(didYouMean)}`;
      return { code, message, path: responsePathAsArray(path), name, didYouMean };
    });
  }
}

/** A list, having warned of what it lacks of what the service sent. */
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

/** As {@link warned}, for the list of a field that may still be loading. */
export function warnedOnceLoaded<List extends object | null>(
  context: GraphContext,
  info: GraphQLResolveInfo,
  list: PromiseOrValue<List>,
): PromiseOrValue<List> {
  if (!(list instanceof Promise)) return warned(context, () => info.path, list);
  // Once the list is there, it is the turn of other objects.
  const { path } = info;
  return list.then((there) => warned(context, () => path, there));
}

/**
 * Passes figures on, with a warning of rows that came with them and belong to nothing that can be asked for, and of periods that can't
 * be read.
 */
export function warnedOfLeftOut<Figures extends readonly (ObservationRecord | Error | null)[]>(
  context: GraphContext,
  path: () => Path,
  figures: PromiseOrValue<Figures>,
): PromiseOrValue<Figures> {
  const { loaders, warnings } = context;
  // What is there at once is held, and answers with such rows are not.
  if (!(figures instanceof Promise)) return warnedOfPeriods(context, path, figures);
  const where = path();
  return figures.then((there) => {
    warnedOfPeriods(context, () => where, there);
    for (const { route, count, detail } of loaders.observations.leftOut()) {
      const message = `The answer had ${count} rows that name no country there is; they are left out.`;
      warnings.add({
        code: 'ROWS_LEFT_OUT',
        message,
        path: responsePathAsArray(where),
        route,
        count,
        detail,
      });
    }
    return there;
  });
}

/** Passes figures on, with a warning of periods that no rule reads, one for each indicator. */
export function warnedOfPeriods<Figures extends readonly (ObservationRecord | Error | null)[]>(
  { warnings }: Pick<GraphContext, 'warnings'>,
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

/** A time of the service as it leaves, by RFC 3339 in UTC; null with a warning where no rule reads it. */
export function warnedTime(
  { warnings }: Pick<GraphContext, 'warnings'>,
  path: () => Path,
  text: string | null,
): string | null {
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
