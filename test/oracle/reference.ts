import { readdirSync, readFileSync } from 'node:fs';
import {
  buildASTSchema,
  execute,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
  parse,
} from 'graphql';
import { type Choice, type Counterpart, counterpartOf, inSeries, latestOf, newestOf } from './choices.ts';
import { difference, growth, quotient } from './decimals.ts';
import type { Habits } from './habits.ts';
import { AFRICA } from './names.ts';
import { spellings } from './periods.ts';
import { spelled } from './service.ts';
import { toldTime } from './times.ts';
import {
  type CountryFact,
  type IndicatorFact,
  type Json,
  type OfficeFact,
  type RowFact,
  type SignalsFact,
  type TickerFact,
  UNREADABLE,
  type World,
} from './world.ts';

/** One look-up in the shape of the REST service, as one field makes it for itself. */
export interface Lookup {
  /** Response names from the root, without positions. */
  readonly path: string;
  readonly route: string;
  /** Pairs of figures that were asked for, and the mode. */
  readonly codes?: readonly string[];
  readonly keys?: readonly string[];
  readonly mode?: 'figure' | 'latest' | 'latest of some' | 'series' | 'operands';
  /** Of the keys, those that there is a figure of. */
  readonly found?: ReadonlySet<string>;
  /** The reasons for which a figure may be missing here, each true of some country and key. */
  readonly reasons?: ReadonlySet<string>;
  /** True if it is a record that the service has not. */
  readonly isAbsent?: boolean;
}

/** A remark that the answer has to make besides its errors. */
export interface Remark {
  readonly code:
    | 'NOT_COMPARABLE'
    | 'REVISED_SINCE'
    | 'SEVERAL_FIGURES'
    | 'UNREADABLE_PERIOD'
    | 'UNREADABLE_TIME';
  /** Response names from the root. */
  readonly path: string;
  /** True if it may be left out, since the gateway needn't know. */
  readonly isOptional?: boolean;
  /** Of several figures, the sources. */
  readonly sources?: readonly string[];
}

export interface Truth {
  readonly data: Json | null;
  readonly lookups: readonly Lookup[];
  readonly remarks: readonly Remark[];
  /** `Type.field` by response names from the root. */
  readonly fields: ReadonlyMap<string, string>;
  readonly errors: readonly GraphQLError[];
}

interface Context {
  readonly world: World;
  readonly habits: Habits;
  readonly lookups: Lookup[];
  readonly remarks: Remark[];
  readonly fields: Map<string, string>;
  /** The rows of a country and metric. */
  readonly rowsOf: (code: string, key: string) => readonly RowFact[];
  /**
   * True if a country of the 54 that this service doesn't list counts as one; the description leaves it open.
   */
  readonly knowsAllOfAfrica: boolean;
}

interface CountryNode {
  readonly __typename: 'Country';
  readonly code: string;
  readonly fact: CountryFact | undefined;
  /** The name, if the object above brings it. */
  readonly free?: string | undefined;
}

interface IndicatorNode {
  readonly __typename: 'Indicator';
  readonly key: string;
  readonly fact: IndicatorFact | undefined;
  readonly free?: { readonly name?: unknown; readonly unit?: unknown };
}

interface SourceNode {
  readonly __typename: 'Source';
  readonly key: string;
}

type Resolve = GraphQLFieldResolver<never, Context, never>;

export const schema: GraphQLSchema = readSchema();

