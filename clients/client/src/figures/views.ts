/** What is held of an operation, and what of it is asked for. */
import {
  ALL_YEARS,
  type BoundCountries,
  type BoundFigures,
  type BoundRoot,
  givenValue,
  type Years,
} from './bound.ts';
import type { Form } from './forms.ts';
import { type Findable, type Found, type Instant, NO_FIGURES, pairName } from './store.ts';

/** A rectangle of countries and indicators, of which at least the corners are missing. */
export interface Ask {
  readonly countries: readonly string[];
  readonly metrics: readonly string[];
  readonly years: Years;
}

export interface FigureView {
  readonly bound: BoundFigures;
  /** By `cellName`. */
  readonly found: ReadonlyMap<string, Found>;
  /** Null if nothing is asked for. */
  ask: Ask | null;
}

export interface CountryView {
  readonly bound: BoundCountries;
  readonly found: ReadonlyMap<string, Found>;
  readonly figures: readonly FigureView[];
  /** Codes of the countries that something is asked for of. */
  ask: readonly string[] | null;
}

export interface View {
  readonly roots: readonly (FigureView | CountryView | string)[];
  readonly isComplete: boolean;
  readonly freshMs: number;
  readonly ats: readonly Instant[];
}

export const cellName = (country: string, metric: string) => `${country} ${metric}`;

/** What is held of a country itself. */
export const countryPair = (code: string) => pairName('country', code, '');

export function viewOf(roots: readonly BoundRoot[], held: Findable, now: Instant, graceMs = 0): View {
  const views = roots.map((root) => {
    if (typeof root === 'string') return root;
    if (!('codes' in root)) return figureView(root, held, now, graceMs);
    const found = new Map(
      root.codes.map((code) => [code, held.find(countryPair(code), root.fields, ALL_YEARS, now, graceMs)]),
    );
    const figures = root.figures.map((one) => figureView(one, held, now, graceMs));
    return { bound: root, found, figures, ask: null };
  });
  const figures = figuresIn(views);
  const founds = [
    ...figures.flatMap(({ found }) => [...found.values()]),
    ...views.flatMap((one) => (typeof one !== 'string' && 'figures' in one ? [...one.found.values()] : [])),
  ];
  const isComplete = founds.every(({ missing }) => missing === null);
  const ats = [...new Set(founds.flatMap(({ ats }) => ats))];
  // An answer has each figure in one state, and says of the latest if a series beside it has another of its time.
  const isTwofold = hasSharedPairs(figures) && (!isComplete || ats.length > 1);
  if (isTwofold && held !== NO_FIGURES) return viewOf(roots, NO_FIGURES, now);
  return {
    roots: views,
    isComplete,
    freshMs: Math.min(...founds.map(({ freshMs }) => freshMs)),
    ats,
  };
}

export const figuresIn = (views: View['roots']): readonly FigureView[] =>
  views.flatMap((view) => (typeof view === 'string' ? [] : 'figures' in view ? view.figures : [view]));

function figureView(bound: BoundFigures, held: Findable, now: Instant, graceMs: number): FigureView {
  const { countries, metrics, fields, years, variant } = bound;
  const found = new Map<string, Found>();
  const figured = new Set<string>();
  for (const country of countries)
    for (const metric of metrics) {
      const cell = held.find(pairName(variant, country, metric), fields, years, now, graceMs);
      found.set(cellName(country, metric), cell);
      if (cell.rows.length > 0) figured.add(country).add(metric);
    }
  // A name that has no figure at all may be one to warn of: the gateway knows.
  const isDoubted = (name: string) => !figured.has(name) && !held.isSeen(name, now);
  for (const country of countries)
    for (const metric of metrics) {
      const name = cellName(country, metric);
      const cell = found.get(name);
      if (cell?.missing === null && (isDoubted(country) || isDoubted(metric)))
        found.set(name, { ...cell, missing: years });
    }
  return { bound, found, ask: null };
}

