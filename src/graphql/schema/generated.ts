import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { CountryRef, IndicatorRef, SourceRef, Page, GraphContext } from './context.ts';
import type { QuotaRecord } from '../../keys/ledger.ts';
import type { CountryProfileRecord, ProfileIndicatorRecord } from '../../service/records/countries.ts';
import type { ObservationRecord, SignalsRecord, FxRateRecord, CommodityBenchmarkRecord, DisasterAlertRecord } from '../../service/records/observations.ts';
import type { HealthRecord, PlatformVersionRecord, OfficeRecord, TermRecord, TickerRecord } from '../../service/records/reference.ts';
export type Maybe<T> = T | null;
export type InputMaybe<T> = Maybe<T>;
export type Omit<T, K extends keyof T> = Pick<T, Exclude<keyof T, K>>;
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** ISO 3166-1 alpha-2 country code. Case-insensitive as input, always upper case in answers. */
  CountryCode: { input: string; output: string; }
  /** RFC 3339 timestamp in UTC, such as `2026-07-24T03:12:45.123456Z`. A time that the service sends without a zone is UTC; fractions of a second are kept as sent. */
  DateTime: { input: string; output: string; }
  /** Any JSON value. */
  JSON: { input: unknown; output: unknown; }
  _FieldSet: { input: unknown; output: unknown; }
};

/** Formats of a citation. */
export type CitationStyle =
  /** A BibTeX entry. */
  | 'BIBTEX'
  /** A line of text. */
  | 'TEXT';

/** The price of a commodity on a day. */
export type CommodityBenchmark = {
  readonly __typename?: 'CommodityBenchmark';
  /** Key of the commodity. */
  readonly commodityKey: Maybe<Scalars['String']['output']>;
  /** Day of the price, `YYYY-MM-DD`. */
  readonly priceDate: Maybe<Scalars['String']['output']>;
  /** Price, in the unit that the source states. */
  readonly priceValue: Maybe<Scalars['Float']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
};

/** A country that the service covers. */
export type Country = Node & {
  readonly __typename?: 'Country';
  /** Capital city. From the one `/v1/countries` call. */
  readonly capital: Maybe<Scalars['String']['output']>;
  /** ISO 3166-1 alpha-2 code, in upper case. */
  readonly code: Scalars['CountryCode']['output'];
  /** Global identifier. */
  readonly id: Scalars['ID']['output'];
  /** ISO 3166-1 alpha-3 code. From the one `/v1/countries` call. */
  readonly iso3: Maybe<Scalars['String']['output']>;
  /** Common name in English. Free below an observation; otherwise from the one `/v1/countries` call. */
  readonly name: Maybe<Scalars['String']['output']>;
  /**
   * The latest national figure of one indicator; null if the service holds none. Merged into one `/v1/data` call. If the latest row of the service is for a place or has no value, a second call finds the figure in the series. If there are several figures for the newest period, the one that the service returns as the latest is taken; if the operation also asks for a series, that takes one more call. The warning `SEVERAL_FIGURES` reports the others.
   *
   * If the service's own choice is not known, the latest row of a series is the first in this order: the highest `year`; the period that ends last (an unreadable one ends with its year); among those that end together, the longest (a year before its last half, quarter, month, week and day; an unreadable one last); the latest `asOfPeriod`; the national figure before those of places, and places by name; the most recently retrieved; the last release by name; the source whose key sorts first. The order of the service's rows makes no difference.
   */
  readonly observation: Maybe<Observation>;
  /** Observations of this country. Merged into one `/v1/data` call. */
  readonly observations: Maybe<ReadonlyArray<Observation>>;
  /** `observations` as a connection, in pages. */
  readonly observationsConnection: Maybe<ObservationConnection>;
  /** Government offices and their holders. One `/v1/government/structure/{code}` call per country. */
  readonly offices: Maybe<ReadonlyArray<Office>>;
  /** Official name in English. From the one `/v1/countries` call. */
  readonly officialName: Maybe<Scalars['String']['output']>;
  /** Reference record with selected indicators; null if there is none. One `/v1/countries/{code}/profile` call per country. */
  readonly profile: Maybe<CountryProfile>;
  /** The record exactly as the service sent it; an error if the service lists no such country. From the one `/v1/countries` call. */
  readonly record: Maybe<Scalars['JSON']['output']>;
  /** Region, such as `West Africa`. From the one `/v1/countries` call. */
  readonly region: Maybe<Scalars['String']['output']>;
  /** Snapshot across several domains; null if there is none. One `/v1/countries/{code}/signals` call per country. */
  readonly signals: Maybe<Signals>;
  /** Subregion, if the service names one. From the one `/v1/countries` call. */
  readonly subregion: Maybe<Scalars['String']['output']>;
  /** Exchange listings of companies of this country. One `/v1/markets/tickers` call for all countries together. */
  readonly tickers: Maybe<ReadonlyArray<Ticker>>;
};


/** A country that the service covers. */
export type CountryObservationArgs = {
  maxAge?: InputMaybe<Scalars['Int']['input']>;
  metricKey: Scalars['String']['input'];
};


/** A country that the service covers. */
export type CountryObservationsArgs = {
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  latest?: InputMaybe<Scalars['Boolean']['input']>;
  maxAge?: InputMaybe<Scalars['Int']['input']>;
  metricKeys?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  orderBy?: InputMaybe<ReadonlyArray<ObservationOrder>>;
  scope?: InputMaybe<ObservationScope>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
};


/** A country that the service covers. */
export type CountryObservationsConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
  latest?: InputMaybe<Scalars['Boolean']['input']>;
  maxAge?: InputMaybe<Scalars['Int']['input']>;
  metricKeys?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  orderBy?: InputMaybe<ReadonlyArray<ObservationOrder>>;
  scope?: InputMaybe<ObservationScope>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
};

/** A page of countries. */
export type CountryConnection = {
  readonly __typename?: 'CountryConnection';
  /** The rows of the page, each with its cursor. */
  readonly edges: ReadonlyArray<CountryEdge>;
  /** The rows of the page. */
  readonly nodes: ReadonlyArray<Country>;
  /** Position of the page in the list. */
  readonly pageInfo: PageInfo;
  /** Number of rows in the whole list, across all pages. */
  readonly totalCount: Scalars['Int']['output'];
};

/** A row of a page. */
export type CountryEdge = {
  readonly __typename?: 'CountryEdge';
  /** Opaque cursor of the row. It identifies the row itself, so it stays valid when rows are inserted before it. */
  readonly cursor: Scalars['String']['output'];
  /** The row. */
  readonly node: Country;
};

/** Sort order of countries. Rows without a value come last in either direction. */
export type CountryOrder = {
  /** Sort direction. */
  readonly direction?: OrderDirection;
  /** Field to sort by. */
  readonly field: CountryOrderField;
};

/** Fields that countries can be sorted by. */
export type CountryOrderField =
  /** Code of the country. */
  | 'CODE'
  /** Common name in English. */
  | 'NAME';

/** Reference record of a country with selected indicators. */
export type CountryProfile = {
  readonly __typename?: 'CountryProfile';
  /** The country it describes. */
  readonly country: Country;
  /** The indicators that the service selected for the profile. */
  readonly indicators: ReadonlyArray<ProfileIndicator>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
};

/** A disaster reported for a country. */
export type DisasterAlert = {
  readonly __typename?: 'DisasterAlert';
  /** Level of alert, in the words of the source. */
  readonly alertLevel: Maybe<Scalars['String']['output']>;
  /** Score of the alert. */
  readonly alertScore: Maybe<Scalars['Float']['output']>;
  /** Description by the source. */
  readonly description: Maybe<Scalars['String']['output']>;
  /** Start of the event; null with the warning `UNREADABLE_TIME` if the service sent no readable time. */
  readonly eventFromAt: Maybe<Scalars['DateTime']['output']>;
  /** Key of the event at its source. */
  readonly eventKey: Maybe<Scalars['String']['output']>;
  /** Actual or expected end of the event; null as for `eventFromAt`. */
  readonly eventToAt: Maybe<Scalars['DateTime']['output']>;
  /** Kind of event, such as a flood or a drought. */
  readonly eventType: Maybe<Scalars['String']['output']>;
  /** Name of the event. */
  readonly name: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Address of the report. */
  readonly reportUrl: Maybe<Scalars['String']['output']>;
  /** Severity in words. */
  readonly severityText: Maybe<Scalars['String']['output']>;
  /** Unit of `severityValue`. */
  readonly severityUnit: Maybe<Scalars['String']['output']>;
  /** Severity, in `severityUnit`. */
  readonly severityValue: Maybe<Scalars['Float']['output']>;
  /** Body that published the alert. */
  readonly source: Maybe<Source>;
};

