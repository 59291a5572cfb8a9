import { responsePathAsArray } from 'graphql';
import { mapValue } from '../async/promise-or-value.ts';
import type { BatchInfo, BatchResolver } from '../execution/plan.ts';
import type { GraphContext } from '../graph/context.ts';
import type {
  ObservationChangeArgs,
  ObservationPerArgs,
  ObservationRankArgs,
  Resolvers,
} from '../graph/generated.ts';
import type { RankRecord, RatioRecord } from '../graph/sources.ts';
import type { WantedFigure } from '../loaders/operands.ts';
import type { Outcome } from '../observations/outcome.ts';
import { COVERED_COUNTRIES } from '../upstream/covered-countries.ts';
import type { ObservationRecord } from '../upstream/records/observations.ts';
import { checkMetricKey } from './arguments.ts';
import { changeOf, counterpart, growthOf, Misfit, misfitOfUnits, quotientOf, yearsIn } from './comparable.ts';
import { checkSince } from './derived-ahead.ts';
import { namesOfFigures } from './known-names.ts';
import { plainFields } from './record-fields.ts';
import { warnedOfPeriods } from './warned.ts';

type Derived<Args, Value> = BatchResolver<ObservationRecord, Args, GraphContext, Value | null>;

/** Warns of what can't be compared, once of each kind for a country and indicator. */
type Warn = (
  row: ObservationRecord,
  parent: number,
  misfit: Misfit,
  outcome?: 'is null' | 'needs care',
) => null;

function warningOf({ warnings }: GraphContext, info: BatchInfo): Warn {
  const code = 'NOT_COMPARABLE';
  const field = info.fieldNodes[0]?.alias?.value ?? info.fieldName;
  return ({ countryCode, metricKey }, parent, { kind, words }, outcome = 'is null') => {
    const subject = `${field} ${countryCode} ${metricKey} ${kind}`;
    warnings.addOf(code, subject, () => ({
      code,
      message: `\`${info.fieldName}\` ${outcome}: ${words}.`,
      path: responsePathAsArray(info.pathOf(parent)),
    }));
    return null;
  };
}

/** Warns of figures that others might be compared with, if it were known what they are for. */
function warnOfOperands(outcomes: readonly Outcome[], context: GraphContext, info: BatchInfo): void {
  for (const outcome of outcomes)
    if (!(outcome instanceof Error)) warnedOfPeriods(context, () => info.pathOf(0), outcome);
}

function wantedFor(
  { countryCode, metricKey, period, locationName }: ObservationRecord,
  year: number,
  others: { readonly countryCode?: string; readonly metricKey?: string } = {},
): WantedFigure {
  return { countryCode, metricKey, ...others, year, period, isNational: locationName === null };
}

/** Compares figures with earlier ones of the same country, indicator and place. */
function compared(
  derive: (own: ObservationRecord, earlier: ObservationRecord) => number | Misfit,
): Derived<ObservationChangeArgs, number> {
  return (rows, { since }, context, info) => {
    checkSince(since);
    context.bill.naive += rows.length;
    const warn = warningOf(context, info);
    const isCompared = ({ year }: ObservationRecord) => since == null || since < year;
    const yearFor = ({ year }: ObservationRecord) => since ?? year - 1;
    const wanted = rows.filter(isCompared).map((row) => wantedFor(row, yearFor(row)));
    return mapValue(context.loaders.observations.operands.series(wanted), (outcomes) => {
      warnOfOperands(outcomes, context, info);
      let next = 0;
      return rows.map((row, parent) => {
        if (!isCompared(row)) return null;
        const outcome = outcomes[next++] ?? [];
        if (outcome instanceof Error) return outcome;
        const earlier = counterpart(outcome, row, yearFor(row)) ?? gapIn(outcome, row, yearFor(row));
        if (earlier === null) return null;
        const value = earlier instanceof Misfit ? earlier : derive(row, earlier);
        if (value instanceof Misfit) return warn(row, parent, value);
        if (!(earlier instanceof Misfit) && earlier.source !== row.source) {
          const words = `the figures of ${earlier.year} and ${row.year} are of different sources, ${earlier.source} and ${row.source}`;
          warn(row, parent, new Misfit('source', words), 'needs care');
        }
        return value;
      });
    });
  };
}

/** What to warn of where there is no figure of a year, but there are earlier ones. */
function gapIn(rows: readonly ObservationRecord[], own: ObservationRecord, year: number): Misfit | null {
  const earlier = yearsIn(
    rows.filter((row) => row.year < year),
    own,
  );
  if (earlier === null) return null;
  const { countryCode, metricKey } = own;
  return new Misfit(
    'gap',
    `${countryCode} ${metricKey} has earlier figures (${earlier}), and none of ${year}`,
  );
}

