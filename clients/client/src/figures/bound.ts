/** The figures that an operation with its variables is about; null if the gateway has to say what they are. */
import type { CountryPlan, FigurePlan, Given, Plan, Shape } from './plan.ts';

type Variables = Readonly<Record<string, unknown>>;

/** Both inclusive; infinite where there is no bound. */
export interface Years {
  readonly from: number;
  readonly to: number;
}

export const ALL_YEARS: Years = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** Figures of each of some countries and indicators. */
export interface BoundFigures {
  readonly plan: FigurePlan;
  readonly countries: readonly string[];
  readonly metrics: readonly string[];
  readonly years: Years;
  /** Which figures: all of a series, or the latest, and of which places. */
  readonly variant: string;
  readonly fields: readonly string[];
}

export interface BoundCountries {
  readonly plan: CountryPlan;
  readonly codes: readonly string[];
  readonly figures: readonly BoundFigures[];
  readonly fields: readonly string[];
}

export type BoundRoot = BoundFigures | BoundCountries | string;

/** Lists of an operation: beyond them, a gateway may refuse it. */
const MAX_ITEMS = 1000;
const MAX_PAIRS = 20_000;
const MAX_INT = 2 ** 31 - 1;

export function boundOf(plan: Plan, variables: Variables): readonly BoundRoot[] | null {
  const roots: BoundRoot[] = [];
  let pairs = 0;
  for (const root of plan.roots) {
    const bound = typeof root === 'string' ? root : rootOf(root, variables);
    if (bound === null) return null;
    if (typeof bound !== 'string') pairs += pairsIn(bound);
    roots.push(bound);
  }
  return pairs > MAX_PAIRS ? null : roots;
}

function pairsIn(root: BoundFigures | BoundCountries): number {
  if ('codes' in root) return root.figures.reduce((sum, one) => sum + pairsIn(one), root.codes.length);
  return root.countries.length * root.metrics.length;
}

function rootOf(plan: FigurePlan | CountryPlan, variables: Variables): BoundFigures | BoundCountries | null {
  if (plan.kind === 'figures') {
    const countries = codesOf(givenValue(plan.args.countryCodes, variables));
    return countries === null ? null : figuresOf(plan, countries, variables);
  }
  const code = givenValue(plan.args.code, variables);
  const codes = codesOf(plan.name === 'country' ? [code] : givenValue(plan.args.codes, variables));
  if (codes === null || codes.length === 0) return null;
  const figures: BoundFigures[] = [];
  for (const one of plan.figures) {
    const bound = figuresOf(one, codes, variables);
    if (bound === null) return null;
    figures.push(bound);
  }
  const fields = [...new Set(['code', ...Object.values(plan.leaves)])];
  return { plan, codes, figures, fields };
}

function figuresOf(
  plan: FigurePlan,
  countries: readonly string[],
  variables: Variables,
): BoundFigures | null {
  const { args, name, shape } = plan;
  const read = (arg: string) => givenValue(args[arg], variables);
  const metrics = keysOf(name === 'observation' ? [read('metricKey')] : read('metricKeys'));
  const [latest = null, scope = null] = [read('latest'), read('scope')];
  const [from, to] = [yearOf(read('fromYear')), yearOf(read('toYear'))];
  if (metrics === null || from === undefined || to === undefined) return null;
  // The gateway may still have to warn of names.
  if (metrics.length === 0 || countries.length === 0) return null;
  if (![null, true, false].includes(latest as null) || !SCOPES.includes(scope as string)) return null;
  const years = { from: from ?? ALL_YEARS.from, to: to ?? ALL_YEARS.to };
  // The latest figure of some years hangs on all of them.
  if (years.from > years.to || (latest === true && (from ?? to) !== null)) return null;
  const variant = name === 'observation' ? name : `${latest ? 'latest' : 'series'} ${scope ?? 'ALL'}`;
  return { plan, countries, metrics, years, variant, fields: fieldsIn(shape) };
}

const SCOPES: readonly unknown[] = [null, 'ALL', 'NATIONAL', 'PLACES'];

/** Undefined if it is left out. */
export function givenValue(given: Given | undefined, variables: Variables): unknown {
  if (given?.variable === undefined) return given?.value;
  const value = variables[given.variable];
  if (value === undefined) return given.value;
  // It is refused.
  return value === null && given.isRequired ? REFUSED : value;
}

const REFUSED = Symbol();

function codesOf(value: unknown): readonly string[] | null {
  const codes = namesOf(value, /^[a-z]{2}$/i);
  return codes && [...new Set(codes.map((code) => code.toUpperCase()))];
}

function keysOf(value: unknown): readonly string[] | null {
  const keys = namesOf(value, /^[\w.:-]{1,200}$/);
  return keys && [...new Set(keys)];
}

function namesOf(value: unknown, pattern: RegExp): readonly string[] | null {
  if (!Array.isArray(value) || value.length > MAX_ITEMS) return null;
  return value.every((name) => typeof name === 'string' && pattern.test(name)) ? value : null;
}

/** Undefined if it isn't one. */
function yearOf(value: unknown): number | null | undefined {
  if (value === undefined || value === null) return null;
  return Number.isInteger(value) && Math.abs(value as number) <= MAX_INT ? (value as number) : undefined;
}

/** Names of fields, those of objects below with their object's: `country.code`. */
function fieldsIn(shape: Shape, prefix = ''): readonly string[] {
  const fields = Object.values(shape).flatMap((one) =>
    typeof one === 'string' ? `${prefix}${one}` : fieldsIn(one.shape, `${prefix}${one.name}.`),
  );
  return [...new Set(fields)];
}