/** Values of `errors[].extensions.code`. */
export type ErrorCode =
  /** The request is not GraphQL over HTTP. */
  | 'BAD_REQUEST'
  /** A variable or an argument is malformed, or the service refused one. */
  | 'BAD_USER_INPUT'
  /** The document is not one of those allowed to run, or reads something that the key may not. */
  | 'DOCUMENT_NOT_ALLOWED'
  /** The key is valid but may not do this. */
  | 'FORBIDDEN'
  /** The operation is not GraphQL. */
  | 'GRAPHQL_PARSE_FAILED'
  /** The operation is not valid against the schema. */
  | 'GRAPHQL_VALIDATION_FAILED'
  /** An internal error of the gateway. */
  | 'INTERNAL_SERVER_ERROR'
  /** The calls that the key, issued by this gateway, may send are spent. The limit resets at `resetsAt`. */
  | 'KEY_BUDGET_SPENT'
  /** The key, issued by this gateway, is no longer valid. */
  | 'KEY_EXPIRED'
  /** The requests of this month are spent. The limit resets at `resetsAt`. */
  | 'MONTHLY_QUOTA_EXCEEDED'
  /** The operation runs offline, and what the field needs is not cached. `command` would fetch it. */
  | 'NOT_HELD'
  /** The journal of the gateway doesn't reach back so far, or doesn't have the snapshot. */
  | 'NOT_RECORDED'
  /** The request names no operation, or one that the document doesn't have. */
  | 'OPERATION_RESOLUTION_FAILURE'
  /** The operation took longer than allowed, and this field was not ready by then. */
  | 'OPERATION_TIMEOUT'
  /** The operation exceeds a limit of this gateway and nothing was sent; on a field: its call was not sent. */
  | 'OPERATION_TOO_EXPENSIVE'
  /** The key, issued by this gateway, may not be used by pages of this origin. */
  | 'ORIGIN_NOT_ALLOWED'
  /** The gateway is overloaded and ran nothing. Retry after `retryAfterSeconds`. */
  | 'OVERLOADED'
  /** The gateway doesn't hold the persisted operation. */
  | 'PERSISTED_QUERY_NOT_FOUND'
  /** Persisted operations are not offered. */
  | 'PERSISTED_QUERY_NOT_SUPPORTED'
  /** The requests of this minute are spent. Retry at `retryAt`. */
  | 'RATE_LIMITED'
  /** The bearer key is missing, or the service doesn't know it. */
  | 'UNAUTHENTICATED'
  /** The service truncated the result, and the rest could not be fetched. */
  | 'UPSTREAM_INCOMPLETE'
  /** The service's answer is not JSON, or a record in it breaks the specification. */
  | 'UPSTREAM_INVALID_RESPONSE'
  /** The service lacks the route that the field needs; the gateway tries it again after a day. */
  | 'UPSTREAM_ROUTE_ABSENT'
  /** The service did not answer in full in time. */
  | 'UPSTREAM_TIMEOUT'
  /** The service failed or broke the connection, on each of `attempts` attempts. */
  | 'UPSTREAM_UNAVAILABLE';

/** Age of an answer, and why it is stale if it is. */
export type Freshness = {
  readonly __typename?: 'Freshness';
  /** Time at which the service sent it to this gateway. */
  readonly fetchedAt: Scalars['DateTime']['output'];
  /** Why the service gave no newer answer; null if the answer is not stale. */
  readonly reason: Maybe<ErrorCode>;
  /** True if the answer has expired and is served because the service gave no newer one. */
  readonly stale: Scalars['Boolean']['output'];
};

/** An exchange rate on a day. */
export type FxRate = {
  readonly __typename?: 'FxRate';
  /** Base currency, ISO 4217. */
  readonly baseCurrency: Maybe<Scalars['String']['output']>;
  /** Countries that the rate concerns. */
  readonly countries: ReadonlyArray<Country>;
  /** Quote currency, ISO 4217. */
  readonly quoteCurrency: Maybe<Scalars['String']['output']>;
  /** Units of the quote currency per unit of the base currency. */
  readonly rate: Maybe<Scalars['Float']['output']>;
  /** Day of the rate, `YYYY-MM-DD`. */
  readonly rateDate: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Body that published the rate. */
  readonly source: Maybe<Source>;
};

/** Health of the REST service. */
export type Health = {
  readonly __typename?: 'Health';
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Status as the service words it, such as `ok`. */
  readonly status: Scalars['String']['output'];
};

/** A measure in the catalogue. */
export type Indicator = Node & {
  readonly __typename?: 'Indicator';
  /** Category, such as `demographics`. From the one `/v1/indicators` call. */
  readonly category: Maybe<Scalars['String']['output']>;
  /** True if the service has figures for it. From the one `/v1/indicators` call. */
  readonly hasData: Maybe<Scalars['Boolean']['output']>;
  /** Global identifier. */
  readonly id: Scalars['ID']['output'];
  /** Stable key, the same on every route. */
  readonly key: Scalars['String']['output'];
  /** Name. Free below an observation; otherwise from the one `/v1/indicators` call. */
  readonly name: Maybe<Scalars['String']['output']>;
  /** The latest national figure of one country; null if the service holds none. Merged into one `/v1/data` call. If the latest row of the service is for a place or has no value, a second call finds the figure in the series. If there are several figures for the newest period, the one that the service returns as the latest is taken; if the operation also asks for a series, that takes one more call. The warning `SEVERAL_FIGURES` reports the others. */
  readonly observation: Maybe<Observation>;
  /** Observations of this indicator. Merged into one `/v1/data` call. */
  readonly observations: Maybe<ReadonlyArray<Observation>>;
  /** `observations` as a connection, in pages. */
  readonly observationsConnection: Maybe<ObservationConnection>;
  /** The record exactly as the service sent it; an error if the catalogue has no such indicator. From the one `/v1/indicators` call. */
  readonly record: Maybe<Scalars['JSON']['output']>;
  /** Bodies that publish it. From the one `/v1/indicators` call. */
  readonly sources: Maybe<ReadonlyArray<Source>>;
  /** Unit as the source states it. Free below an observation; otherwise from the one `/v1/indicators` call. */
  readonly unit: Maybe<Scalars['String']['output']>;
};


/** A measure in the catalogue. */
export type IndicatorObservationArgs = {
  countryCode: Scalars['CountryCode']['input'];
  maxAge?: InputMaybe<Scalars['Int']['input']>;
};


/** A measure in the catalogue. */
export type IndicatorObservationsArgs = {
  countryCodes?: InputMaybe<ReadonlyArray<Scalars['CountryCode']['input']>>;
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  latest?: InputMaybe<Scalars['Boolean']['input']>;
  maxAge?: InputMaybe<Scalars['Int']['input']>;
  orderBy?: InputMaybe<ReadonlyArray<ObservationOrder>>;
  scope?: InputMaybe<ObservationScope>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
};


/** A measure in the catalogue. */
export type IndicatorObservationsConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  countryCodes?: InputMaybe<ReadonlyArray<Scalars['CountryCode']['input']>>;
  first?: InputMaybe<Scalars['Int']['input']>;
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
  latest?: InputMaybe<Scalars['Boolean']['input']>;
  maxAge?: InputMaybe<Scalars['Int']['input']>;
  orderBy?: InputMaybe<ReadonlyArray<ObservationOrder>>;
  scope?: InputMaybe<ObservationScope>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
};

/** A page of indicators. */
export type IndicatorConnection = {
  readonly __typename?: 'IndicatorConnection';
  /** The rows of the page, each with its cursor. */
  readonly edges: ReadonlyArray<IndicatorEdge>;
  /** The rows of the page. */
  readonly nodes: ReadonlyArray<Indicator>;
  /** Position of the page in the list. */
  readonly pageInfo: PageInfo;
  /** Number of rows in the whole list, across all pages. */
  readonly totalCount: Scalars['Int']['output'];
};

/** A row of a page. */
export type IndicatorEdge = {
  readonly __typename?: 'IndicatorEdge';
  /** Opaque cursor of the row. It identifies the row itself, so it stays valid when rows are inserted before it. */
  readonly cursor: Scalars['String']['output'];
  /** The row. */
  readonly node: Indicator;
};