const per: Derived<ObservationPerArgs, RatioRecord> = (rows, { metricKey }, context, info) => {
  checkMetricKey(metricKey);
  context.bill.naive += rows.length;
  const warn = warningOf(context, info);
  const known = namesOfFigures('metrics', context, () => info.pathOf(0), [metricKey]);
  return mapValue(known, ([key]) => {
    if (key === undefined) return rows.map(() => null);
    const wanted = rows.map((row) => wantedFor(row, row.year, { metricKey: key }));
    return mapValue(context.loaders.observations.operands.near(wanted), (outcomes) => {
      warnOfOperands(outcomes, context, info);
      return rows.map((row, parent) => {
        const outcome = outcomes[parent] ?? [];
        if (outcome instanceof Error) return outcome;
        const divisor = counterpart(outcome, row, row.year);
        if (divisor === null) {
          const others = yearsIn(outcome, row);
          if (others === null) return null;
          const words = `${row.countryCode} ${key} has figures of other years (${others}), and none of ${row.year}`;
          return warn(row, parent, new Misfit('years', words));
        }
        if (divisor instanceof Misfit) return warn(row, parent, divisor);
        const value = quotientOf(row, divisor);
        if (value instanceof Misfit) return warn(row, parent, value);
        const unit = `${row.unit} / ${divisor.unit}`;
        return { value, unit, year: row.year, operands: [row, divisor] };
      });
    });
  });
};

/** The figures of others that some figures are ranked among; a Misfit, or an Error, where they can't be. */
type Rivals = readonly ObservationRecord[] | Misfit | Error;

const rank: Derived<ObservationRankArgs, RankRecord> = (rows, { among, direction }, context, info) => {
  context.bill.naive += rows.length;
  const warn = warningOf(context, info);
  const known =
    among == null
      ? [...COVERED_COUNTRIES]
      : namesOfFigures('countries', context, () => info.pathOf(0), [...new Set(among)]);
  return mapValue(known, (codes) => {
    // Figures of the same indicator and time are ranked among the same others.
    const groups = Map.groupBy(rows.filter(isNational), groupOf);
    const firsts = [...groups.values()].flatMap(([first]) => first ?? []);
    const wanted = firsts.flatMap((first) =>
      codes.map((countryCode) => wantedFor(first, first.year, { countryCode })),
    );
    return mapValue(context.loaders.observations.operands.near(wanted), (outcomes) => {
      warnOfOperands(outcomes, context, info);
      const rivals = new Map(
        firsts.map((first, i) => [
          groupOf(first),
          rivalsIn(outcomes.slice(i * codes.length, (i + 1) * codes.length), first),
        ]),
      );
      return rows.map((row, parent) => {
        const found = isNational(row) ? (rivals.get(groupOf(row)) ?? []) : OF_PLACE;
        if (found instanceof Error) return found;
        const ranked = found instanceof Misfit ? found : rankOf(row, found, direction === 'ASC' ? -1 : 1);
        return ranked instanceof Misfit ? warn(row, parent, ranked) : ranked;
      });
    });
  });
};

const OF_PLACE = new Misfit('place', 'the figure is that of a place, which is not ranked among countries');

const isNational = ({ locationName }: ObservationRecord) => locationName === null;

const groupOf = ({ metricKey, year, period }: ObservationRecord) => `${metricKey} ${year} ${period}`;

function rivalsIn(outcomes: readonly Outcome[], first: ObservationRecord): Rivals {
  const rivals: ObservationRecord[] = [];
  for (const outcome of outcomes) {
    if (outcome instanceof Error) return outcome;
    const rival = counterpart(outcome, first, first.year);
    if (rival instanceof Misfit) return rival;
    if (rival !== null) rivals.push(rival);
  }
  return rivals;
}

/** @param sign 1 where the largest figure comes first */
function rankOf(
  row: ObservationRecord,
  rivals: readonly ObservationRecord[],
  sign: 1 | -1,
): RankRecord | Misfit {
  let [position, of] = [1, 1];
  for (const rival of rivals) {
    if (rival.countryCode === row.countryCode) continue;
    const misfit = misfitOfUnits(row, rival);
    if (misfit !== null) return misfit;
    of += 1;
    if (sign * (rival.value - row.value) > 0) position += 1;
  }
  return { position, of, year: row.year };
}

export const batches = {
  Observation: { change: compared(changeOf), growthPercent: compared(growthOf), per, rank },
};

export const resolvers = {
  Ratio: plainFields('Ratio', 'value', 'unit', 'year', 'operands'),
  Rank: plainFields('Rank', 'position', 'of', 'year'),
} satisfies Resolvers;