function hasSharedPairs(figures: readonly FigureView[]): boolean {
  const names = figures.flatMap(({ found }) => [...found.keys()]);
  return new Set(names).size < names.length;
}

/** Decides what to ask for. @returns the values of the form's variables */
export function narrow(
  { roots }: View,
  form: Form,
  variables: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = form.text === null ? { ...variables } : {};
  for (const root of roots) {
    if (typeof root === 'string') continue;
    if ('figures' in root) narrowCountries(root, form, variables, values);
    else narrowFigures(root, root.bound.countries, form, variables, values);
  }
  return values;
}

type Values = Record<string, unknown>;

function narrowCountries(view: CountryView, form: Form, variables: Values, values: Values): void {
  const { plan, codes } = view.bound;
  const slots = form.slotsOf(plan);
  const isMissing = (code: string) =>
    view.found.get(code)?.missing !== null ||
    view.figures.some(({ bound: { metrics }, found }) =>
      metrics.some((metric) => found.get(cellName(code, metric))?.missing !== null),
    );
  const missing = codes.filter(isMissing);
  const isNarrowed = slots.codes !== undefined;
  const isSkipped = missing.length === 0 && (isNarrowed || slots.include !== undefined);
  const ask = isNarrowed ? missing : codes;
  view.ask = isSkipped ? null : ask;
  for (const figures of view.figures) narrowFigures(figures, isSkipped ? [] : ask, form, variables, values);
  give(slots, values, plan.args, variables, { codes: ask, include: !isSkipped });
}

function narrowFigures(
  view: FigureView,
  among: readonly string[],
  form: Form,
  variables: Values,
  values: Values,
): void {
  const { plan, metrics, years } = view.bound;
  const slots = form.slotsOf(plan);
  const isMissing = (country: string, metric: string) =>
    view.found.get(cellName(country, metric))?.missing !== null;
  const some = {
    countries: among.filter((country) => metrics.some((metric) => isMissing(country, metric))),
    metrics: metrics.filter((metric) => among.some((country) => isMissing(country, metric))),
    years: hullOf(view, among),
  };
  const isSkippable = ['include', 'countryCodes', 'metricKeys'].some((name) => slots[name] !== undefined);
  const isSkipped = among.length === 0 || (some.countries.length === 0 && isSkippable);
  const ask = {
    countries: slots.countryCodes === undefined ? among : some.countries,
    metrics: slots.metricKeys === undefined ? metrics : some.metrics,
    years: {
      from: slots.fromYear === undefined ? years.from : some.years.from,
      to: slots.toYear === undefined ? years.to : some.years.to,
    },
  };
  view.ask = isSkipped ? null : ask;
  give(slots, values, plan.args, variables, {
    countryCodes: ask.countries,
    metricKeys: ask.metrics,
    fromYear: yearOf(ask.years.from),
    toYear: yearOf(ask.years.to),
    include: !isSkipped,
  });
}

/** Of all that is missing; all years if nothing is. */
function hullOf({ bound: { years }, found }: FigureView, among: readonly string[]): Years {
  const isAmong = new Set(among);
  const gaps = [...found].flatMap(([name, { missing }]) =>
    missing !== null && isAmong.has(name.split(' ')[0] ?? '') ? [missing] : [],
  );
  if (gaps.length === 0) return years;
  return {
    from: Math.min(...gaps.map(({ from }) => from)),
    to: Math.max(...gaps.map(({ to }) => to)),
  };
}

/** Left out if there is no bound. */
const yearOf = (year: number) => (Number.isFinite(year) ? year : undefined);

function give(
  slots: Readonly<Record<string, string>>,
  values: Values,
  args: BoundFigures['plan']['args'],
  variables: Values,
  asked: Values,
): void {
  for (const [arg, slot] of Object.entries(slots))
    values[slot] = arg in asked ? asked[arg] : givenValue(args[arg], variables);
}