/** Sort order of indicators. Rows without a value come last in either direction. */
export type IndicatorOrder = {
  /** Sort direction. */
  readonly direction?: OrderDirection;
  /** Field to sort by. */
  readonly field: IndicatorOrderField;
};

/** Fields that indicators can be sorted by. */
export type IndicatorOrderField =
  /** Category. */
  | 'CATEGORY'
  /** Key of the indicator. */
  | 'KEY'
  /** Name. */
  | 'NAME';

/** An object that can be fetched by its global identifier. */
export type Node = {
  /** Opaque global identifier. Pass it to `node` to fetch the object again. */
  readonly id: Scalars['ID']['output'];
};

/** A figure with its provenance. Where the service has no value there is no observation; a zero is a real zero. */
export type Observation = Node & {
  readonly __typename?: 'Observation';
  /** For a stock figure, its point in time; null for a flow over the period. */
  readonly asOfPeriod: Maybe<Scalars['String']['output']>;
  /**
   * Derived by this gateway, not sent by the service: this figure minus that of the preceding year, or of the year `since`, in the `unit` of both. Exact in
   * decimals: 727.46 less 693.09 is 34.37.
   * Null if the service has no such figure of the same country, indicator and place. Null, with a warning, if the two have different units or
   * are for different parts of a year. If that year has several figures, the one of the same source and release is taken; if there is not exactly one, the result
   * is null with a warning. The other figure is fetched by the same `/v1/data` call if the text of the operation alone shows
   * which one it is; otherwise by one more call for all.
   */
  readonly change: Maybe<Scalars['Float']['output']>;
  /** Citation of the figure for a text or a bibliography: source, measure, place, period, dataset release, day of retrieval and URL. Costs no call. The source appears by the name that the operator of this gateway gives it, or else by its key. */
  readonly citation: Scalars['String']['output'];
  /** The country. `code` and `name` are free. */
  readonly country: Country;
  /** Provider's dataset release of the figure; null if none is named. */
  readonly datasetVersion: Maybe<Scalars['String']['output']>;
  /** Provider's upper bound around an estimate; null if none is published. */
  readonly estimateHigh: Maybe<Scalars['Float']['output']>;
  /** Provider's lower bound around an estimate; null if none is published. */
  readonly estimateLow: Maybe<Scalars['Float']['output']>;
  /** When the gateway fetched the figure, and whether it is stale. */
  readonly freshness: Freshness;
  /**
   * Derived by this gateway, not sent by the service: `change` in percent of the earlier figure, rounded once, to double precision. For a figure that is itself in percent this is percent of
   * percent; `change` gives the percentage points. Null in the same cases as `change`, and, with a warning, if the earlier figure is zero or negative. It costs the same calls as `change`.
   */
  readonly growthPercent: Maybe<Scalars['Float']['output']>;
  /** Global identifier. It is made of country, indicator, year, period, point in time, place, source, release, status and unit, not of the value, so a row has the same one in a series, as the latest figure and as an operand. Given the identifier of an earlier release or status, `node` finds today's figure, with the warning `REVISED_SINCE`. */
  readonly id: Scalars['ID']['output'];
  /** The indicator. `key`, `name` and `unit` are free. */
  readonly indicator: Indicator;
  /** True if the figure is anything other than reported: an estimate, projection, model output or imputation. */
  readonly isModelled: Scalars['Boolean']['output'];
  /** Place of the figure within the country; null for the whole country. */
  readonly locationName: Maybe<Scalars['String']['output']>;
  /**
   * Derived by this gateway, not sent by the service: this figure divided by that of another indicator, of the same country, place and year, rounded once, to double precision. Null
   * if the service has no such figure. Null, with a warning, if it has figures of other years only, or if the figure is zero or for another part of the year.
   * If that indicator has several figures, the one that the service returns as the latest is taken, provided it is of the same period; otherwise the one of the same source and release, or the result is null with a warning.
   * The other figure is fetched by the same `/v1/data` call if the text of the operation alone shows which one it is; otherwise by one more call for all, and by another if several may be the latest.
   */
  readonly per: Maybe<Ratio>;
  /** The period covered, as the service spells it: a year, a quarter, a month or a date, for instance. A spelling that the gateway can't read is reported by the warning `UNREADABLE_PERIOD`. */
  readonly period: Scalars['String']['output'];
  /**
   * Derived by this gateway, not sent by the service: the rank of this country's figure among those of other countries for the same indicator and
   * year. Null, with a warning, for a figure of a place within a country, if units differ, and if a country has several figures of which `per` would choose none. The figures of the others are fetched by the same `/v1/data` call if the text of the
   * operation alone shows which ones they are; if a country's latest figure is newer than this one, by one more call for all, and by another if several may be the latest.
   */
  readonly rank: Maybe<Rank>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Time at which the platform retrieved the value from the source, in UTC. */
  readonly retrievedAt: Scalars['DateTime']['output'];
  /** The body that published the figure. `key` is free. */
  readonly source: Source;
  /** Unit as the source states it; percentages name their whole. */
  readonly unit: Scalars['String']['output'];
  /** The figure. A zero is a real zero. */
  readonly value: Scalars['Float']['output'];
  /** The provider's own classification, such as `reported`. */
  readonly valueStatus: Scalars['String']['output'];
  /** The year that the figure describes. */
  readonly year: Scalars['Int']['output'];
};


/** A figure with its provenance. Where the service has no value there is no observation; a zero is a real zero. */
export type ObservationChangeArgs = {
  since?: InputMaybe<Scalars['Int']['input']>;
};


/** A figure with its provenance. Where the service has no value there is no observation; a zero is a real zero. */
export type ObservationCitationArgs = {
  style?: CitationStyle;
};


/** A figure with its provenance. Where the service has no value there is no observation; a zero is a real zero. */
export type ObservationGrowthPercentArgs = {
  since?: InputMaybe<Scalars['Int']['input']>;
};


/** A figure with its provenance. Where the service has no value there is no observation; a zero is a real zero. */
export type ObservationPerArgs = {
  metricKey: Scalars['String']['input'];
};


/** A figure with its provenance. Where the service has no value there is no observation; a zero is a real zero. */
export type ObservationRankArgs = {
  among?: InputMaybe<ReadonlyArray<Scalars['CountryCode']['input']>>;
  direction?: OrderDirection;
};

/** A page of observations. */
export type ObservationConnection = {
  readonly __typename?: 'ObservationConnection';
  /** The rows of the page, each with its cursor. */
  readonly edges: ReadonlyArray<ObservationEdge>;
  /** The rows of the page. */
  readonly nodes: ReadonlyArray<Observation>;
  /** Position of the page in the list. */
  readonly pageInfo: PageInfo;
  /** Number of rows in the whole list, across all pages. */
  readonly totalCount: Scalars['Int']['output'];
};

/** A row of a page. */
export type ObservationEdge = {
  readonly __typename?: 'ObservationEdge';
  /** Opaque cursor of the row. It identifies the row itself, so it stays valid when rows are inserted before it. */
  readonly cursor: Scalars['String']['output'];
  /** The row. */
  readonly node: Observation;
};

/** Sort order of observations. Rows without a value come last in either direction. */
export type ObservationOrder = {
  /** Sort direction. */
  readonly direction?: OrderDirection;
  /** Field to sort by. */
  readonly field: ObservationOrderField;
};

/** Fields that observations can be sorted by. */
export type ObservationOrderField =
  /** Code of the country. */
  | 'COUNTRY'
  /** Key of the indicator. */
  | 'INDICATOR'
  /** The figure, regardless of its unit. */
  | 'VALUE'
  /** The year that the figure describes. */
  | 'YEAR';

/** Figures of whole countries, or of places within them. */
export type ObservationScope =
  /** All figures. */
  | 'ALL'
  /** Only figures of whole countries. With `latest`, if the newest figure is that of a place, a second call finds the newest national one in the series. */
  | 'NATIONAL'
  /** Only figures of places. With `latest`, the newest one of each country and indicator, taken from the series. */
  | 'PLACES';

/** An office of a country's government. */
export type Office = Node & {
  readonly __typename?: 'Office';
  /** The country. */
  readonly country: Country;
  /** Global identifier. */
  readonly id: Scalars['ID']['output'];
  /** Name of the office. */
  readonly name: Scalars['String']['output'];
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Role, such as `head_of_state`. */
  readonly roleType: Maybe<Scalars['String']['output']>;
  /** Terms of its holders, as the service lists them. */
  readonly terms: ReadonlyArray<Term>;
};