/** The schema as its files say it, with the additions of a subgraph. */
function readSchema(): GraphQLSchema {
  const folder = new URL('../../schema/', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.graphql'));
  const text = files.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n');
  const federation = `
    scalar _Any
    union _Entity = Country | Indicator | Source | Ticker
    extend type Query { _entities(representations: [_Any!]!): [_Entity]! }
  `;
  const document = parse(text + federation);
  const merged = mergeExtensions({
    ...document,
    definitions: document.definitions.filter(({ kind }) => kind !== 'SchemaExtension'),
  });
  return buildASTSchema(merged, { assumeValid: true, assumeValidSDL: true });
}

function mergeExtensions(document: ReturnType<typeof parse>): ReturnType<typeof parse> {
  const extensions = document.definitions.filter((one) => one.kind === 'ObjectTypeExtension');
  const definitions = document.definitions
    .filter((one) => one.kind !== 'ObjectTypeExtension')
    .map((one) => {
      if (one.kind !== 'ObjectTypeDefinition') return one;
      const more = extensions.filter(({ name }) => name.value === one.name.value);
      return { ...one, fields: [...(one.fields ?? []), ...more.flatMap(({ fields }) => fields ?? [])] };
    });
  return { ...document, definitions };
}

const note = (context: Context, info: GraphQLResolveInfo, route: string, further: Partial<Lookup> = {}) => {
  context.lookups.push({ path: pathOf(info), route, ...further });
};

function pathOf(info: GraphQLResolveInfo): string {
  const names: string[] = [];
  for (let at: GraphQLResolveInfo['path'] | undefined = info.path; at !== undefined; at = at.prev) {
    if (typeof at.key === 'string') names.unshift(at.key);
  }
  return names.join('.');
}

/** Marks an identifier: those of the gateway are opaque, so that only their distinctions can be compared. */
export const ID_MARK = '\u0001';

export function idOf(type: string, ...words: readonly unknown[]): string {
  return ID_MARK + [type, ...words].join('|');
}

/** All that tells a row from others of its country and indicator, but for what each run of its source may change. */
export function figureIdOf(row: RowFact): string {
  const { country, metric, year, period, place, source, release, asOfPeriod, status, unit } = row;
  const parts = [country, metric, year, period, place, source, release, asOfPeriod, status, unit];
  return idOf('Observation', ...parts);
}

// Looks up things that are asked for by name.

function countryOf(context: Context, code: string, free?: string): CountryNode | null {
  const upper = code.toUpperCase();
  const fact = context.world.countries.find((country) => country.code === upper);
  if (fact !== undefined) return { __typename: 'Country', code: upper, fact, free };
  if (free !== undefined) return { __typename: 'Country', code: upper, fact, free };
  return context.knowsAllOfAfrica && AFRICA.has(upper) ? { __typename: 'Country', code: upper, fact } : null;
}

function indicatorOf(context: Context, key: string): IndicatorNode | null {
  const fact = context.world.indicators.find((indicator) => indicator.key === key);
  return fact === undefined ? null : { __typename: 'Indicator', key, fact };
}

function sourceOf(key: unknown): SourceNode | null {
  return typeof key === 'string' ? { __typename: 'Source', key } : null;
}

function tickerOf(context: Context, exchangeCode: string, symbol: string): TickerFact | null {
  const found = context.world.tickers.find(
    (ticker) => ticker.exchangeCode === exchangeCode && ticker.symbol === symbol,
  );
  return found === undefined ? null : found;
}

// Figures.

interface Wanted {
  readonly codes: readonly string[];
  readonly keys: readonly string[];
  readonly latest?: boolean | null;
  readonly fromYear?: number | null;
  readonly toYear?: number | null;
  readonly scope?: 'NATIONAL' | 'PLACES' | 'ALL' | null;
}

function figuresOf(context: Context, info: GraphQLResolveInfo, wanted: Wanted): RowFact[] {
  const codes = [...new Set(wanted.codes.map((code) => code.toUpperCase()))];
  const asked = [...new Set(wanted.keys)];
  // The latest of all may be of another place, and then says nothing of those that are wanted.
  const isOfSome = wanted.fromYear != null || wanted.toYear != null || wanted.scope === 'PLACES';
  const mode = wanted.latest !== true ? 'series' : isOfSome ? 'latest of some' : 'latest';
  const isWanted = (row: RowFact) =>
    row.value !== null &&
    row.year >= (wanted.fromYear ?? Number.NEGATIVE_INFINITY) &&
    row.year <= (wanted.toYear ?? Number.POSITIVE_INFINITY) &&
    (wanted.scope == null ||
      wanted.scope === 'ALL' ||
      (wanted.scope === 'NATIONAL') === (row.place === null));
  const found = new Map<string, RowFact[]>();
  for (const key of new Set(asked.map((one) => spelled(context.habits, context.world, one)))) {
    const rows = codes.flatMap((code) => chosenOf(context, info, wanted, code, key, isWanted));
    found.set(key, rows);
  }
  const foundKeys = asked.filter(
    (key) => found.get(spelled(context.habits, context.world, key))?.length !== 0,
  );
  // Notes keys as they were spelled: a refusal names them so.
  const reasons = reasonsOf(context, codes, asked, wanted);
  note(context, info, '/v1/data', { codes, keys: asked, mode, found: new Set(foundKeys), reasons });
  // Of several spellings of a key, the service's own is the one that has its figures.
  const isOwn = (key: string) =>
    spelled(context.habits, context.world, key) === key ||
    !asked.includes(spelled(context.habits, context.world, key));
  const keys = [...new Set(asked.filter(isOwn).map((one) => spelled(context.habits, context.world, one)))];
  const figures = codes.flatMap((code) =>
    keys.flatMap((key) => (found.get(key) ?? []).filter((row) => row.country === code).sort(inSeries)),
  );
  const others = codes.flatMap((code) => keys.flatMap((key) => context.rowsOf(code, key)));
  remarkPeriods(context, info, figures, others);
  return figures;
}

/** The figures of one country and metric that are wanted. */
function chosenOf(
  context: Context,
  info: GraphQLResolveInfo,
  { latest, toYear, scope }: Wanted,
  code: string,
  key: string,
  isWanted: (row: RowFact) => boolean,
): readonly RowFact[] {
  const rows = context.rowsOf(code, key);
  if (latest !== true) return rows.filter(isWanted);
  // Up to a year, and of places, the service doesn't choose. From a year on, it is the latest of all, if that is of such a year.
  if (toYear != null || scope === 'PLACES') {
    return picked(context, info, newestOf(rows.filter(isWanted)), isWanted);
  }
  const isOfScope = (row: RowFact) => scope !== 'NATIONAL' || row.place === null;
  return picked(context, info, latestOf({ habits: context.habits, rows, isWanted: isOfScope }), isWanted);
}

/** The newest national figure. */
function figureOf(context: Context, info: GraphQLResolveInfo, code: string, key: string): RowFact | null {
  const upper = code.toUpperCase();
  const rows = context.rowsOf(upper, spelled(context.habits, context.world, key));
  const choice = latestOf({ habits: context.habits, rows, isWanted: isNational });
  const found = new Set(choice === null ? [] : [key]);
  const reasons = reasonsOf(context, [upper], [key], { scope: 'NATIONAL' });
  note(context, info, '/v1/data', { codes: [upper], keys: [key], mode: 'figure', found, reasons });
  const figures = picked(context, info, choice, isNational);
  remarkPeriods(context, info, figures, rows);
  return figures[0] ?? null;
}

/** The reasons for which a country may have no figure of a key that is wanted: what the service has makes each true. */
function reasonsOf(
  context: Context,
  codes: readonly string[],
  keys: readonly string[],
  { fromYear, toYear, scope }: Pick<Wanted, 'fromYear' | 'toYear' | 'scope'>,
): ReadonlySet<string> {
  const reasons = new Set<string>();
  for (const code of codes) {
    if (context.world.countries.every((country) => country.code !== code)) reasons.add('NOT_OFFERED');
    for (const given of keys) {
      const key = spelled(context.habits, context.world, given);
      if (indicatorOf(context, given) === null) reasons.add('UNKNOWN_INDICATOR');
      const rows = context.rowsOf(code, key);
      const figures = rows.filter(({ value }) => value !== null);
      const isOfScope = ({ place }: RowFact) =>
        scope == null || scope === 'ALL' || (scope === 'NATIONAL') === (place === null);
      const years = figures.filter(isOfScope).map(({ year }) => year);
      const isOlder = (year: number) => fromYear != null && year < fromYear;
      const isNewer = (year: number) => toYear != null && year > toYear;
      if (rows.length > 0 && figures.length === 0) reasons.add('BLANK');
      if (years.length > 0 && years.every(isOlder)) reasons.add('OLDER_ONLY');
      if (years.length > 0 && years.every(isNewer)) reasons.add('NEWER_ONLY');
      if (years.every((year) => isOlder(year) || isNewer(year))) reasons.add('NO_FIGURE');
    }
  }
  return reasons;
}

const isNational = ({ place }: RowFact) => place === null;

function picked(
  context: Context,
  info: GraphQLResolveInfo,
  choice: Choice | null,
  isWanted: (row: RowFact) => boolean,
): readonly RowFact[] {
  if (choice === null || !isWanted(choice.row)) return [];
  const { row, among, byRule } = choice;
  const sources = [...new Set(among.map(({ source }) => source))].sort();
  if (among.length > 1) {
    context.remarks.push({ code: 'SEVERAL_FIGURES', path: pathOf(info), isOptional: !byRule, sources });
  }
  return [row];
}

/** @param others the rows that these were chosen among */
function remarkPeriods(
  context: Context,
  info: GraphQLResolveInfo,
  rows: readonly RowFact[],
  others: readonly RowFact[],
): void {
  const isOpaque = ({ slot }: RowFact) => slot.frequency === 'opaque';
  const isOptional = !rows.some(isOpaque);
  if (isOptional && !others.some(isOpaque)) return;
  context.remarks.push({ code: 'UNREADABLE_PERIOD', path: pathOf(info), isOptional });
}

const allCodes = (context: Context) => context.world.countries.map(({ code }) => code);
const allKeys = (context: Context) => context.world.indicators.map(({ key }) => key);

// Fields, by type.

const listed =
  (route: string, pick: (fact: CountryFact) => unknown): Resolve =>
  (node: CountryNode, _args, context, info) => {
    note(context, info, route);
    return node.fact === undefined ? null : pick(node.fact);
  };

const country = (pick: (fact: CountryFact) => unknown) => listed('/v1/countries', pick);

const catalogued =
  (pick: (fact: IndicatorFact, context: Context) => unknown): Resolve =>
  (node: IndicatorNode, _args, context, info) => {
    note(context, info, '/v1/indicators');
    return node.fact === undefined ? null : pick(node.fact, context);
  };

const refreshed =
  (pick: (fact: World['sources'][number], context: Context, info: GraphQLResolveInfo) => unknown): Resolve =>
  (node: SourceNode, _args, context, info) => {
    note(context, info, '/v1/platform/etl-status');
    const fact = context.world.sources.find(({ key }) => key === node.key);
    return fact === undefined ? null : pick(fact, context, info);
  };

const plain =
  (name: string): Resolve =>
  (fact: Json) =>
    fact[name] ?? null;

const record: Resolve = (fact: { record: Json }) => fact.record;

const Country: Record<string, Resolve> = {
  id: (node: CountryNode) => idOf('Country', node.code),
  code: (node: CountryNode) => node.code,
  name: (node: CountryNode, args, context, info) =>
    node.free ?? country((fact) => fact.name)(node as never, args, context, info),
  iso3: country((fact) => fact.iso3),
  officialName: country((fact) => fact.officialName),
  capital: country((fact) => fact.capital),
  region: country((fact) => fact.region),
  subregion: country((fact) => fact.subregion),
  record: country((fact) => fact.record),
  profile: (node: CountryNode, _args, context, info) => {
    const found = context.world.profiles.get(node.code) ?? null;
    note(context, info, '/v1/countries/{code}/profile', { isAbsent: found === null });
    return found;
  },
  signals: (node: CountryNode, _args, context, info) => {
    const found = context.world.signals.get(node.code) ?? null;
    note(context, info, '/v1/countries/{code}/signals', { isAbsent: found === null });
    return found;
  },
  offices: (node: CountryNode, _args, context, info) => {
    const found = context.world.governments.get(node.code);
    note(context, info, '/v1/government/structure/{code}', { isAbsent: found === undefined });
    return found?.offices ?? null;
  },
  tickers: (node: CountryNode, _args, context, info) => {
    note(context, info, '/v1/markets/tickers');
    return context.world.tickers.filter((ticker) => ticker.country === node.code);
  },
  observation: (node: CountryNode, { metricKey }: { metricKey: string }, context, info) =>
    figureOf(context, info, node.code, metricKey),
  observations: (node: CountryNode, args: Partial<Wanted> & { metricKeys?: string[] }, context, info) =>
    figuresOf(context, info, { ...args, codes: [node.code], keys: args.metricKeys ?? allKeys(context) }),
};

const Indicator: Record<string, Resolve> = {
  id: (node: IndicatorNode) => idOf('Indicator', node.key),
  key: (node: IndicatorNode) => node.key,
  name: (node: IndicatorNode, args, context, info) =>
    node.free?.name ?? catalogued((fact) => fact.name)(node as never, args, context, info),
  unit: (node: IndicatorNode, args, context, info) =>
    node.free?.unit ?? catalogued((fact) => fact.unit)(node as never, args, context, info),
  category: catalogued((fact, { habits }) => (habits.catalogueCategory ? fact.category : null)),
  hasData: catalogued((fact, { habits }) => (habits.catalogueHasData ? fact.hasData : null)),
  sources: catalogued((fact, { habits }) => {
    if (habits.catalogueSources === 'none') return null;
    return fact.sources.slice(0, habits.catalogueSources === 'one' ? 1 : fact.sources.length).map(sourceOf);
  }),
  record: catalogued((fact) => fact.record),
  observation: (node: IndicatorNode, { countryCode }: { countryCode: string }, context, info) =>
    figureOf(context, info, countryCode, node.key),
  observations: (node: IndicatorNode, args: Partial<Wanted> & { countryCodes?: string[] }, context, info) =>
    figuresOf(context, info, { ...args, codes: args.countryCodes ?? allCodes(context), keys: [node.key] }),
};

const Observation: Record<string, Resolve> = {
  id(row: RowFact, _args, context, info) {
    const id = figureIdOf(row);
    const alike = context.rowsOf(row.country, row.metric).filter((one) => figureIdOf(one) === id);
    const sources = [row.source];
    if (alike.length > 1)
      context.remarks.push({ code: 'SEVERAL_FIGURES', path: pathOf(info), isOptional: true, sources });
    return id;
  },
  country: (row: RowFact, _args, context) => countryOf(context, row.country, row.countryName),
  indicator: (row: RowFact, _args, context) => ({
    __typename: 'Indicator',
    key: row.metric,
    fact: indicatorOf(context, row.metric)?.fact,
    free: { name: row.metricName, unit: row.unit },
  }),
  year: plain('year') as Resolve,
  period: plain('period'),
  asOfPeriod: plain('asOfPeriod'),
  locationName: plain('place'),
  value: plain('value'),
  unit: plain('unit'),
  source: (row: RowFact) => sourceOf(row.source),
  valueStatus: plain('status'),
  isModelled: (row: RowFact) => row.status !== 'reported',
  estimateLow: plain('low'),
  estimateHigh: plain('high'),
  datasetVersion: plain('release'),
  retrievedAt: plain('retrievedAt'),
  freshness: () => ({}),
  record,
  change: (row: RowFact, { since }: { since?: number | null }, context, info) =>
    compared(context, info, row, since, difference),
  growthPercent: (row: RowFact, { since }: { since?: number | null }, context, info) =>
    compared(context, info, row, since, (own, earlier) => (earlier <= 0 ? null : growth(own, earlier))),
  per: (row: RowFact, { metricKey }: { metricKey: string }, context, info) => {
    const key = spelled(context.habits, context.world, metricKey);
    const [divisor] = operandsOf(context, info, row, [row.country], metricKey, key, row.year);
    if (divisor === undefined || divisor === 'none') return null;
    if (divisor === 'other years') return misfit(context, info, true);
    if (divisor === 'misfit' || divisor.value === 0) return misfit(context, info);
    const value = quotient(row.value as number, divisor.value as number);
    return { value, unit: `${row.unit} / ${divisor.unit}`, year: row.year, operands: [row, divisor] };
  },
  rank: (
    row: RowFact,
    { among, direction }: { among?: string[] | null; direction?: string },
    context,
    info,
  ) => {
    const codes = [...new Set((among ?? [...AFRICA.keys()]).map((code) => code.toUpperCase()))];
    const others = operandsOf(context, info, row, codes, row.metric, row.metric, row.year);
    if (row.place !== null) return misfit(context, info);
    const rivals = others.filter((_, i) => codes[i] !== row.country);
    if (rivals.includes('misfit')) return misfit(context, info);
    const values = rivals.flatMap((rival) => (typeof rival === 'object' ? [rival.value as number] : []));
    const isAhead = (value: number) =>
      direction === 'ASC' ? value < (row.value as number) : value > (row.value as number);
    return { position: 1 + values.filter(isAhead).length, of: 1 + values.length, year: row.year };
  },
};

/** Figures of some countries that a figure is compared with. */
function operandsOf(
  context: Context,
  info: GraphQLResolveInfo,
  own: RowFact,
  codes: readonly string[],
  asked: string,
  key: string,
  year: number,
): Counterpart[] {
  const operands = codes.map((code) => {
    return counterpartOf({ habits: context.habits, rows: context.rowsOf(code, key), own, year });
  });
  const isFound = codes.some((code) => context.rowsOf(code, key).some(({ value }) => value !== null));
  note(context, info, '/v1/data', {
    codes,
    keys: [asked],
    mode: 'operands',
    found: new Set(isFound ? [asked] : []),
  });
  const path = pathOf(info);
  for (const [i, operand] of operands.entries()) {
    const rows = context.rowsOf(codes[i] as string, key);
    const there =
      typeof operand === 'object' ? rows.filter((row) => row.year === year && row.value !== null) : [];
    const sources = [...new Set(there.map((row) => row.source))].sort();
    if (there.length > 1) context.remarks.push({ code: 'SEVERAL_FIGURES', path, isOptional: true, sources });
    if (rows.some(({ slot }) => slot.frequency === 'opaque')) {
      context.remarks.push({ code: 'UNREADABLE_PERIOD', path, isOptional: true });
    }
  }
  return operands;
}

/** Null for a figure that would be misread. */
function misfit(context: Context, info: GraphQLResolveInfo, isOptional = false): null {
  context.remarks.push({ code: 'NOT_COMPARABLE', path: pathOf(info), isOptional });
  return null;
}

function compared(
  context: Context,
  info: GraphQLResolveInfo,
  own: RowFact,
  since: number | null | undefined,
  derive: (own: number, earlier: number) => number | null,
): number | null {
  const year = since ?? own.year - 1;
  if (year >= own.year) return null;
  const [earlier] = operandsOf(context, info, own, [own.country], own.metric, own.metric, year);
  if (earlier === undefined || earlier === 'none') return null;
  if (earlier === 'misfit') return misfit(context, info);
  if (earlier === 'other years') {
    const rows = context.rowsOf(own.country, own.metric);
    const isEarlier = (row: RowFact) => row.value !== null && row.place === own.place && row.year < year;
    return rows.some(isEarlier) ? misfit(context, info, true) : null;
  }
  const path = pathOf(info);
  if (earlier.source !== own.source) context.remarks.push({ code: 'NOT_COMPARABLE', path });
  const derived = derive(own.value as number, earlier.value as number);
  return derived === null ? misfit(context, info) : derived;
}

const Ticker: Record<string, Resolve> = {
  id: (ticker: TickerFact) => idOf('Ticker', ticker.exchangeCode, ticker.symbol),
  country: (ticker: TickerFact, _args, context) =>
    ticker.country === null ? null : countryOf(context, ticker.country),
  record,
};
for (const name of [
  'exchangeCode',
  'symbol',
  'name',
  'instrumentType',
  'sector',
  'industry',
  'session',
  'closePrice',
  'changePercent',
]) {
  Ticker[name] = plain(name);
}

/** Fields of records that the specification names only, by their names in the record. */
function renamed(fields: Readonly<Record<string, string>>): Record<string, Resolve> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, from]) => [name, ((fact: Json) => fact[from] ?? null) as Resolve]),
  );
}

