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
  'CountryProfile',
  'ProfileIndicator',
  'Signals',
  'FxRate',
  'CommodityBenchmark',
  'DisasterAlert',
  'Term',
  'Freshness',
  'Health',
  'PlatformVersion',
  'Quota',
] as const;