/** Sort direction. */
export type OrderDirection =
  /** Ascending: the smallest, or alphabetically first, comes first. */
  | 'ASC'
  /** Descending: the largest, or alphabetically last, comes first. */
  | 'DESC';

/** Position of a page in its list, as the Relay specification defines it. */
export type PageInfo = {
  readonly __typename?: 'PageInfo';
  /** Cursor of the last row; null on an empty page. */
  readonly endCursor: Maybe<Scalars['String']['output']>;
  /** True if rows follow this page. */
  readonly hasNextPage: Scalars['Boolean']['output'];
  /** True if rows precede this page. */
  readonly hasPreviousPage: Scalars['Boolean']['output'];
  /** Cursor of the first row; null on an empty page. */
  readonly startCursor: Maybe<Scalars['String']['output']>;
};

/** Version of the platform. */
export type PlatformVersion = {
  readonly __typename?: 'PlatformVersion';
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Version as the service spells it; null if it names none. */
  readonly version: Maybe<Scalars['String']['output']>;
};

/** One indicator of a country's profile, as the profile gives it. */
export type ProfileIndicator = {
  readonly __typename?: 'ProfileIndicator';
  /** The indicator in the catalogue. */
  readonly indicator: Indicator;
  /** Key of the indicator. */
  readonly key: Scalars['String']['output'];
  /** Name of the indicator, if the profile gives it. */
  readonly name: Maybe<Scalars['String']['output']>;
  /** Period that the figure covers: a year, a quarter, a month or a date. */
  readonly period: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Body that published the figure. */
  readonly source: Maybe<Source>;
  /** Unit of the value, if the profile gives it. */
  readonly unit: Maybe<Scalars['String']['output']>;
  /** The figure; null if the profile gives none. A zero is a real zero. */
  readonly value: Maybe<Scalars['Float']['output']>;
  /** Year that the figure describes. */
  readonly year: Maybe<Scalars['Int']['output']>;
};

