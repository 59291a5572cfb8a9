// Written by `npm run codegen`.
export type Maybe<T> = T | null;
export type InputMaybe<T> = Maybe<T>;
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
};

/** What is cached of the figures of one country and indicator. */
export type Availability = {
  readonly __typename?: 'Availability';
  /** Time as of which all of this was current. */
  readonly asOf: Scalars['DateTime']['output'];
  /** The country. */
  readonly country: Country;
  /** Number of cached figures, including those of places. 0 means that the service has answered that it has none. */
  readonly figures: Scalars['Int']['output'];
  /** Year of the earliest of these figures; null if there are none. */
  readonly firstYear?: Maybe<Scalars['Int']['output']>;
  /** The indicator. */
  readonly indicator: Indicator;
  /** True if these are all figures of the country and indicator: the whole series is cached. Otherwise the service may have others. */
  readonly isComplete: Scalars['Boolean']['output'];
  /** Year of the latest of these figures; null if there are none. */
  readonly lastYear?: Maybe<Scalars['Int']['output']>;
  /** The sources of these figures, by their keys. */
  readonly sources: ReadonlyArray<Source>;
};

/** Kinds of change. */
export const ChangeKind = {
  /** The figure is new. */
  ADDED: 'ADDED',
  /** The figure is gone. */
  REMOVED: 'REMOVED',
  /** The figure has changed. A new time of retrieval alone is no change. */
  REVISED: 'REVISED'
} as const;

export type ChangeKind = typeof ChangeKind[keyof typeof ChangeKind];
/** Formats of a citation. */
export const CitationStyle = {
  /** A BibTeX entry. */
  BIBTEX: 'BIBTEX',
  /** A line of text. */
  TEXT: 'TEXT'
} as const;

export type CitationStyle = typeof CitationStyle[keyof typeof CitationStyle];
/** The price of a commodity on a day. */
export type CommodityBenchmark = {
  readonly __typename?: 'CommodityBenchmark';
  /** Key of the commodity. */
  readonly commodityKey?: Maybe<Scalars['String']['output']>;
  /** Day of the price, `YYYY-MM-DD`. */
  readonly priceDate?: Maybe<Scalars['String']['output']>;
  /** Price, in the unit that the source states. */
  readonly priceValue?: Maybe<Scalars['Float']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
};

/** A country that the service covers. */
export type Country = Node & {
  readonly __typename?: 'Country';
  /** What the gateway has cached of this country's figures under your key: one item per indicator of which anything is cached, ordered by key. Costs no call. */
  readonly availability?: Maybe<ReadonlyArray<Availability>>;
  /** Capital city. From the one `/v1/countries` call. */
  readonly capital?: Maybe<Scalars['String']['output']>;
  /** ISO 3166-1 alpha-2 code, in upper case. */
  readonly code: Scalars['CountryCode']['output'];
  /** A national figure as it was known at a time: what the gateway had last seen by then under your key; null if it had seen that there was none. Costs no call, and never gives today's figure: if nothing was recorded by then, the error is `NOT_RECORDED`. */
  readonly figureAsOf?: Maybe<RecordedFigure>;
  /** The whole series of one indicator as it was known at a time, places included: the earliest figure first. Costs no call. If the gateway hadn't seen the whole series by then, the error is `NOT_RECORDED`. */
  readonly figuresAsOf?: Maybe<ReadonlyArray<RecordedFigure>>;
  /** Global identifier. */
  readonly id: Scalars['ID']['output'];
  /** ISO 3166-1 alpha-3 code. From the one `/v1/countries` call. */
  readonly iso3?: Maybe<Scalars['String']['output']>;
  /** Common name in English. Free below an observation; otherwise from the one `/v1/countries` call. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /**
   * The latest national figure of one indicator; null if the service holds none. Merged into one `/v1/data` call. If the latest row of the service is for a place or has no value, a second call finds the figure in the series. If there are several figures for the newest period, the one that the service returns as the latest is taken; if the operation also asks for a series, that takes one more call. The warning `SEVERAL_FIGURES` reports the others.
   *
   * If the service's own choice is not known, the latest row of a series is the first in this order: the highest `year`; the period that ends last (an unreadable one ends with its year); among those that end together, the longest (a year before its last half, quarter, month, week and day; an unreadable one last); the latest `asOfPeriod`; the national figure before those of places, and places by name; the most recently retrieved; the last release by name; the source whose key sorts first. The order of the service's rows makes no difference.
   */
  readonly observation?: Maybe<Observation>;
  /** Observations of this country. Merged into one `/v1/data` call. */
  readonly observations?: Maybe<ReadonlyArray<Observation>>;
  /** `observations` as a connection, in pages. */
  readonly observationsConnection?: Maybe<ObservationConnection>;
  /** Government offices and their holders. One `/v1/government/structure/{code}` call per country. */
  readonly offices?: Maybe<ReadonlyArray<Office>>;
  /** Official name in English. From the one `/v1/countries` call. */
  readonly officialName?: Maybe<Scalars['String']['output']>;
  /** Policies of the country. One `/v1/policies` call per country; for many countries, `Query.policies` takes one for all of them. */
  readonly policies?: Maybe<ReadonlyArray<Policy>>;
  /** Overview of the country's policies; null if there are none. One `/v1/policies/country/{code}` call per country. */
  readonly policyOverview?: Maybe<PolicyOverview>;
  /** Reference record with selected indicators; null if there is none. One `/v1/countries/{code}/profile` call per country. */
  readonly profile?: Maybe<CountryProfile>;
  /** The record exactly as the service sent it; an error if the service lists no such country. From the one `/v1/countries` call. */
  readonly record?: Maybe<Scalars['JSON']['output']>;
  /** Region, such as `West Africa`. From the one `/v1/countries` call. */
  readonly region?: Maybe<Scalars['String']['output']>;
  /** Snapshot across several domains; null if there is none. One `/v1/countries/{code}/signals` call per country. */
  readonly signals?: Maybe<Signals>;
  /** Subregion, if the service names one. From the one `/v1/countries` call. */
  readonly subregion?: Maybe<Scalars['String']['output']>;
  /** Exchange listings of companies of this country. One `/v1/markets/tickers` call for all countries together. */
  readonly tickers?: Maybe<ReadonlyArray<Ticker>>;
  /** Flows that the country reports. One `/v1/trade/flows` call per country. If a list fills an answer (1,000 rows), further calls complete it, or a warning says that it is incomplete. */
  readonly tradeFlows?: Maybe<ReadonlyArray<TradeFlow>>;
  /** Overview of the country's trade; null if there is none. One `/v1/trade/overview/{code}` call per country. */
  readonly tradeOverview?: Maybe<TradeOverview>;
  /** Countries that the country trades with. One `/v1/trade/partners` call per country; the route offers no way to fetch further rows, so a list that may be truncated has a warning. */
  readonly tradePartners?: Maybe<ReadonlyArray<TradePartner>>;
  /** Products that the country trades in. One `/v1/trade/products` call per country; the route offers no way to fetch further rows, so a list that may be truncated has a warning. */
  readonly tradeProducts?: Maybe<ReadonlyArray<TradeProduct>>;
};