const FIRST_OF_JULY = '2026-07-01T00:00:00Z';

const itself: Resolve = (fact) => fact;

export const resolvers: Readonly<Record<string, Readonly<Record<string, Resolve>>>> = {
  Query: {
    health: (_root, _args, context, info) => {
      note(context, info, '/health');
      return { status: 'ok', record: { status: 'ok' } };
    },
    platformVersion: (_root, _args, context, info) => {
      note(context, info, '/v1/platform/version');
      return { version: '4.2.0', record: { version: '4.2.0' } };
    },
    sources: (_root, _args, context, info) => {
      note(context, info, '/v1/platform/etl-status');
      return context.world.sources.map(({ key }) => sourceOf(key));
    },
    source: (_root, { key }: { key: string }, context, info) => {
      note(context, info, '/v1/platform/etl-status');
      return context.world.sources.some((source) => source.key === key) ? sourceOf(key) : null;
    },
    countries: (_root, { codes }: { codes?: string[] | null }, context, info) => {
      note(
        context,
        info,
        '/v1/countries',
        codes == null ? {} : { codes: codes.map((one) => one.toUpperCase()) },
      );
      const wanted = codes?.map((code) => code.toUpperCase()) ?? allCodes(context);
      return [...new Set(wanted)].map((code) => countryOf(context, code)).filter((node) => node !== null);
    },
    country: (_root, { code }: { code: string }, context, info) => {
      note(context, info, '/v1/countries', { codes: [code.toUpperCase()] });
      return countryOf(context, code);
    },
    indicators: (
      _root,
      args: { category?: string | null; hasData?: boolean | null; keys?: string[] | null },
      context,
      info,
    ) => {
      note(context, info, '/v1/indicators', args.keys == null ? {} : { keys: args.keys });
      return context.world.indicators
        .filter(
          (fact) =>
            (args.category == null || fact.category === args.category) &&
            (args.hasData == null || fact.hasData === args.hasData) &&
            (args.keys == null || args.keys.includes(fact.key)),
        )
        .map((fact) => indicatorOf(context, fact.key));
    },
    indicator: (_root, { key }: { key: string }, context, info) => {
      note(context, info, '/v1/indicators', { keys: [key] });
      return indicatorOf(context, key);
    },
    observations: (
      _root,
      args: Partial<Wanted> & { countryCodes?: string[] | null; metricKeys?: string[] | null },
      context,
      info,
    ) => {
      if (args.countryCodes == null) note(context, info, '/v1/countries');
      if (args.metricKeys == null) note(context, info, '/v1/indicators');
      return figuresOf(context, info, {
        ...args,
        codes: args.countryCodes ?? allCodes(context),
        keys: args.metricKeys ?? allKeys(context),
      });
    },
    tickers: (
      _root,
      args: { exchangeCode?: string | null; countryCode?: string | null; instrumentType?: string | null },
      context,
      info,
    ) => {
      const codes = args.countryCode == null ? {} : { codes: [args.countryCode.toUpperCase()] };
      note(context, info, '/v1/markets/tickers', codes);
      return context.world.tickers.filter(
        (ticker) =>
          (args.exchangeCode == null || ticker.exchangeCode === args.exchangeCode) &&
          (args.countryCode == null || ticker.country === args.countryCode.toUpperCase()) &&
          (args.instrumentType == null || ticker.instrumentType === args.instrumentType),
      );
    },
    ticker: (_root, args: { exchangeCode: string; symbol: string }, context, info) => {
      note(context, info, '/v1/markets/tickers');
      return tickerOf(context, args.exchangeCode, args.symbol);
    },
    quota: () => ({}),
    node: (_root, { id }: { id: string }, context, info) => nodeOf(context, info, id),
    nodes: (_root, { ids }: { ids: string[] }, context, info) => ids.map((id) => nodeOf(context, info, id)),
    _entities: (_root, { representations }: { representations: Json[] }, context, info) =>
      representations.map((representation) => entityOf(context, info, representation)),
  },
  Country,
  Indicator,
  Observation,
  Ticker,
  Freshness: { stale: () => false, reason: () => null },
  Quota: { state: () => 'OK' },
  Health: { status: plain('status'), record },
  PlatformVersion: { version: plain('version'), record },
  Source: {
    id: (node: SourceNode) => idOf('Source', node.key),
    key: (node: SourceNode) => node.key,
    lastSuccessfulRefresh: refreshed((fact, { habits }) =>
      toldTime(fact.lastSuccessfulRefresh, habits.times),
    ),
    nextRun: refreshed((fact, context, info) => {
      if (fact.nextRun === null) return null;
      if (fact.nextRun !== UNREADABLE) return toldTime(fact.nextRun, context.habits.times);
      context.remarks.push({ code: 'UNREADABLE_TIME', path: pathOf(info) });
      return null;
    }),
    record: refreshed((fact) => fact.record),
  },
  CountryProfile: {
    country: (fact: { code: string }, _args, context) => countryOf(context, fact.code),
    indicators: plain('indicators'),
    record,
  },
  ProfileIndicator: {
    ...renamed({ key: 'metric_key', name: 'metric_name', unit: 'unit', value: 'value', year: 'year' }),
    ...renamed({ period: 'period' }),
    source: (item: Json) => sourceOf(item.source),
    indicator: (item: Json, _args, context) => indicatorOf(context, String(item.metric_key)),
    record: itself,
  },
  Signals: {
    country: (fact: SignalsFact, _args, context) => countryOf(context, fact.code),
    observations: (fact: SignalsFact, _args, context, info) => {
      remarkPeriods(context, info, fact.rows, []);
      return fact.rows;
    },
    fxRates: plain('fxRates'),
    commodityBenchmarks: plain('commodities'),
    disasterAlerts: plain('disasters'),
    record,
  },
  FxRate: {
    ...renamed({ baseCurrency: 'base_currency', quoteCurrency: 'quote_currency', rateDate: 'rate_date' }),
    ...renamed({ rate: 'rate' }),
    source: (rate: Json) => sourceOf(rate.source_code),
    countries: (rate: Json, _args, context) =>
      (rate.country_codes as string[]).map((code) => countryOf(context, code)),
    record: itself,
  },
  CommodityBenchmark: {
    ...renamed({ commodityKey: 'commodity_key', priceValue: 'price_value', priceDate: 'price_date' }),
    record: itself,
  },
  DisasterAlert: {
    ...renamed({ eventKey: 'event_key', eventType: 'event_type', name: 'name', description: 'description' }),
    ...renamed({ alertLevel: 'alert_level', alertScore: 'alert_score', severityValue: 'severity_value' }),
    ...renamed({ severityText: 'severity_text', severityUnit: 'severity_unit', reportUrl: 'report_url' }),
    // Each of them begins at the start of a day.
    eventFromAt: (alert: Json) => (alert.event_from_at == null ? null : FIRST_OF_JULY),
    eventToAt: () => null,
    source: (alert: Json) => sourceOf(alert.source),
    record: itself,
  },
  Office: {
    id: (office: OfficeFact) => idOf('Office', office.code, office.name, office.roleType),
    name: plain('name'),
    roleType: plain('roleType'),
    country: (office: OfficeFact, _args, context) => countryOf(context, office.code),
    terms: plain('terms'),
    record,
  },
  Term: {
    ...renamed({ holder: 'leader_name', startDate: 'start_date', endDate: 'end_date', status: 'status' }),
    record: itself,
  },
};

