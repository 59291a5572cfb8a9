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

/** Types without one: parts of what they stand in. */
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
  'PolicyOverview',
  'Policy',
  'TradeOverview',
  'TradeFlow',
  'TradePartner',
  'TradeProduct',
  'Term',
  'ObservationChanges',
  'ObservationChange',
  'Freshness',
  'Health',
  'PlatformVersion',
  'Quota',
] as const;
