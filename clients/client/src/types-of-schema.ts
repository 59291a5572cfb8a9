// Written by `npm run codegen`.

/** Types with an `id`. */
export const NODE_TYPES = [
  'Country',
  'Office',
  'Indicator',
  'Source',
  'Ticker',
  'Observation',
] as const;

/** Types without one: parts of the types that they stand in. */
export const PART_TYPES = [
  'PageInfo',
  'CountryConnection',
  'CountryEdge',
  'IndicatorConnection',
  'IndicatorEdge',
  'ObservationConnection',
  'ObservationEdge',
  'TickerConnection',
  'TickerEdge',
  'CountryProfile',
  'ProfileIndicator',
  'Signals',
  'FxRate',
  'CommodityBenchmark',
  'DisasterAlert',
  'Ratio',
  'Rank',
  'Term',
  'Freshness',
  'Health',
  'PlatformVersion',
  'Quota',
  'Availability',
  'IndicatorAvailability',
  'PolicyOverview',
  'Policy',
  'TradeOverview',
  'TradeFlow',
  'TradePartner',
  'TradeProduct',
  'Revision',
  'RecordedFigure',
  'ObservationChanges',
  'ObservationChange',
  'FormerObservation',
] as const;

/** Types that plugins bring: a gateway may be without them. */
export const EXTRA_TYPES: readonly string[] = [
  'Availability',
  'IndicatorAvailability',
  'PolicyOverview',
  'Policy',
  'TradeOverview',
  'TradeFlow',
  'TradePartner',
  'TradeProduct',
  'Revision',
  'RecordedFigure',
  'ObservationChanges',
  'ObservationChange',
  'FormerObservation',
];

/** Fields that have objects, or lists of them, and the types of these. */
export const OBJECT_FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  CountryConnection: {
    edges: 'CountryEdge',
    nodes: 'Country',
    pageInfo: 'PageInfo',
  },
  CountryEdge: {
    node: 'Country',
  },
  IndicatorConnection: {
    edges: 'IndicatorEdge',
    nodes: 'Indicator',
    pageInfo: 'PageInfo',
  },
  IndicatorEdge: {
    node: 'Indicator',
  },
  ObservationConnection: {
    edges: 'ObservationEdge',
    nodes: 'Observation',
    pageInfo: 'PageInfo',
  },
  ObservationEdge: {
    node: 'Observation',
  },
  TickerConnection: {
    edges: 'TickerEdge',
    nodes: 'Ticker',
    pageInfo: 'PageInfo',
  },
  TickerEdge: {
    node: 'Ticker',
  },
  Country: {
    observationsConnection: 'ObservationConnection',
    profile: 'CountryProfile',
    signals: 'Signals',
    offices: 'Office',
    tickers: 'Ticker',
    observation: 'Observation',
    observations: 'Observation',
    availability: 'Availability',
    policies: 'Policy',
    policyOverview: 'PolicyOverview',
    tradeOverview: 'TradeOverview',
    tradeFlows: 'TradeFlow',
    tradePartners: 'TradePartner',
    tradeProducts: 'TradeProduct',
    figureAsOf: 'RecordedFigure',
    figuresAsOf: 'RecordedFigure',
  },
  CountryProfile: {
    country: 'Country',
    indicators: 'ProfileIndicator',
  },
  ProfileIndicator: {
    source: 'Source',
    indicator: 'Indicator',
  },
  Signals: {
    country: 'Country',
    observations: 'Observation',
    fxRates: 'FxRate',
    commodityBenchmarks: 'CommodityBenchmark',
    disasterAlerts: 'DisasterAlert',
  },
  FxRate: {
    source: 'Source',
    countries: 'Country',
  },
  DisasterAlert: {
    source: 'Source',
  },
  Ratio: {
    operands: 'Observation',
  },
  Office: {
    country: 'Country',
    terms: 'Term',
  },
  Indicator: {
    observationsConnection: 'ObservationConnection',
    sources: 'Source',
    observation: 'Observation',
    observations: 'Observation',
    availability: 'Availability',
  },
  Ticker: {
    country: 'Country',
  },
  Observation: {
    per: 'Ratio',
    rank: 'Rank',
    country: 'Country',
    indicator: 'Indicator',
    source: 'Source',
    freshness: 'Freshness',
  },
  Query: {
    countriesConnection: 'CountryConnection',
    indicatorsConnection: 'IndicatorConnection',
    observationsConnection: 'ObservationConnection',
    tickersConnection: 'TickerConnection',
    health: 'Health',
    platformVersion: 'PlatformVersion',
    sources: 'Source',
    source: 'Source',
    countries: 'Country',
    country: 'Country',
    indicators: 'Indicator',
    indicator: 'Indicator',
    observations: 'Observation',
    tickers: 'Ticker',
    ticker: 'Ticker',
    quota: 'Quota',
    node: 'Node',
    nodes: 'Node',
    availability: 'IndicatorAvailability',
    policies: 'Policy',
    tradeFlows: 'TradeFlow',
    revisions: 'Revision',
  },
  Availability: {
    country: 'Country',
    indicator: 'Indicator',
    sources: 'Source',
  },
  IndicatorAvailability: {
    indicator: 'Indicator',
    countries: 'Availability',
  },
  PolicyOverview: {
    country: 'Country',
    latestPolicy: 'Policy',
    recentPolicies: 'Policy',
  },
  Policy: {
    source: 'Source',
    country: 'Country',
  },
  TradeOverview: {
    country: 'Country',
  },
  Revision: {
    country: 'Country',
    indicator: 'Indicator',
    before: 'RecordedFigure',
    after: 'RecordedFigure',
  },
  RecordedFigure: {
    country: 'Country',
    indicator: 'Indicator',
    source: 'Source',
  },
  Subscription: {
    observationsChanged: 'ObservationChanges',
    sourceRefreshed: 'Source',
  },
  ObservationChanges: {
    changes: 'ObservationChange',
  },
  ObservationChange: {
    observation: 'Observation',
    before: 'FormerObservation',
  },
};