function entityOf(context: Context, info: GraphQLResolveInfo, representation: Json): unknown {
  const text = (name: string) => String(representation[name]);
  switch (representation.__typename) {
    case 'Country':
      note(context, info, '/v1/countries', { codes: [text('code').toUpperCase()] });
      return countryOf(context, text('code'));
    case 'Indicator':
      note(context, info, '/v1/indicators', { keys: [text('key')] });
      return indicatorOf(context, text('key'));
    case 'Source':
      note(context, info, '/v1/platform/etl-status');
      return context.world.sources.some(({ key }) => key === text('key')) ? sourceOf(text('key')) : null;
    case 'Ticker': {
      note(context, info, '/v1/markets/tickers');
      const ticker = tickerOf(context, text('exchangeCode'), text('symbol'));
      return ticker === null ? null : { ...ticker, __typename: 'Ticker' };
    }
    default:
      throw new GraphQLError('no entity');
  }
}

/** Today's figure of the same year, period, place and source as one that a key has not, or has no more. */
function revisedOf(rows: readonly RowFact[], [, , year, period = '', place, source]: readonly string[]) {
  const isOfFigure = (row: RowFact) =>
    row.value !== null &&
    String(row.year) === year &&
    spellings(row.slot).includes(period) &&
    (row.place ?? '') === place &&
    row.source === source;
  const figures = rows.filter(isOfFigure);
  return (newestOf(figures.filter((row) => row.period === period)) ?? newestOf(figures))?.row;
}