/** A country that the service covers. */
export type CountryAvailabilityArgs = {
  metricKeys?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
};


/** A country that the service covers. */
export type CountryFigureAsOfArgs = {
  asOf: Scalars['DateTime']['input'];
  metricKey: Scalars['String']['input'];
  year?: InputMaybe<Scalars['Int']['input']>;
};


/** A country that the service covers. */
export type CountryFiguresAsOfArgs = {
  asOf: Scalars['DateTime']['input'];
  metricKey: Scalars['String']['input'];
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


/** A country that the service covers. */
export type CountryPoliciesArgs = {
  documentType?: InputMaybe<PolicyDocumentType>;
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  search?: InputMaybe<Scalars['String']['input']>;
  status?: InputMaybe<PolicyStatus>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
};


/** A country that the service covers. */
export type CountryPolicyOverviewArgs = {
  top?: InputMaybe<Scalars['Int']['input']>;
};


/** A country that the service covers. */
export type CountryTradeFlowsArgs = {
  flowType?: InputMaybe<TradeFlowType>;
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  partnerCode?: InputMaybe<Scalars['CountryCode']['input']>;
  productCode?: InputMaybe<Scalars['String']['input']>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
};


/** A country that the service covers. */
export type CountryTradeOverviewArgs = {
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
  top?: InputMaybe<Scalars['Int']['input']>;
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
export const CountryOrderField = {
  /** Code of the country. */
  CODE: 'CODE',
  /** Common name in English. */
  NAME: 'NAME'
} as const;

export type CountryOrderField = typeof CountryOrderField[keyof typeof CountryOrderField];
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
  readonly alertLevel?: Maybe<Scalars['String']['output']>;
  /** Score of the alert. */
  readonly alertScore?: Maybe<Scalars['Float']['output']>;
  /** Description by the source. */
  readonly description?: Maybe<Scalars['String']['output']>;
  /** Start of the event; null with the warning `UNREADABLE_TIME` if the service sent no readable time. */
  readonly eventFromAt?: Maybe<Scalars['DateTime']['output']>;
  /** Key of the event at its source. */
  readonly eventKey?: Maybe<Scalars['String']['output']>;
  /** Actual or expected end of the event; null as for `eventFromAt`. */
  readonly eventToAt?: Maybe<Scalars['DateTime']['output']>;
  /** Kind of event, such as a flood or a drought. */
  readonly eventType?: Maybe<Scalars['String']['output']>;
  /** Name of the event. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Address of the report. */
  readonly reportUrl?: Maybe<Scalars['String']['output']>;
  /** Severity in words. */
  readonly severityText?: Maybe<Scalars['String']['output']>;
  /** Unit of `severityValue`. */
  readonly severityUnit?: Maybe<Scalars['String']['output']>;
  /** Severity, in `severityUnit`. */
  readonly severityValue?: Maybe<Scalars['Float']['output']>;
  /** Body that published the alert. */
  readonly source?: Maybe<Source>;
};

/** Values of `errors[].extensions.code`. */
export const ErrorCode = {
  /** The request is not GraphQL over HTTP. */
  BAD_REQUEST: 'BAD_REQUEST',
  /** A variable or an argument is malformed, or the service refused one. */
  BAD_USER_INPUT: 'BAD_USER_INPUT',
  /** The document is not one of those allowed to run, or reads something that the key may not. */
  DOCUMENT_NOT_ALLOWED: 'DOCUMENT_NOT_ALLOWED',
  /** The key is valid but may not do this. */
  FORBIDDEN: 'FORBIDDEN',
  /** The operation is not GraphQL. */
  GRAPHQL_PARSE_FAILED: 'GRAPHQL_PARSE_FAILED',
  /** The operation is not valid against the schema. */
  GRAPHQL_VALIDATION_FAILED: 'GRAPHQL_VALIDATION_FAILED',
  /** An internal error of the gateway. */
  INTERNAL_SERVER_ERROR: 'INTERNAL_SERVER_ERROR',
  /** The calls that the key, issued by this gateway, may send are spent. The limit resets at `resetsAt`. */
  KEY_BUDGET_SPENT: 'KEY_BUDGET_SPENT',
  /** The key, issued by this gateway, is no longer valid. */
  KEY_EXPIRED: 'KEY_EXPIRED',
  /** The requests of this month are spent. The limit resets at `resetsAt`. */
  MONTHLY_QUOTA_EXCEEDED: 'MONTHLY_QUOTA_EXCEEDED',
  /** The operation runs offline, and what the field needs is not cached. `command` would fetch it. */
  NOT_HELD: 'NOT_HELD',
  /** The journal of the gateway doesn't reach back so far, or doesn't have the snapshot. */
  NOT_RECORDED: 'NOT_RECORDED',
  /** The request names no operation, or one that the document doesn't have. */
  OPERATION_RESOLUTION_FAILURE: 'OPERATION_RESOLUTION_FAILURE',
  /** The operation took longer than allowed, and this field was not ready by then. */
  OPERATION_TIMEOUT: 'OPERATION_TIMEOUT',
  /** The operation exceeds a limit of this gateway and nothing was sent; on a field: its call was not sent. */
  OPERATION_TOO_EXPENSIVE: 'OPERATION_TOO_EXPENSIVE',
  /** The key, issued by this gateway, may not be used by pages of this origin. */
  ORIGIN_NOT_ALLOWED: 'ORIGIN_NOT_ALLOWED',
  /** The gateway is overloaded and ran nothing. Retry after `retryAfterSeconds`. */
  OVERLOADED: 'OVERLOADED',
  /** The gateway doesn't hold the persisted operation. */
  PERSISTED_QUERY_NOT_FOUND: 'PERSISTED_QUERY_NOT_FOUND',
  /** Persisted operations are not offered. */
  PERSISTED_QUERY_NOT_SUPPORTED: 'PERSISTED_QUERY_NOT_SUPPORTED',
  /** The requests of this minute are spent. Retry at `retryAt`. */
  RATE_LIMITED: 'RATE_LIMITED',
  /** The bearer key is missing, or the service doesn't know it. */
  UNAUTHENTICATED: 'UNAUTHENTICATED',
  /** The service truncated the result, and the rest could not be fetched. */
  UPSTREAM_INCOMPLETE: 'UPSTREAM_INCOMPLETE',
  /** The service's answer is not JSON, or a record in it breaks the specification. */
  UPSTREAM_INVALID_RESPONSE: 'UPSTREAM_INVALID_RESPONSE',
  /** The service lacks the route that the field needs; the gateway tries it again after a day. */
  UPSTREAM_ROUTE_ABSENT: 'UPSTREAM_ROUTE_ABSENT',
  /** The service did not answer in full in time. */
  UPSTREAM_TIMEOUT: 'UPSTREAM_TIMEOUT',
  /** The service failed or broke the connection, on each of `attempts` attempts. */
  UPSTREAM_UNAVAILABLE: 'UPSTREAM_UNAVAILABLE'
} as const;

export type ErrorCode = typeof ErrorCode[keyof typeof ErrorCode];
/** A figure before a change. Its country, indicator and source are those of the current figure. */
export type FormerObservation = {
  readonly __typename?: 'FormerObservation';
  /** For a stock figure, its point in time; null for a flow over the period. */
  readonly asOfPeriod?: Maybe<Scalars['String']['output']>;
  /** Provider's dataset release of the figure; null if none is named. */
  readonly datasetVersion?: Maybe<Scalars['String']['output']>;
  /** Provider's upper bound around an estimate; null if none is published. */
  readonly estimateHigh?: Maybe<Scalars['Float']['output']>;
  /** Provider's lower bound around an estimate; null if none is published. */
  readonly estimateLow?: Maybe<Scalars['Float']['output']>;
  /** True if the figure is anything other than reported: an estimate, projection, model output or imputation. */
  readonly isModelled: Scalars['Boolean']['output'];
  /** Place of the figure within the country; null for the whole country. */
  readonly locationName?: Maybe<Scalars['String']['output']>;
  /** The period covered, as the service spells it. */
  readonly period: Scalars['String']['output'];
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Time at which the platform retrieved the value from the source, in UTC. */
  readonly retrievedAt: Scalars['DateTime']['output'];
  /** Unit as the source states it; percentages name their whole. */
  readonly unit: Scalars['String']['output'];
  /** The figure. A zero is a real zero. */
  readonly value: Scalars['Float']['output'];
  /** The provider's own classification, such as `reported`. */
  readonly valueStatus: Scalars['String']['output'];
  /** The year that the figure describes. */
  readonly year: Scalars['Int']['output'];
};

/** Age of an answer, and why it is stale if it is. */
export type Freshness = {
  readonly __typename?: 'Freshness';
  /** Time at which the service sent it to this gateway. */
  readonly fetchedAt: Scalars['DateTime']['output'];
  /** Why the service gave no newer answer; null if the answer is not stale. */
  readonly reason?: Maybe<ErrorCode>;
  /** True if the answer has expired and is served because the service gave no newer one. */
  readonly stale: Scalars['Boolean']['output'];
};

/** An exchange rate on a day. */
export type FxRate = {
  readonly __typename?: 'FxRate';
  /** Base currency, ISO 4217. */
  readonly baseCurrency?: Maybe<Scalars['String']['output']>;
  /** Countries that the rate concerns. */
  readonly countries: ReadonlyArray<Country>;
  /** Quote currency, ISO 4217. */
  readonly quoteCurrency?: Maybe<Scalars['String']['output']>;
  /** Units of the quote currency per unit of the base currency. */
  readonly rate?: Maybe<Scalars['Float']['output']>;
  /** Day of the rate, `YYYY-MM-DD`. */
  readonly rateDate?: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Body that published the rate. */
  readonly source?: Maybe<Source>;
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
  /** What the gateway has cached of this indicator's figures under your key: one item per country of which anything is cached, ordered by code. Costs no call. */
  readonly availability?: Maybe<ReadonlyArray<Availability>>;
  /** Category, such as `demographics`. From the one `/v1/indicators` call. */
  readonly category?: Maybe<Scalars['String']['output']>;
  /** True if the service has figures for it. From the one `/v1/indicators` call. */
  readonly hasData?: Maybe<Scalars['Boolean']['output']>;
  /** Global identifier. */
  readonly id: Scalars['ID']['output'];
  /** Stable key, the same on every route. */
  readonly key: Scalars['String']['output'];
  /** Name. Free below an observation; otherwise from the one `/v1/indicators` call. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /** The latest national figure of one country; null if the service holds none. Merged into one `/v1/data` call. If the latest row of the service is for a place or has no value, a second call finds the figure in the series. If there are several figures for the newest period, the one that the service returns as the latest is taken; if the operation also asks for a series, that takes one more call. The warning `SEVERAL_FIGURES` reports the others. */
  readonly observation?: Maybe<Observation>;
  /** Observations of this indicator. Merged into one `/v1/data` call. */
  readonly observations?: Maybe<ReadonlyArray<Observation>>;
  /** `observations` as a connection, in pages. */
  readonly observationsConnection?: Maybe<ObservationConnection>;
  /** The record exactly as the service sent it; an error if the catalogue has no such indicator. From the one `/v1/indicators` call. */
  readonly record?: Maybe<Scalars['JSON']['output']>;
  /** Bodies that publish it. From the one `/v1/indicators` call. */
  readonly sources?: Maybe<ReadonlyArray<Source>>;
  /** Unit as the source states it. Free below an observation; otherwise from the one `/v1/indicators` call. */
  readonly unit?: Maybe<Scalars['String']['output']>;
};


/** A measure in the catalogue. */
export type IndicatorAvailabilityArgs = {
  countryCodes?: InputMaybe<ReadonlyArray<Scalars['CountryCode']['input']>>;
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

/** What is cached of an indicator's figures, over several countries. */
export type IndicatorAvailability = {
  readonly __typename?: 'IndicatorAvailability';
  /** Time as of which all of this was current. */
  readonly asOf: Scalars['DateTime']['output'];
  /** The countries with a cached figure, ordered by code, with all that is cached of each. */
  readonly countries: ReadonlyArray<Availability>;
  /** Number of countries with a cached figure. */
  readonly countryCount: Scalars['Int']['output'];
  /** Number of cached figures, including those of places. */
  readonly figures: Scalars['Int']['output'];
  /** Year of the earliest of these figures. */
  readonly firstYear: Scalars['Int']['output'];
  /** The indicator. */
  readonly indicator: Indicator;
  /** Year of the latest of these figures. */
  readonly lastYear: Scalars['Int']['output'];
  /** Number of countries of which nothing is cached. With 0, all others have no figure. */
  readonly unknownCount: Scalars['Int']['output'];
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
export const IndicatorOrderField = {
  /** Category. */
  CATEGORY: 'CATEGORY',
  /** Key of the indicator. */
  KEY: 'KEY',
  /** Name. */
  NAME: 'NAME'
} as const;

export type IndicatorOrderField = typeof IndicatorOrderField[keyof typeof IndicatorOrderField];
/** An object that can be fetched by its global identifier. */
export type Node = {
  /** Opaque global identifier. Pass it to `node` to fetch the object again. */
  readonly id: Scalars['ID']['output'];
};

/** A figure with its provenance. Where the service has no value there is no observation; a zero is a real zero. */
export type Observation = Node & {
  readonly __typename?: 'Observation';
  /** For a stock figure, its point in time; null for a flow over the period. */
  readonly asOfPeriod?: Maybe<Scalars['String']['output']>;
  /**
   * Derived by this gateway, not sent by the service: this figure minus that of the preceding year, or of the year `since`, in the `unit` of both. Exact in
   * decimals: 727.46 less 693.09 is 34.37.
   * Null if the service has no such figure of the same country, indicator and place. Null, with a warning, if the two have different units or
   * are for different parts of a year. If that year has several figures, the one of the same source and release is taken; if there is not exactly one, the result
   * is null with a warning. The other figure is fetched by the same `/v1/data` call if the text of the operation alone shows
   * which one it is; otherwise by one more call for all.
   */
  readonly change?: Maybe<Scalars['Float']['output']>;
  /** Citation of the figure for a text or a bibliography: source, measure, place, period, dataset release, day of retrieval and URL. Costs no call. The source appears by the name that the operator of this gateway gives it, or else by its key. */
  readonly citation: Scalars['String']['output'];
  /** The country. `code` and `name` are free. */
  readonly country: Country;
  /** Provider's dataset release of the figure; null if none is named. */
  readonly datasetVersion?: Maybe<Scalars['String']['output']>;
  /** Provider's upper bound around an estimate; null if none is published. */
  readonly estimateHigh?: Maybe<Scalars['Float']['output']>;
  /** Provider's lower bound around an estimate; null if none is published. */
  readonly estimateLow?: Maybe<Scalars['Float']['output']>;
  /** When the gateway fetched the figure, and whether it is stale. */
  readonly freshness: Freshness;
  /**
   * Derived by this gateway, not sent by the service: `change` in percent of the earlier figure, rounded once, to double precision. For a figure that is itself in percent this is percent of
   * percent; `change` gives the percentage points. Null in the same cases as `change`, and, with a warning, if the earlier figure is zero or negative. It costs the same calls as `change`.
   */
  readonly growthPercent?: Maybe<Scalars['Float']['output']>;
  /** Global identifier. It is made of country, indicator, year, period, point in time, place, source, release, status and unit, not of the value, so a row has the same one in a series, as the latest figure and as an operand. Given the identifier of an earlier release or status, `node` finds today's figure, with the warning `REVISED_SINCE`. */
  readonly id: Scalars['ID']['output'];
  /** The indicator. `key`, `name` and `unit` are free. */
  readonly indicator: Indicator;
  /** True if the figure is anything other than reported: an estimate, projection, model output or imputation. */
  readonly isModelled: Scalars['Boolean']['output'];
  /** Place of the figure within the country; null for the whole country. */
  readonly locationName?: Maybe<Scalars['String']['output']>;
  /**
   * Derived by this gateway, not sent by the service: this figure divided by that of another indicator, of the same country, place and year, rounded once, to double precision. Null
   * if the service has no such figure. Null, with a warning, if it has figures of other years only, or if the figure is zero or for another part of the year.
   * If that indicator has several figures, the one that the service returns as the latest is taken, provided it is of the same period; otherwise the one of the same source and release, or the result is null with a warning.
   * The other figure is fetched by the same `/v1/data` call if the text of the operation alone shows which one it is; otherwise by one more call for all, and by another if several may be the latest.
   */
  readonly per?: Maybe<Ratio>;
  /** The period covered, as the service spells it: a year, a quarter, a month or a date, for instance. A spelling that the gateway can't read is reported by the warning `UNREADABLE_PERIOD`. */
  readonly period: Scalars['String']['output'];
  /**
   * Derived by this gateway, not sent by the service: the rank of this country's figure among those of other countries for the same indicator and
   * year. Null, with a warning, for a figure of a place within a country, if units differ, and if a country has several figures of which `per` would choose none. The figures of the others are fetched by the same `/v1/data` call if the text of the
   * operation alone shows which ones they are; if a country's latest figure is newer than this one, by one more call for all, and by another if several may be the latest.
   */
  readonly rank?: Maybe<Rank>;
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

/** The change of one figure. */
export type ObservationChange = {
  readonly __typename?: 'ObservationChange';
  /** The previous figure; null if it was ADDED. It has no `id`, so that no client cache takes it for the current one. */
  readonly before?: Maybe<FormerObservation>;
  /** Identifier of the figure in the previous event; null if it was ADDED. It is the `id` of `observation`, unless its release, status or unit has changed. */
  readonly formerId?: Maybe<Scalars['ID']['output']>;
  /** Kind of the change. */
  readonly kind: ChangeKind;
  /** The current figure; if it was REMOVED, as it was last. */
  readonly observation: Observation;
};

/** Changes since the previous event. */
export type ObservationChanges = {
  readonly __typename?: 'ObservationChanges';
  /** Time of the event. */
  readonly at: Scalars['DateTime']['output'];
  /** One change per figure that differs. Empty in an event that only reports that the subscription is paused or resumed. */
  readonly changes: ReadonlyArray<ObservationChange>;
  /** True if these are all the figures, each as ADDED: discard any others. */
  readonly isWhole: Scalars['Boolean']['output'];
  /** Version of the current figures, for `since`. As text, it sorts after that of any earlier event. */
  readonly revision: Scalars['String']['output'];
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
export const ObservationOrderField = {
  /** Code of the country. */
  COUNTRY: 'COUNTRY',
  /** Key of the indicator. */
  INDICATOR: 'INDICATOR',
  /** The figure, regardless of its unit. */
  VALUE: 'VALUE',
  /** The year that the figure describes. */
  YEAR: 'YEAR'
} as const;

export type ObservationOrderField = typeof ObservationOrderField[keyof typeof ObservationOrderField];
/** Figures of whole countries, or of places within them. */
export const ObservationScope = {
  /** All figures. */
  ALL: 'ALL',
  /** Only figures of whole countries. With `latest`, if the newest figure is that of a place, a second call finds the newest national one in the series. */
  NATIONAL: 'NATIONAL',
  /** Only figures of places. With `latest`, the newest one of each country and indicator, taken from the series. */
  PLACES: 'PLACES'
} as const;

export type ObservationScope = typeof ObservationScope[keyof typeof ObservationScope];
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
  readonly roleType?: Maybe<Scalars['String']['output']>;
  /** Terms of its holders, as the service lists them. */
  readonly terms: ReadonlyArray<Term>;
};

/** Sort direction. */
export const OrderDirection = {
  /** Ascending: the smallest, or alphabetically first, comes first. */
  ASC: 'ASC',
  /** Descending: the largest, or alphabetically last, comes first. */
  DESC: 'DESC'
} as const;

export type OrderDirection = typeof OrderDirection[keyof typeof OrderDirection];
/** Position of a page in its list, as the Relay specification defines it. */
export type PageInfo = {
  readonly __typename?: 'PageInfo';
  /** Cursor of the last row; null on an empty page. */
  readonly endCursor?: Maybe<Scalars['String']['output']>;
  /** True if rows follow this page. */
  readonly hasNextPage: Scalars['Boolean']['output'];
  /** True if rows precede this page. */
  readonly hasPreviousPage: Scalars['Boolean']['output'];
  /** Cursor of the first row; null on an empty page. */
  readonly startCursor?: Maybe<Scalars['String']['output']>;
};

/** Version of the platform. */
export type PlatformVersion = {
  readonly __typename?: 'PlatformVersion';
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Version as the service spells it; null if it names none. */
  readonly version?: Maybe<Scalars['String']['output']>;
};

/** A policy of a country, as its record has it. */
export type Policy = {
  readonly __typename?: 'Policy';
  /** The country; null if the record names none. */
  readonly country?: Maybe<Country>;
  /** Kind of document, as the record words it, such as `law`. */
  readonly documentType?: Maybe<Scalars['String']['output']>;
  /** Day it was published, `YYYY-MM-DD`; null if the record doesn't say. */
  readonly publishedAt?: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Body that the record comes from. */
  readonly source?: Maybe<Source>;
  /** Status, as the record words it, such as `active`. */
  readonly status?: Maybe<Scalars['String']['output']>;
  /** Title of the policy; null if the record has none. */
  readonly title?: Maybe<Scalars['String']['output']>;
  /** Wikidata identifier; null if the record has none. */
  readonly wikidataId?: Maybe<Scalars['String']['output']>;
};

/** Kinds of documents, to filter policies. */
export const PolicyDocumentType = {
  /** A bill that is not yet a law. */
  BILL: 'BILL',
  /** A constitution. */
  CONSTITUTION: 'CONSTITUTION',
  /** A decree. */
  DECREE: 'DECREE',
  /** A law. */
  LAW: 'LAW',
  /** Any other kind. */
  OTHER: 'OTHER',
  /** A policy. */
  POLICY: 'POLICY',
  /** A regulation. */
  REGULATION: 'REGULATION',
  /** A strategy. */
  STRATEGY: 'STRATEGY'
} as const;

export type PolicyDocumentType = typeof PolicyDocumentType[keyof typeof PolicyDocumentType];
/** Overview of a country's policies. */
export type PolicyOverview = {
  readonly __typename?: 'PolicyOverview';
  /** Number of policies in force; null if the record doesn't say. */
  readonly activePolicyCount?: Maybe<Scalars['Int']['output']>;
  /** The country. */
  readonly country: Country;
  /** The policy published last; null if the record has none. */
  readonly latestPolicy?: Maybe<Policy>;
  /** Recently published policies, as many as the service lists. */
  readonly recentPolicies: ReadonlyArray<Policy>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
};

/** Statuses, to filter policies. */
export const PolicyStatus = {
  /** In force. */
  ACTIVE: 'ACTIVE',
  /** Not yet in force. */
  DRAFT: 'DRAFT',
  /** No longer in force. */
  REPEALED: 'REPEALED',
  /** The record doesn't say. */
  UNKNOWN: 'UNKNOWN'
} as const;

export type PolicyStatus = typeof PolicyStatus[keyof typeof PolicyStatus];
/** One indicator of a country's profile, as the profile gives it. */
export type ProfileIndicator = {
  readonly __typename?: 'ProfileIndicator';
  /** The indicator in the catalogue. */
  readonly indicator: Indicator;
  /** Key of the indicator. */
  readonly key: Scalars['String']['output'];
  /** Name of the indicator, if the profile gives it. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /** Period that the figure covers: a year, a quarter, a month or a date. */
  readonly period?: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Body that published the figure. */
  readonly source?: Maybe<Source>;
  /** Unit of the value, if the profile gives it. */
  readonly unit?: Maybe<Scalars['String']['output']>;
  /** The figure; null if the profile gives none. A zero is a real zero. */
  readonly value?: Maybe<Scalars['Float']['output']>;
  /** Year that the figure describes. */
  readonly year?: Maybe<Scalars['Int']['output']>;
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
  /** Which indicators the gateway has cached figures of under your key, those of the most countries first. `country-graph fill --all --latest` caches a figure of each country and indicator that has any, in some twenty calls. Costs no call. */
  readonly availability?: Maybe<ReadonlyArray<IndicatorAvailability>>;
  /** All countries, or those with the given codes. One `/v1/countries` call; none if you select only figures or records by code. */
  readonly countries?: Maybe<ReadonlyArray<Country>>;
  /** `countries` as a connection, in pages. */
  readonly countriesConnection?: Maybe<CountryConnection>;
  /** One country; null if no country has this code. At most one `/v1/countries` call. */
  readonly country?: Maybe<Country>;
  /** Health of the REST service. Public: needs no key. One `/health` call. */
  readonly health?: Maybe<Health>;
  /**
   * One indicator; null if the catalogue has none with this key. At most one `/v1/indicators` call. If you select only figures, the gateway makes
   * the call only if no figure or catalogue it has seen shows that the indicator exists.
   */
  readonly indicator?: Maybe<Indicator>;
  /** The catalogue of indicators. One `/v1/indicators` call. */
  readonly indicators?: Maybe<ReadonlyArray<Indicator>>;
  /** `indicators` as a connection, in pages. */
  readonly indicatorsConnection?: Maybe<IndicatorConnection>;
  /** The object with this global identifier; null if it no longer exists. */
  readonly node?: Maybe<Node>;
  /** The objects with these global identifiers, in the same order; null for each that no longer exists. */
  readonly nodes?: Maybe<ReadonlyArray<Maybe<Node>>>;
  /**
   * Observations of several countries and indicators. One `/v1/data` call, as far as the service's row limit allows.
   *
   * They are ordered by country and then by indicator, as you name them, or else as the lists have them. A series starts with its oldest figure: by year, then by the end of the period, the longer period last, then by point in time. Figures of the same time are ordered as in `Country.observation`: the whole country before its places, and places by name; then the later retrieval, the later release, and the source. The order does not depend on the key, or on the calls that fetched them.
   */
  readonly observations?: Maybe<ReadonlyArray<Observation>>;
  /** `observations` as a connection, in pages. A page costs as much as the whole list: nothing if its figures are cached. */
  readonly observationsConnection?: Maybe<ObservationConnection>;
  /** Version of the platform behind the REST service. Public: needs no key. One `/v1/platform/version` call. */
  readonly platformVersion?: Maybe<PlatformVersion>;
  /**
   * Policies of all countries, or of one. One `/v1/policies` call for any number of countries. If a list fills an answer (500 rows), further calls by year complete it,
   * provided that the service's own count shows when it is complete; otherwise a warning says that the list is incomplete.
   */
  readonly policies?: Maybe<ReadonlyArray<Policy>>;
  /** Plan and usage of the caller's key, as counted by this gateway. Costs nothing. */
  readonly quota?: Maybe<Quota>;
  /** What has changed in figures, as the gateway has seen it under your key: the latest change first. A figure is the same one whatever its value, release, status or unit, so a new release of it is a revision. What the gateway saw first is none. Costs no call. */
  readonly revisions?: Maybe<ReadonlyArray<Revision>>;
  /** One source; null if the service has none with this key. One `/v1/platform/etl-status` call. */
  readonly source?: Maybe<Source>;
  /** All sources with their refresh times. One `/v1/platform/etl-status` call. */
  readonly sources?: Maybe<ReadonlyArray<Source>>;
  /** One listing; null if there is none. One `/v1/markets/tickers` call. */
  readonly ticker?: Maybe<Ticker>;
  /** Listings on the followed exchanges. One `/v1/markets/tickers` call, as far as the service's row limit allows. */
  readonly tickers?: Maybe<ReadonlyArray<Ticker>>;
  /** `tickers` as a connection, in pages. */
  readonly tickersConnection?: Maybe<TickerConnection>;
  /**
   * Flows of goods by reporter, by partner, or by both. One `/v1/trade/flows` call. If a list fills an answer (1,000 rows), further calls by direction and year
   * complete it, or a warning says that it is incomplete.
   */
  readonly tradeFlows?: Maybe<ReadonlyArray<TradeFlow>>;
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryAvailabilityArgs = {
  countryCodes?: InputMaybe<ReadonlyArray<Scalars['CountryCode']['input']>>;
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  search?: InputMaybe<Scalars['String']['input']>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
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
export type QueryPoliciesArgs = {
  countryCode?: InputMaybe<Scalars['CountryCode']['input']>;
  documentType?: InputMaybe<PolicyDocumentType>;
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  search?: InputMaybe<Scalars['String']['input']>;
  status?: InputMaybe<PolicyStatus>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryRevisionsArgs = {
  countryCodes: ReadonlyArray<Scalars['CountryCode']['input']>;
  first?: Scalars['Int']['input'];
  metricKeys: ReadonlyArray<Scalars['String']['input']>;
  since?: InputMaybe<Scalars['DateTime']['input']>;
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


/**
 * Figures, markets, government and reference records of 54 African countries, as a graph over a metered REST service.
 *
 * Descriptions state the upstream calls that a field costs, if any. Fields of one operation share their calls, as do
 * operations that run at the same time under one key: one `/v1/data` call fetches all their figures.
 * `extensions.upstream` of each response states the cost of the operation.
 */
export type QueryTradeFlowsArgs = {
  flowType?: InputMaybe<TradeFlowType>;
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  partnerCode?: InputMaybe<Scalars['CountryCode']['input']>;
  productCode?: InputMaybe<Scalars['String']['input']>;
  reporterCode?: InputMaybe<Scalars['CountryCode']['input']>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
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
  readonly monthlyRequests?: Maybe<Scalars['Int']['output']>;
  /** Name of the plan, once the service has stated it. */
  readonly plan?: Maybe<Scalars['String']['output']>;
  /** Requests that the plan allows per minute, once the service has stated it. */
  readonly requestsPerMinute?: Maybe<Scalars['Int']['output']>;
  /** Current state of the key. */
  readonly state: QuotaState;
};

/** States of a key. */
export const QuotaState = {
  /** The day is spent: you can send requests again at midnight, UTC. Only keys that this gateway has issued have a limit by day. */
  DAY_SPENT: 'DAY_SPENT',
  /** The minute is spent: you can send requests again at `minuteResetsAt`. */
  MINUTE_SPENT: 'MINUTE_SPENT',
  /** The month is spent: you can send requests again at `monthResetsAt`, or once the plan is upgraded. */
  MONTH_SPENT: 'MONTH_SPENT',
  /** Requests are left. */
  OK: 'OK'
} as const;

export type QuotaState = typeof QuotaState[keyof typeof QuotaState];
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

/** A figure as it was at some time. */
export type RecordedFigure = {
  readonly __typename?: 'RecordedFigure';
  /** For a stock figure, its point in time; null for a flow over the period. */
  readonly asOfPeriod?: Maybe<Scalars['String']['output']>;
  /** The country. */
  readonly country: Country;
  /** Provider's dataset release of the figure; null if none was named. */
  readonly datasetVersion?: Maybe<Scalars['String']['output']>;
  /** The figure with all digits that the service sent. */
  readonly digits: Scalars['String']['output'];
  /** Provider's upper bound around an estimate; null if none was published. */
  readonly estimateHigh?: Maybe<Scalars['Float']['output']>;
  /** Provider's lower bound around an estimate; null if none was published. */
  readonly estimateLow?: Maybe<Scalars['Float']['output']>;
  /** The indicator. */
  readonly indicator: Indicator;
  /** Place of the figure within the country; null for the whole country. */
  readonly locationName?: Maybe<Scalars['String']['output']>;
  /** The period covered, as the service spelt it. */
  readonly period: Scalars['String']['output'];
  /** Time at which the platform had retrieved the value when the gateway first saw it, in UTC. */
  readonly retrievedAt: Scalars['DateTime']['output'];
  /** Time at which the gateway first saw the figure so. */
  readonly seenAt: Scalars['DateTime']['output'];
  /** The body that published the figure. `key` is free. */
  readonly source: Source;
  /** Unit as the source stated it. */
  readonly unit: Scalars['String']['output'];
  /** The figure. A zero is a real zero. */
  readonly value: Scalars['Float']['output'];
  /** The provider's own classification, such as `reported`. */
  readonly valueStatus: Scalars['String']['output'];
  /** The year that the figure describes. */
  readonly year: Scalars['Int']['output'];
};

/** One change of a figure. */
export type Revision = {
  readonly __typename?: 'Revision';
  /** The figure after; null if it was withdrawn. */
  readonly after?: Maybe<RecordedFigure>;
  /** The figure before; null if it was not there. */
  readonly before?: Maybe<RecordedFigure>;
  /** The country. */
  readonly country: Country;
  /** The indicator. */
  readonly indicator: Indicator;
  /** Time at which the gateway first saw the change. */
  readonly seenAt: Scalars['DateTime']['output'];
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
  readonly lastSuccessfulRefresh?: Maybe<Scalars['DateTime']['output']>;
  /** Name of the source as the service gives it, or else the operator of this gateway; null if neither does. From the one `/v1/platform/etl-status` call. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /** Next planned refresh; null as for `lastSuccessfulRefresh`. From the one `/v1/platform/etl-status` call. */
  readonly nextRun?: Maybe<Scalars['DateTime']['output']>;
  /** The record exactly as the service sent it; an error if the service lists no such source. From the one `/v1/platform/etl-status` call. */
  readonly record?: Maybe<Scalars['JSON']['output']>;
  /** URL of the source's own page, from which its name is taken; null if none is known. From the one `/v1/platform/etl-status` call. */
  readonly url?: Maybe<Scalars['String']['output']>;
};

/**
 * Changes as they happen, if the gateway offers them (`SUBSCRIPTIONS`): by server-sent events at `/graphql/stream` (the graphql-sse
 * protocol), or by WebSocket at `/graphql` (`graphql-transport-ws`). A slow reader gets several changes at once, and always the last one.
 */
export type Subscription = {
  readonly __typename?: 'Subscription';
  /**
   * Figures as they change: the difference between the current and the previous answer of `Query.observations` with the same arguments. The gateway sends nothing
   * until something changes. All subscriptions under one key share one `/v1/platform/etl-status` call per interval, and the `/v1/data` call for
   * figures whose sources have run.
   */
  readonly observationsChanged?: Maybe<ObservationChanges>;
  /** A source, each time it has run. One `/v1/platform/etl-status` call per interval for all subscriptions under one key. */
  readonly sourceRefreshed?: Maybe<Source>;
};


/**
 * Changes as they happen, if the gateway offers them (`SUBSCRIPTIONS`): by server-sent events at `/graphql/stream` (the graphql-sse
 * protocol), or by WebSocket at `/graphql` (`graphql-transport-ws`). A slow reader gets several changes at once, and always the last one.
 */
export type SubscriptionObservationsChangedArgs = {
  countryCodes?: InputMaybe<ReadonlyArray<Scalars['CountryCode']['input']>>;
  latest?: InputMaybe<Scalars['Boolean']['input']>;
  metricKeys?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  since?: InputMaybe<Scalars['String']['input']>;
};


/**
 * Changes as they happen, if the gateway offers them (`SUBSCRIPTIONS`): by server-sent events at `/graphql/stream` (the graphql-sse
 * protocol), or by WebSocket at `/graphql` (`graphql-transport-ws`). A slow reader gets several changes at once, and always the last one.
 */
export type SubscriptionSourceRefreshedArgs = {
  keys?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
};

/** One holder's term in an office. */
export type Term = {
  readonly __typename?: 'Term';
  /** Last day, `YYYY-MM-DD`; null while the term lasts, or if it is not known. */
  readonly endDate?: Maybe<Scalars['String']['output']>;
  /** Name of the holder. */
  readonly holder?: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** First day, `YYYY-MM-DD`, as precise as the record is. */
  readonly startDate?: Maybe<Scalars['String']['output']>;
  /** The record's own status. */
  readonly status?: Maybe<Scalars['String']['output']>;
};

/** A listing on a followed exchange, with its last session and price. */
export type Ticker = Node & {
  readonly __typename?: 'Ticker';
  /** Change from the previous session, in percent. */
  readonly changePercent?: Maybe<Scalars['Float']['output']>;
  /** Closing price of that session, in the currency of the exchange. */
  readonly closePrice?: Maybe<Scalars['Float']['output']>;
  /** Country of the listing; null if the service names none. */
  readonly country?: Maybe<Country>;
  /** Code of the exchange, such as `NGX`. */
  readonly exchangeCode: Scalars['String']['output'];
  /** Global identifier. */
  readonly id: Scalars['ID']['output'];
  /** Industry, if the exchange names one. */
  readonly industry?: Maybe<Scalars['String']['output']>;
  /** Kind of security, such as `EQUITY`. */
  readonly instrumentType?: Maybe<Scalars['String']['output']>;
  /** Name of the security. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Sector, if the exchange names one. */
  readonly sector?: Maybe<Scalars['String']['output']>;
  /** Trading day of the price, `YYYY-MM-DD`. */
  readonly session?: Maybe<Scalars['String']['output']>;
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
export const TickerOrderField = {
  /** Change from the previous session, in percent. */
  CHANGE_PERCENT: 'CHANGE_PERCENT',
  /** Closing price of the session, regardless of its currency. */
  CLOSE_PRICE: 'CLOSE_PRICE',
  /** Code of the exchange. */
  EXCHANGE: 'EXCHANGE',
  /** Name of the security. */
  NAME: 'NAME',
  /** Symbol on the exchange. */
  SYMBOL: 'SYMBOL'
} as const;

export type TickerOrderField = typeof TickerOrderField[keyof typeof TickerOrderField];
/** A flow of goods between two countries. Only the parameters of the route are fields; values, units and everything else are in `record`. */
export type TradeFlow = {
  readonly __typename?: 'TradeFlow';
  /** Direction, as the record words it, such as `export`; null if the record doesn't say. */
  readonly flowType?: Maybe<Scalars['String']['output']>;
  /** Code of the other country, in upper case; null if the record doesn't say. */
  readonly partnerCode?: Maybe<Scalars['CountryCode']['output']>;
  /** Code of the product; null if the record doesn't say. */
  readonly productCode?: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Code of the country that reports it, in upper case; null if the record doesn't say. */
  readonly reporterCode?: Maybe<Scalars['CountryCode']['output']>;
  /** The year of the flow; null if the record doesn't say. */
  readonly year?: Maybe<Scalars['Int']['output']>;
};

/** Direction of goods. */
export const TradeFlowType = {
  /** From the reporter to the partner. */
  EXPORT: 'EXPORT',
  /** From the partner to the reporter. */
  IMPORT: 'IMPORT'
} as const;

export type TradeFlowType = typeof TradeFlowType[keyof typeof TradeFlowType];
/** Overview of a country's trade. Its fields are not specified: they are all in `record`. */
export type TradeOverview = {
  readonly __typename?: 'TradeOverview';
  /** The country. */
  readonly country: Country;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
};

/** A country that another one trades with. Its other fields are not specified: they are all in `record`. */
export type TradePartner = {
  readonly __typename?: 'TradePartner';
  /** Code of the partner, in upper case; null if the record doesn't say. */
  readonly partnerCode?: Maybe<Scalars['CountryCode']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
};

/** A product that a country trades in. Its other fields are not specified: they are all in `record`. */
export type TradeProduct = {
  readonly __typename?: 'TradeProduct';
  /** Code of the product; null if the record doesn't say. */
  readonly productCode?: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
};

/** Calls that a field may take. */
export const UpstreamTake = {
  /** One call per object that has the field. */
  EACH: 'EACH',
  /** Figures: the latest if the field returns a single one or its arguments say so, otherwise series. */
  FIGURES: 'FIGURES',
  /** Calls for the objects that its identifiers name. */
  IDENTIFIED: 'IDENTIFIED',
  /** None. Needed only on fields with a resolver, not on properties of a record. */
  NOTHING: 'NOTHING',
  /** One call per operation, for any number of objects: mostly a list. */
  ONCE: 'ONCE'
} as const;

export type UpstreamTake = typeof UpstreamTake[keyof typeof UpstreamTake];