/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type Query = {
  readonly __typename?: 'Query';
  /** All countries, or those with the given codes. One `/v1/countries` call; none if you select only figures or records by code. */
  readonly countries: Maybe<ReadonlyArray<Country>>;
  /** `countries` as a connection, in pages. */
  readonly countriesConnection: Maybe<CountryConnection>;
  /** One country; null if no country has this code. At most one `/v1/countries` call. */
  readonly country: Maybe<Country>;
  /** Health of the REST service. Public: needs no key. One `/health` call. */
  readonly health: Maybe<Health>;
  /**
   * One indicator; null if the catalogue has none with this key. At most one `/v1/indicators` call. If you select only figures, the gateway makes
   * the call only if no figure or catalogue it has seen shows that the indicator exists.
   */
  readonly indicator: Maybe<Indicator>;
  /** The catalogue of indicators. One `/v1/indicators` call. */
  readonly indicators: Maybe<ReadonlyArray<Indicator>>;
  /** `indicators` as a connection, in pages. */
  readonly indicatorsConnection: Maybe<IndicatorConnection>;
  /** The object with this global identifier; null if it no longer exists. */
  readonly node: Maybe<Node>;
  /** The objects with these global identifiers, in the same order; null for each that no longer exists. */
  readonly nodes: Maybe<ReadonlyArray<Maybe<Node>>>;
  /**
   * Observations of several countries and indicators. One `/v1/data` call, as far as the service's row limit allows.
   *
   * They are ordered by country and then by indicator, as you name them, or else as the lists have them. A series starts with its oldest figure: by year, then by the end of the period, the longer period last, then by point in time. Figures of the same time are ordered as in `Country.observation`: the whole country before its places, and places by name; then the later retrieval, the later release, and the source. The order does not depend on the key, or on the calls that fetched them.
   */
  readonly observations: Maybe<ReadonlyArray<Observation>>;
  /** `observations` as a connection, in pages. A page costs as much as the whole list: nothing if its figures are cached. */
  readonly observationsConnection: Maybe<ObservationConnection>;
  /** Version of the platform behind the REST service. Public: needs no key. One `/v1/platform/version` call. */
  readonly platformVersion: Maybe<PlatformVersion>;
  /** Plan and usage of the caller's key, as counted by this gateway. Costs nothing. */
  readonly quota: Maybe<Quota>;
  /** One source; null if the service has none with this key. One `/v1/platform/etl-status` call. */
  readonly source: Maybe<Source>;
  /** All sources with their refresh times. One `/v1/platform/etl-status` call. */
  readonly sources: Maybe<ReadonlyArray<Source>>;
  /** One listing; null if there is none. One `/v1/markets/tickers` call. */
  readonly ticker: Maybe<Ticker>;
  /** Listings on the followed exchanges. One `/v1/markets/tickers` call, as far as the service's row limit allows. */
  readonly tickers: Maybe<ReadonlyArray<Ticker>>;
  /** `tickers` as a connection, in pages. */
  readonly tickersConnection: Maybe<TickerConnection>;
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryCountriesArgs = {
  codes?: InputMaybe<ReadonlyArray<Scalars['CountryCode']['input']>>;
  orderBy?: InputMaybe<ReadonlyArray<CountryOrder>>;
  region?: InputMaybe<Scalars['String']['input']>;
  subregion?: InputMaybe<Scalars['String']['input']>;
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryCountriesConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  codes?: InputMaybe<ReadonlyArray<Scalars['CountryCode']['input']>>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
  orderBy?: InputMaybe<ReadonlyArray<CountryOrder>>;
  region?: InputMaybe<Scalars['String']['input']>;
  subregion?: InputMaybe<Scalars['String']['input']>;
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryCountryArgs = {
  code: Scalars['CountryCode']['input'];
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryIndicatorArgs = {
  key: Scalars['String']['input'];
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryIndicatorsArgs = {
  category?: InputMaybe<Scalars['String']['input']>;
  hasData?: InputMaybe<Scalars['Boolean']['input']>;
  keys?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  orderBy?: InputMaybe<ReadonlyArray<IndicatorOrder>>;
  search?: InputMaybe<Scalars['String']['input']>;
  source?: InputMaybe<Scalars['String']['input']>;
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryIndicatorsConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  category?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  hasData?: InputMaybe<Scalars['Boolean']['input']>;
  keys?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  last?: InputMaybe<Scalars['Int']['input']>;
  orderBy?: InputMaybe<ReadonlyArray<IndicatorOrder>>;
  search?: InputMaybe<Scalars['String']['input']>;
  source?: InputMaybe<Scalars['String']['input']>;
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryNodeArgs = {
  id: Scalars['ID']['input'];
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryNodesArgs = {
  ids: ReadonlyArray<Scalars['ID']['input']>;
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryObservationsArgs = {
  countryCodes?: InputMaybe<ReadonlyArray<Scalars['CountryCode']['input']>>;
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  latest?: InputMaybe<Scalars['Boolean']['input']>;
  maxAge?: InputMaybe<Scalars['Int']['input']>;
  metricKeys?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  orderBy?: InputMaybe<ReadonlyArray<ObservationOrder>>;
  scope?: InputMaybe<ObservationScope>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryObservationsConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  countryCodes?: InputMaybe<ReadonlyArray<Scalars['CountryCode']['input']>>;
  first?: InputMaybe<Scalars['Int']['input']>;
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
  latest?: InputMaybe<Scalars['Boolean']['input']>;
  maxAge?: InputMaybe<Scalars['Int']['input']>;
  metricKeys?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  orderBy?: InputMaybe<ReadonlyArray<ObservationOrder>>;
  scope?: InputMaybe<ObservationScope>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QuerySourceArgs = {
  key: Scalars['String']['input'];
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryTickerArgs = {
  exchangeCode: Scalars['String']['input'];
  symbol: Scalars['String']['input'];
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryTickersArgs = {
  countryCode?: InputMaybe<Scalars['CountryCode']['input']>;
  exchangeCode?: InputMaybe<Scalars['String']['input']>;
  instrumentType?: InputMaybe<Scalars['String']['input']>;
  orderBy?: InputMaybe<ReadonlyArray<TickerOrder>>;
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryTickersConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  countryCode?: InputMaybe<Scalars['CountryCode']['input']>;
  exchangeCode?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  instrumentType?: InputMaybe<Scalars['String']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
  orderBy?: InputMaybe<ReadonlyArray<TickerOrder>>;
};

/** Plan and usage of the caller's key, as counted by this gateway and those that share its cache. What the service has not stated yet is null. */
export type Quota = {
  readonly __typename?: 'Quota';
  /** Requests sent for the key in this minute. */
  readonly callsThisMinute: Scalars['Int']['output'];
  /** Requests sent for the key in this month (UTC). */
  readonly callsThisMonth: Scalars['Int']['output'];
  /** Start of the next minute. */
  readonly minuteResetsAt: Scalars['DateTime']['output'];
  /** Start of the next month, UTC. */
  readonly monthResetsAt: Scalars['DateTime']['output'];
  /** Requests that the plan allows per month, once the service has stated it. */
  readonly monthlyRequests: Maybe<Scalars['Int']['output']>;
  /** Name of the plan, once the service has stated it. */
  readonly plan: Maybe<Scalars['String']['output']>;
  /** Requests that the plan allows per minute, once the service has stated it. */
  readonly requestsPerMinute: Maybe<Scalars['Int']['output']>;
  /** Current state of the key. */
  readonly state: QuotaState;
};

/** States of a key. */
export type QuotaState =
  /** The day is spent: you can send requests again at midnight, UTC. Only keys that this gateway has issued have a limit by day. */
  | 'DAY_SPENT'
  /** The minute is spent: you can send requests again at `minuteResetsAt`. */
  | 'MINUTE_SPENT'
  /** The month is spent: you can send requests again at `monthResetsAt`, or once the plan is upgraded. */
  | 'MONTH_SPENT'
  /** Requests are left. */
  | 'OK';

/** Rank of a country's figure among those of others. Derived by this gateway, not sent by the service. */
export type Rank = {
  readonly __typename?: 'Rank';
  /** Number of countries with a figure for that year, this one included; the others have no rank. */
  readonly of: Scalars['Int']['output'];
  /** Position, from 1. Equal figures share a position, and the positions after it are skipped. */
  readonly position: Scalars['Int']['output'];
  /** The year of all ranked figures. */
  readonly year: Scalars['Int']['output'];
};

/** One figure divided by another. Derived by this gateway, not sent by the service. */
export type Ratio = {
  readonly __typename?: 'Ratio';
  /** The two figures: the dividend, then the divisor. */
  readonly operands: ReadonlyArray<Observation>;
  /** Units of both, such as `USD / persons`. */
  readonly unit: Scalars['String']['output'];
  /** The first operand divided by the second. */
  readonly value: Scalars['Float']['output'];
  /** The year of both figures. */
  readonly year: Scalars['Int']['output'];
};

/** Snapshot of a country across several domains. A domain without coverage is an empty list; `record` also holds the domains that have no field here. */
export type Signals = {
  readonly __typename?: 'Signals';
  /** Prices of commodities that matter to the country. */
  readonly commodityBenchmarks: ReadonlyArray<CommodityBenchmark>;
  /** The country it describes. */
  readonly country: Country;
  /** Current and recent disasters. */
  readonly disasterAlerts: ReadonlyArray<DisasterAlert>;
  /** Exchange rates. */
  readonly fxRates: ReadonlyArray<FxRate>;
  /** Recent observations. */
  readonly observations: ReadonlyArray<Observation>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
};

/** A body that publishes figures which the service carries. */
export type Source = Node & {
  readonly __typename?: 'Source';
  /** Global identifier. */
  readonly id: Scalars['ID']['output'];
  /** Stable key of the source. */
  readonly key: Scalars['String']['output'];
  /** Time of the service's last refresh from this source, or the start of that day if the service names no time; null with the warning `UNREADABLE_TIME` if it sent no readable time. From the one `/v1/platform/etl-status` call. */
  readonly lastSuccessfulRefresh: Maybe<Scalars['DateTime']['output']>;
  /** Name of the source as the service gives it, or else the operator of this gateway; null if neither does. From the one `/v1/platform/etl-status` call. */
  readonly name: Maybe<Scalars['String']['output']>;
  /** Next planned refresh; null as for `lastSuccessfulRefresh`. From the one `/v1/platform/etl-status` call. */
  readonly nextRun: Maybe<Scalars['DateTime']['output']>;
  /** The record exactly as the service sent it; an error if the service lists no such source. From the one `/v1/platform/etl-status` call. */
  readonly record: Maybe<Scalars['JSON']['output']>;
  /** URL of the source's own page, from which its name is taken; null if none is known. From the one `/v1/platform/etl-status` call. */
  readonly url: Maybe<Scalars['String']['output']>;
};

/** One holder's term in an office. */
export type Term = {
  readonly __typename?: 'Term';
  /** Last day, `YYYY-MM-DD`; null while the term lasts, or if it is not known. */
  readonly endDate: Maybe<Scalars['String']['output']>;
  /** Name of the holder. */
  readonly holder: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** First day, `YYYY-MM-DD`, as precise as the record is. */
  readonly startDate: Maybe<Scalars['String']['output']>;
  /** The record's own status. */
  readonly status: Maybe<Scalars['String']['output']>;
};

/** A listing on a followed exchange, with its last session and price. */
export type Ticker = Node & {
  readonly __typename?: 'Ticker';
  /** Change from the previous session, in percent. */
  readonly changePercent: Maybe<Scalars['Float']['output']>;
  /** Closing price of that session, in the currency of the exchange. */
  readonly closePrice: Maybe<Scalars['Float']['output']>;
  /** Country of the listing; null if the service names none. */
  readonly country: Maybe<Country>;
  /** Code of the exchange, such as `NGX`. */
  readonly exchangeCode: Scalars['String']['output'];
  /** Global identifier. */
  readonly id: Scalars['ID']['output'];
  /** Industry, if the exchange names one. */
  readonly industry: Maybe<Scalars['String']['output']>;
  /** Kind of security, such as `EQUITY`. */
  readonly instrumentType: Maybe<Scalars['String']['output']>;
  /** Name of the security. */
  readonly name: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Sector, if the exchange names one. */
  readonly sector: Maybe<Scalars['String']['output']>;
  /** Trading day of the price, `YYYY-MM-DD`. */
  readonly session: Maybe<Scalars['String']['output']>;
  /** Symbol on that exchange. */
  readonly symbol: Scalars['String']['output'];
};

/** A page of listings. */
export type TickerConnection = {
  readonly __typename?: 'TickerConnection';
  /** The rows of the page, each with its cursor. */
  readonly edges: ReadonlyArray<TickerEdge>;
  /** The rows of the page. */
  readonly nodes: ReadonlyArray<Ticker>;
  /** Position of the page in the list. */
  readonly pageInfo: PageInfo;
  /** Number of rows in the whole list, across all pages. */
  readonly totalCount: Scalars['Int']['output'];
};

/** A row of a page. */
export type TickerEdge = {
  readonly __typename?: 'TickerEdge';
  /** Opaque cursor of the row. It identifies the row itself, so it stays valid when rows are inserted before it. */
  readonly cursor: Scalars['String']['output'];
  /** The row. */
  readonly node: Ticker;
};

/** Sort order of listings. Rows without a value come last in either direction. */
export type TickerOrder = {
  /** Sort direction. */
  readonly direction?: OrderDirection;
  /** Field to sort by. */
  readonly field: TickerOrderField;
};

/** Fields that listings can be sorted by. */
export type TickerOrderField =
  /** Change from the previous session, in percent. */
  | 'CHANGE_PERCENT'
  /** Closing price of the session, regardless of its currency. */
  | 'CLOSE_PRICE'
  /** Code of the exchange. */
  | 'EXCHANGE'
  /** Name of the security. */
  | 'NAME'
  /** Symbol on the exchange. */
  | 'SYMBOL';

/** Calls that a field may take. */
export type UpstreamTake =
  /** One call per object that has the field. */
  | 'EACH'
  /** Figures: the latest if the field returns a single one or its arguments say so, otherwise series. */
  | 'FIGURES'
  /** Calls for the objects that its identifiers name. */
  | 'IDENTIFIED'
  /** None. Needed only on fields with a resolver, not on properties of a record. */
  | 'NOTHING'
  /** One call per operation, for any number of objects: mostly a list. */
  | 'ONCE';



export type ResolverTypeWrapper<T> = Promise<T> | T;

export type ReferenceResolver<TResult, TReference, TContext> = (
      reference: TReference,
      context: TContext,
      info: GraphQLResolveInfo
    ) => Promise<TResult> | TResult;

      type ScalarCheck<T, S> = S extends true ? T : NullableCheck<T, S>;
      type NullableCheck<T, S> = Maybe<T> extends T ? Maybe<ListCheck<NonNullable<T>, S>> : ListCheck<T, S>;
      type ListCheck<T, S> = T extends (infer U)[] ? NullableCheck<U, S>[] : GraphQLRecursivePick<T, S>;
      export type GraphQLRecursivePick<T, S> = { [K in keyof T & keyof S]: ScalarCheck<T[K], S[K]> };
    
export type Resolver<TResult, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = ResolverFn<TResult, TParent, TContext, TArgs>;

export type ResolverFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => Promise<TResult> | TResult;

export type SubscriptionSubscribeFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => AsyncIterable<TResult> | Promise<AsyncIterable<TResult>>;

export type SubscriptionResolveFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

export interface SubscriptionSubscriberObject<TResult, TKey extends string, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<{ [key in TKey]: TResult }, TParent, TContext, TArgs>;
  resolve?: SubscriptionResolveFn<TResult, { [key in TKey]: TResult }, TContext, TArgs>;
}

export interface SubscriptionResolverObject<TResult, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<any, TParent, TContext, TArgs>;
  resolve: SubscriptionResolveFn<TResult, any, TContext, TArgs>;
}

export type SubscriptionObject<TResult, TKey extends string, TParent, TContext, TArgs> =
  | SubscriptionSubscriberObject<TResult, TKey, TParent, TContext, TArgs>
  | SubscriptionResolverObject<TResult, TParent, TContext, TArgs>;

export type SubscriptionResolver<TResult, TKey extends string, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> =
  | ((...args: any[]) => SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>)
  | SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>;

export type TypeResolveFn<TTypes, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (
  parent: TParent,
  context: TContext,
  info: GraphQLResolveInfo
) => Maybe<TTypes> | Promise<Maybe<TTypes>>;

export type IsTypeOfResolverFn<T = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (obj: T, context: TContext, info: GraphQLResolveInfo) => boolean | Promise<boolean>;

export type NextResolverFn<T> = () => Promise<T>;

export type DirectiveResolverFn<TResult = Record<PropertyKey, never>, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = (
  next: NextResolverFn<TResult>,
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

/** Mapping of federation types */
export type FederationTypes = {
  Country: Country;
  Indicator: Indicator;
  Observation: Observation;
  Office: Office;
  Source: Source;
  Ticker: Ticker;
};

/** Mapping of federation reference types */
export type FederationReferenceTypes = {
  Country:
    ( { __typename: 'Country' }
    & GraphQLRecursivePick<FederationTypes['Country'], {"code":true}> );
  Indicator:
    ( { __typename: 'Indicator' }
    & GraphQLRecursivePick<FederationTypes['Indicator'], {"key":true}> );
  Observation:
    ( { __typename: 'Observation' }
    & GraphQLRecursivePick<FederationTypes['Observation'], {"id":true}> );
  Office:
    ( { __typename: 'Office' }
    & GraphQLRecursivePick<FederationTypes['Office'], {"id":true}> );
  Source:
    ( { __typename: 'Source' }
    & GraphQLRecursivePick<FederationTypes['Source'], {"key":true}> );
  Ticker:
    ( { __typename: 'Ticker' }
    & GraphQLRecursivePick<FederationTypes['Ticker'], {"exchangeCode":true,"symbol":true}> );
};


/** Mapping of interface types */
export type ResolversInterfaceTypes<_RefType extends Record<string, unknown>> = {
  Node:
    | ( CountryRef )
    | ( IndicatorRef )
    | ( ObservationRecord )
    | ( OfficeRecord )
    | ( SourceRef )
    | ( TickerRecord )
  ;
};

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  CitationStyle: CitationStyle;
  CommodityBenchmark: ResolverTypeWrapper<CommodityBenchmarkRecord>;
  Float: ResolverTypeWrapper<Scalars['Float']['output']>;
  Country: ResolverTypeWrapper<CountryRef>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  CountryCode: ResolverTypeWrapper<Scalars['CountryCode']['output']>;
  CountryConnection: ResolverTypeWrapper<Page<CountryRef>>;
  CountryEdge: ResolverTypeWrapper<Omit<CountryEdge, 'node'> & { node: ResolversTypes['Country'] }>;
  CountryOrder: CountryOrder;
  CountryOrderField: CountryOrderField;
  CountryProfile: ResolverTypeWrapper<CountryProfileRecord>;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  DisasterAlert: ResolverTypeWrapper<DisasterAlertRecord>;
  ErrorCode: ErrorCode;
  Freshness: ResolverTypeWrapper<Freshness>;
  FxRate: ResolverTypeWrapper<FxRateRecord>;
  Health: ResolverTypeWrapper<HealthRecord>;
  Indicator: ResolverTypeWrapper<IndicatorRef>;
  IndicatorConnection: ResolverTypeWrapper<Page<IndicatorRef>>;
  IndicatorEdge: ResolverTypeWrapper<Omit<IndicatorEdge, 'node'> & { node: ResolversTypes['Indicator'] }>;
  IndicatorOrder: IndicatorOrder;
  IndicatorOrderField: IndicatorOrderField;
  JSON: ResolverTypeWrapper<Scalars['JSON']['output']>;
  Node: ResolverTypeWrapper<ResolversInterfaceTypes<ResolversTypes>['Node']>;
  Observation: ResolverTypeWrapper<ObservationRecord>;
  ObservationConnection: ResolverTypeWrapper<Page<ObservationRecord>>;
  ObservationEdge: ResolverTypeWrapper<Omit<ObservationEdge, 'node'> & { node: ResolversTypes['Observation'] }>;
  ObservationOrder: ObservationOrder;
  ObservationOrderField: ObservationOrderField;
  ObservationScope: ObservationScope;
  Office: ResolverTypeWrapper<OfficeRecord>;
  OrderDirection: OrderDirection;
  PageInfo: ResolverTypeWrapper<PageInfo>;
  PlatformVersion: ResolverTypeWrapper<PlatformVersionRecord>;
  ProfileIndicator: ResolverTypeWrapper<ProfileIndicatorRecord>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Quota: ResolverTypeWrapper<QuotaRecord>;
  QuotaState: QuotaState;
  Rank: ResolverTypeWrapper<Rank>;
  Ratio: ResolverTypeWrapper<Omit<Ratio, 'operands'> & { operands: ReadonlyArray<ResolversTypes['Observation']> }>;
  Signals: ResolverTypeWrapper<SignalsRecord>;
  Source: ResolverTypeWrapper<SourceRef>;
  Term: ResolverTypeWrapper<TermRecord>;
  Ticker: ResolverTypeWrapper<TickerRecord>;
  TickerConnection: ResolverTypeWrapper<Page<TickerRecord>>;
  TickerEdge: ResolverTypeWrapper<Omit<TickerEdge, 'node'> & { node: ResolversTypes['Ticker'] }>;
  TickerOrder: TickerOrder;
  TickerOrderField: TickerOrderField;
  UpstreamTake: UpstreamTake;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  CommodityBenchmark: CommodityBenchmarkRecord;
  Float: Scalars['Float']['output'];
  Country: CountryRef;
  ID: Scalars['ID']['output'];
  CountryCode: Scalars['CountryCode']['output'];
  CountryConnection: Page<CountryRef>;
  CountryEdge: Omit<CountryEdge, 'node'> & { node: ResolversParentTypes['Country'] };
  CountryOrder: CountryOrder;
  CountryProfile: CountryProfileRecord;
  DateTime: Scalars['DateTime']['output'];
  DisasterAlert: DisasterAlertRecord;
  Freshness: Freshness;
  FxRate: FxRateRecord;
  Health: HealthRecord;
  Indicator: IndicatorRef;
  IndicatorConnection: Page<IndicatorRef>;
  IndicatorEdge: Omit<IndicatorEdge, 'node'> & { node: ResolversParentTypes['Indicator'] };
  IndicatorOrder: IndicatorOrder;
  JSON: Scalars['JSON']['output'];
  Node: ResolversInterfaceTypes<ResolversParentTypes>['Node'];
  Observation: ObservationRecord;
  ObservationConnection: Page<ObservationRecord>;
  ObservationEdge: Omit<ObservationEdge, 'node'> & { node: ResolversParentTypes['Observation'] };
  ObservationOrder: ObservationOrder;
  Office: OfficeRecord;
  PageInfo: PageInfo;
  PlatformVersion: PlatformVersionRecord;
  ProfileIndicator: ProfileIndicatorRecord;
  Query: Record<PropertyKey, never>;
  Quota: QuotaRecord;
  Rank: Rank;
  Ratio: Omit<Ratio, 'operands'> & { operands: ReadonlyArray<ResolversParentTypes['Observation']> };
  Signals: SignalsRecord;
  Source: SourceRef;
  Term: TermRecord;
  Ticker: TickerRecord;
  TickerConnection: Page<TickerRecord>;
  TickerEdge: Omit<TickerEdge, 'node'> & { node: ResolversParentTypes['Ticker'] };
  TickerOrder: TickerOrder;
  Boolean: Scalars['Boolean']['output'];
  String: Scalars['String']['output'];
  Int: Scalars['Int']['output'];
};

export type DeferDirectiveArgs = {
  if?: Scalars['Boolean']['input'];
  label?: Maybe<Scalars['String']['input']>;
};

export type DeferDirectiveResolver<Result, Parent, ContextType = GraphContext, Args = DeferDirectiveArgs> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type LookupDirectiveArgs = { };

export type LookupDirectiveResolver<Result, Parent, ContextType = GraphContext, Args = LookupDirectiveArgs> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type SemanticNonNullDirectiveArgs = {
  levels?: ReadonlyArray<Scalars['Int']['input']>;
};

export type SemanticNonNullDirectiveResolver<Result, Parent, ContextType = GraphContext, Args = SemanticNonNullDirectiveArgs> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type UpstreamDirectiveArgs = {
  takes: UpstreamTake;
};

export type UpstreamDirectiveResolver<Result, Parent, ContextType = GraphContext, Args = UpstreamDirectiveArgs> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type CommodityBenchmarkResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['CommodityBenchmark'] = ResolversParentTypes['CommodityBenchmark']> = {
  commodityKey?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  priceDate?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  priceValue?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
};

export type CountryResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Country'] = ResolversParentTypes['Country'], FederationReferenceType extends FederationReferenceTypes['Country'] = FederationReferenceTypes['Country']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['Country']> | FederationReferenceType, FederationReferenceType, ContextType>;
  capital?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  code?: Resolver<ResolversTypes['CountryCode'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  iso3?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  name?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  observation?: Resolver<Maybe<ResolversTypes['Observation']>, ParentType, ContextType, RequireFields<CountryObservationArgs, 'metricKey'>>;
  observations?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Observation']>>, ParentType, ContextType, RequireFields<CountryObservationsArgs, 'latest' | 'scope'>>;
  observationsConnection?: Resolver<Maybe<ResolversTypes['ObservationConnection']>, ParentType, ContextType, RequireFields<CountryObservationsConnectionArgs, 'latest' | 'scope'>>;
  offices?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Office']>>, ParentType, ContextType>;
  officialName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  profile?: Resolver<Maybe<ResolversTypes['CountryProfile']>, ParentType, ContextType>;
  record?: Resolver<Maybe<ResolversTypes['JSON']>, ParentType, ContextType>;
  region?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  signals?: Resolver<Maybe<ResolversTypes['Signals']>, ParentType, ContextType>;
  subregion?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  tickers?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Ticker']>>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export interface CountryCodeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['CountryCode'], any> {
  name: 'CountryCode';
}

export type CountryConnectionResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['CountryConnection'] = ResolversParentTypes['CountryConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['CountryEdge']>, ParentType, ContextType>;
  nodes?: Resolver<ReadonlyArray<ResolversTypes['Country']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
  totalCount?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type CountryEdgeResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['CountryEdge'] = ResolversParentTypes['CountryEdge']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['Country'], ParentType, ContextType>;
};

export type CountryProfileResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['CountryProfile'] = ResolversParentTypes['CountryProfile']> = {
  country?: Resolver<ResolversTypes['Country'], ParentType, ContextType>;
  indicators?: Resolver<ReadonlyArray<ResolversTypes['ProfileIndicator']>, ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type DisasterAlertResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['DisasterAlert'] = ResolversParentTypes['DisasterAlert']> = {
  alertLevel?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  alertScore?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  description?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  eventFromAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  eventKey?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  eventToAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  eventType?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  name?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  reportUrl?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  severityText?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  severityUnit?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  severityValue?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  source?: Resolver<Maybe<ResolversTypes['Source']>, ParentType, ContextType>;
};

export type FreshnessResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Freshness'] = ResolversParentTypes['Freshness']> = {
  fetchedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  reason?: Resolver<Maybe<ResolversTypes['ErrorCode']>, ParentType, ContextType>;
  stale?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
};

export type FxRateResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['FxRate'] = ResolversParentTypes['FxRate']> = {
  baseCurrency?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  countries?: Resolver<ReadonlyArray<ResolversTypes['Country']>, ParentType, ContextType>;
  quoteCurrency?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  rate?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  rateDate?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  source?: Resolver<Maybe<ResolversTypes['Source']>, ParentType, ContextType>;
};

export type HealthResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Health'] = ResolversParentTypes['Health']> = {
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  status?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type IndicatorResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Indicator'] = ResolversParentTypes['Indicator'], FederationReferenceType extends FederationReferenceTypes['Indicator'] = FederationReferenceTypes['Indicator']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['Indicator']> | FederationReferenceType, FederationReferenceType, ContextType>;
  category?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  hasData?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  key?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  name?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  observation?: Resolver<Maybe<ResolversTypes['Observation']>, ParentType, ContextType, RequireFields<IndicatorObservationArgs, 'countryCode'>>;
  observations?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Observation']>>, ParentType, ContextType, RequireFields<IndicatorObservationsArgs, 'latest' | 'scope'>>;
  observationsConnection?: Resolver<Maybe<ResolversTypes['ObservationConnection']>, ParentType, ContextType, RequireFields<IndicatorObservationsConnectionArgs, 'latest' | 'scope'>>;
  record?: Resolver<Maybe<ResolversTypes['JSON']>, ParentType, ContextType>;
  sources?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Source']>>, ParentType, ContextType>;
  unit?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type IndicatorConnectionResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['IndicatorConnection'] = ResolversParentTypes['IndicatorConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['IndicatorEdge']>, ParentType, ContextType>;
  nodes?: Resolver<ReadonlyArray<ResolversTypes['Indicator']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
  totalCount?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type IndicatorEdgeResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['IndicatorEdge'] = ResolversParentTypes['IndicatorEdge']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['Indicator'], ParentType, ContextType>;
};

export interface JsonScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['JSON'], any> {
  name: 'JSON';
}

export type NodeResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Node'] = ResolversParentTypes['Node']> = {
  __resolveType: TypeResolveFn<'Country' | 'Indicator' | 'Observation' | 'Office' | 'Source' | 'Ticker', ParentType, ContextType>;
};

export type ObservationResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Observation'] = ResolversParentTypes['Observation'], FederationReferenceType extends FederationReferenceTypes['Observation'] = FederationReferenceTypes['Observation']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['Observation']> | FederationReferenceType, FederationReferenceType, ContextType>;
  asOfPeriod?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  change?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType, Partial<ObservationChangeArgs>>;
  citation?: Resolver<ResolversTypes['String'], ParentType, ContextType, RequireFields<ObservationCitationArgs, 'style'>>;
  country?: Resolver<ResolversTypes['Country'], ParentType, ContextType>;
  datasetVersion?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  estimateHigh?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  estimateLow?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  freshness?: Resolver<ResolversTypes['Freshness'], ParentType, ContextType>;
  growthPercent?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType, Partial<ObservationGrowthPercentArgs>>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  indicator?: Resolver<ResolversTypes['Indicator'], ParentType, ContextType>;
  isModelled?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  locationName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  per?: Resolver<Maybe<ResolversTypes['Ratio']>, ParentType, ContextType, RequireFields<ObservationPerArgs, 'metricKey'>>;
  period?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  rank?: Resolver<Maybe<ResolversTypes['Rank']>, ParentType, ContextType, RequireFields<ObservationRankArgs, 'direction'>>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  retrievedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  source?: Resolver<ResolversTypes['Source'], ParentType, ContextType>;
  unit?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  value?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  valueStatus?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  year?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type ObservationConnectionResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['ObservationConnection'] = ResolversParentTypes['ObservationConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['ObservationEdge']>, ParentType, ContextType>;
  nodes?: Resolver<ReadonlyArray<ResolversTypes['Observation']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
  totalCount?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type ObservationEdgeResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['ObservationEdge'] = ResolversParentTypes['ObservationEdge']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['Observation'], ParentType, ContextType>;
};

export type OfficeResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Office'] = ResolversParentTypes['Office'], FederationReferenceType extends FederationReferenceTypes['Office'] = FederationReferenceTypes['Office']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['Office']> | FederationReferenceType, FederationReferenceType, ContextType>;
  country?: Resolver<ResolversTypes['Country'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  roleType?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  terms?: Resolver<ReadonlyArray<ResolversTypes['Term']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type PageInfoResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['PageInfo'] = ResolversParentTypes['PageInfo']> = {
  endCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  hasNextPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  hasPreviousPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  startCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type PlatformVersionResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['PlatformVersion'] = ResolversParentTypes['PlatformVersion']> = {
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  version?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type ProfileIndicatorResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['ProfileIndicator'] = ResolversParentTypes['ProfileIndicator']> = {
  indicator?: Resolver<ResolversTypes['Indicator'], ParentType, ContextType>;
  key?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  name?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  period?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  source?: Resolver<Maybe<ResolversTypes['Source']>, ParentType, ContextType>;
  unit?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  value?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  year?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
};

export type QueryResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  countries?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Country']>>, ParentType, ContextType, Partial<QueryCountriesArgs>>;
  countriesConnection?: Resolver<Maybe<ResolversTypes['CountryConnection']>, ParentType, ContextType, Partial<QueryCountriesConnectionArgs>>;
  country?: Resolver<Maybe<ResolversTypes['Country']>, ParentType, ContextType, RequireFields<QueryCountryArgs, 'code'>>;
  health?: Resolver<Maybe<ResolversTypes['Health']>, ParentType, ContextType>;
  indicator?: Resolver<Maybe<ResolversTypes['Indicator']>, ParentType, ContextType, RequireFields<QueryIndicatorArgs, 'key'>>;
  indicators?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Indicator']>>, ParentType, ContextType, Partial<QueryIndicatorsArgs>>;
  indicatorsConnection?: Resolver<Maybe<ResolversTypes['IndicatorConnection']>, ParentType, ContextType, Partial<QueryIndicatorsConnectionArgs>>;
  node?: Resolver<Maybe<ResolversTypes['Node']>, ParentType, ContextType, RequireFields<QueryNodeArgs, 'id'>>;
  nodes?: Resolver<Maybe<ReadonlyArray<Maybe<ResolversTypes['Node']>>>, ParentType, ContextType, RequireFields<QueryNodesArgs, 'ids'>>;
  observations?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Observation']>>, ParentType, ContextType, RequireFields<QueryObservationsArgs, 'latest' | 'scope'>>;
  observationsConnection?: Resolver<Maybe<ResolversTypes['ObservationConnection']>, ParentType, ContextType, RequireFields<QueryObservationsConnectionArgs, 'latest' | 'scope'>>;
  platformVersion?: Resolver<Maybe<ResolversTypes['PlatformVersion']>, ParentType, ContextType>;
  quota?: Resolver<Maybe<ResolversTypes['Quota']>, ParentType, ContextType>;
  source?: Resolver<Maybe<ResolversTypes['Source']>, ParentType, ContextType, RequireFields<QuerySourceArgs, 'key'>>;
  sources?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Source']>>, ParentType, ContextType>;
  ticker?: Resolver<Maybe<ResolversTypes['Ticker']>, ParentType, ContextType, RequireFields<QueryTickerArgs, 'exchangeCode' | 'symbol'>>;
  tickers?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Ticker']>>, ParentType, ContextType, Partial<QueryTickersArgs>>;
  tickersConnection?: Resolver<Maybe<ResolversTypes['TickerConnection']>, ParentType, ContextType, Partial<QueryTickersConnectionArgs>>;
};

export type QuotaResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Quota'] = ResolversParentTypes['Quota']> = {
  callsThisMinute?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  callsThisMonth?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  minuteResetsAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  monthResetsAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  monthlyRequests?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  plan?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  requestsPerMinute?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  state?: Resolver<ResolversTypes['QuotaState'], ParentType, ContextType>;
};

export type RankResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Rank'] = ResolversParentTypes['Rank']> = {
  of?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  position?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  year?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type RatioResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Ratio'] = ResolversParentTypes['Ratio']> = {
  operands?: Resolver<ReadonlyArray<ResolversTypes['Observation']>, ParentType, ContextType>;
  unit?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  value?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  year?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type SignalsResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Signals'] = ResolversParentTypes['Signals']> = {
  commodityBenchmarks?: Resolver<ReadonlyArray<ResolversTypes['CommodityBenchmark']>, ParentType, ContextType>;
  country?: Resolver<ResolversTypes['Country'], ParentType, ContextType>;
  disasterAlerts?: Resolver<ReadonlyArray<ResolversTypes['DisasterAlert']>, ParentType, ContextType>;
  fxRates?: Resolver<ReadonlyArray<ResolversTypes['FxRate']>, ParentType, ContextType>;
  observations?: Resolver<ReadonlyArray<ResolversTypes['Observation']>, ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
};

export type SourceResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Source'] = ResolversParentTypes['Source'], FederationReferenceType extends FederationReferenceTypes['Source'] = FederationReferenceTypes['Source']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['Source']> | FederationReferenceType, FederationReferenceType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  key?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  lastSuccessfulRefresh?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  name?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  nextRun?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  record?: Resolver<Maybe<ResolversTypes['JSON']>, ParentType, ContextType>;
  url?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type TermResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Term'] = ResolversParentTypes['Term']> = {
  endDate?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  holder?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  startDate?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  status?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type TickerResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['Ticker'] = ResolversParentTypes['Ticker'], FederationReferenceType extends FederationReferenceTypes['Ticker'] = FederationReferenceTypes['Ticker']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['Ticker']> | FederationReferenceType, FederationReferenceType, ContextType>;
  changePercent?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  closePrice?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  country?: Resolver<Maybe<ResolversTypes['Country']>, ParentType, ContextType>;
  exchangeCode?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  industry?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  instrumentType?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  name?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  sector?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  session?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  symbol?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type TickerConnectionResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['TickerConnection'] = ResolversParentTypes['TickerConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['TickerEdge']>, ParentType, ContextType>;
  nodes?: Resolver<ReadonlyArray<ResolversTypes['Ticker']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
  totalCount?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type TickerEdgeResolvers<ContextType = GraphContext, ParentType extends ResolversParentTypes['TickerEdge'] = ResolversParentTypes['TickerEdge']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['Ticker'], ParentType, ContextType>;
};

export type Resolvers<ContextType = GraphContext> = {
  CommodityBenchmark?: CommodityBenchmarkResolvers<ContextType>;
  Country?: CountryResolvers<ContextType>;
  CountryCode?: GraphQLScalarType;
  CountryConnection?: CountryConnectionResolvers<ContextType>;
  CountryEdge?: CountryEdgeResolvers<ContextType>;
  CountryProfile?: CountryProfileResolvers<ContextType>;
  DateTime?: GraphQLScalarType;
  DisasterAlert?: DisasterAlertResolvers<ContextType>;
  Freshness?: FreshnessResolvers<ContextType>;
  FxRate?: FxRateResolvers<ContextType>;
  Health?: HealthResolvers<ContextType>;
  Indicator?: IndicatorResolvers<ContextType>;
  IndicatorConnection?: IndicatorConnectionResolvers<ContextType>;
  IndicatorEdge?: IndicatorEdgeResolvers<ContextType>;
  JSON?: GraphQLScalarType;
  Node?: NodeResolvers<ContextType>;
  Observation?: ObservationResolvers<ContextType>;
  ObservationConnection?: ObservationConnectionResolvers<ContextType>;
  ObservationEdge?: ObservationEdgeResolvers<ContextType>;
  Office?: OfficeResolvers<ContextType>;
  PageInfo?: PageInfoResolvers<ContextType>;
  PlatformVersion?: PlatformVersionResolvers<ContextType>;
  ProfileIndicator?: ProfileIndicatorResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  Quota?: QuotaResolvers<ContextType>;
  Rank?: RankResolvers<ContextType>;
  Ratio?: RatioResolvers<ContextType>;
  Signals?: SignalsResolvers<ContextType>;
  Source?: SourceResolvers<ContextType>;
  Term?: TermResolvers<ContextType>;
  Ticker?: TickerResolvers<ContextType>;
  TickerConnection?: TickerConnectionResolvers<ContextType>;
  TickerEdge?: TickerEdgeResolvers<ContextType>;
};

export type DirectiveResolvers<ContextType = GraphContext> = {
  defer?: DeferDirectiveResolver<any, any, ContextType>;
  lookup?: LookupDirectiveResolver<any, any, ContextType>;
  semanticNonNull?: SemanticNonNullDirectiveResolver<any, any, ContextType>;
  upstream?: UpstreamDirectiveResolver<any, any, ContextType>;
};