/** Identifiers here are the type and the words that tell one object from another. */
function nodeOf(context: Context, info: GraphQLResolveInfo, id: string): unknown {
  const [type = '', ...words] = id.slice(1).split('|');
  const [first = '', second = ''] = words;
  switch (type) {
    case 'Country':
      return entityOf(context, info, { __typename: type, code: first });
    case 'Indicator':
    case 'Source':
      return entityOf(context, info, { __typename: type, key: first });
    case 'Ticker':
      return entityOf(context, info, { __typename: type, exchangeCode: first, symbol: second });
    case 'Observation': {
      note(context, info, '/v1/data', { codes: [first], keys: [second], mode: 'series' });
      const rows = context.rowsOf(first, second);
      const named = rows.find((one) => figureIdOf(one) === id);
      const row = named ?? revisedOf(rows, words);
      if (named === undefined && row !== undefined)
        context.remarks.push({ code: 'REVISED_SINCE', path: pathOf(info) });
      remarkPeriods(context, info, row === undefined ? [] : [row], []);
      return row === undefined ? null : { ...row, __typename: type };
    }
    case 'Office': {
      note(context, info, '/v1/government/structure/{code}');
      const offices = context.world.governments.get(first)?.offices ?? [];
      const named = (office: OfficeFact) => idOf('Office', office.code, office.name, office.roleType) === id;
      const office = offices.find(named);
      return office === undefined ? null : { ...office, __typename: type };
    }
    default:
      return null;
  }
}

