/** A row of `/v1/data` with all members that the service sends. */
export const SENT_ROW = {
  country_code: 'ke',
  country_name: 'Kenya',
  metric_key: 'population_total',
  metric_name: 'Population, total',
  year: 2024,
  period: '2024',
  as_of_period: '2024-07-01',
  location_name: 'Nairobi',
  value: 55_339_003,
  unit: 'persons',
  source: 'world_bank_wdi',
  value_status: 'estimate',
  estimate_low: 55_000_000,
  estimate_high: 56_000_000.5,
  dataset_version: '2025-10',
  retrieved_at: '2026-01-02T03:04:05.678901Z',
};