for (const [typeName, fields] of Object.entries(resolvers)) {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) continue;
  for (const [name, resolve] of Object.entries(fields)) {
    const field = type.getFields()[name];
    if (field === undefined) continue;
    const noted: Resolve = (source, args, context, info) => {
      context.fields.set(pathOf(info), `${typeName}.${name}`);
      return resolve(source, args, context, info);
    };
    field.resolve = noted as GraphQLFieldResolver<unknown, unknown>;
  }
}

/** Answer that the graph promises, from the whole truth, each field for itself. */
export function answer(
  world: World,
  habits: Habits,
  operation: { readonly text: string; readonly variables: Json },
  knowsAllOfAfrica = false,
): Truth {
  const lookups: Lookup[] = [];
  const remarks: Remark[] = [];
  const fields = new Map<string, string>();
  const rowsOf = rowsByPair(world);
  const contextValue: Context = { world, habits, lookups, remarks, fields, rowsOf, knowsAllOfAfrica };
  const result = execute({
    schema,
    document: parse(operation.text),
    variableValues: operation.variables,
    contextValue,
  });
  if (result instanceof Promise) throw new Error('the reference waits for nothing');
  return {
    data: (result.data ?? null) as Json | null,
    lookups,
    remarks,
    fields,
    errors: result.errors ?? [],
  };
}

function rowsByPair({ rows }: World): Context['rowsOf'] {
  let pairs: Map<string, RowFact[]> | undefined;
  return (code, key) => {
    pairs ??= Map.groupBy(rows, (row) => `${row.country} ${row.metric}`);
    return pairs.get(`${code} ${key}`) ?? [];
  };
}
