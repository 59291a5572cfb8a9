/** The 54 countries that the specification speaks of, as `ALPHA2 ALPHA3`. */
const CODES =
  'AO AGO, BF BFA, BI BDI, BJ BEN, BW BWA, CD COD, CF CAF, CG COG, CI CIV, CM CMR, CV CPV, DJ DJI, DZ DZA, EG EGY, ER ERI, ' +
  'ET ETH, GA GAB, GH GHA, GM GMB, GN GIN, GQ GNQ, GW GNB, KE KEN, KM COM, LR LBR, LS LSO, LY LBY, MA MAR, MG MDG, ML MLI, ' +
  'MR MRT, MU MUS, MW MWI, MZ MOZ, NA NAM, NE NER, NG NGA, RW RWA, SC SYC, SD SDN, SL SLE, SN SEN, SO SOM, SS SSD, ST STP, ' +
  'SZ SWZ, TD TCD, TG TGO, TN TUN, TZ TZA, UG UGA, ZA ZAF, ZM ZMB, ZW ZWE';

export const AFRICA: ReadonlyMap<string, string> = new Map(
  CODES.split(', ').map((pair) => pair.split(' ') as [string, string]),
);

/** Codes that stand for no country anywhere. */
export const INVENTED = ['XA', 'XB', 'XC', 'XD', 'QM', 'QN', 'QO', 'QP'];

export const METRICS = [
  'population_total',
  'gdp_current_usd',
  'life_expectancy',
  'policy_rate_pct',
  'inflation_cpi_latest_yoy_pct',
  'idps_total',
  'mobile_subscriptions_per_100',
  'rainfall_mm',
  'maize_yield_t_per_ha',
  'school_enrolment_pct',
  'road_length_km',
  'forest_area_pct',
  'exports_goods_usd',
  'electricity_access_pct',
  'stateless_total',
  'infant_mortality_per_1000',
  'internet_users_pct',
  'tax_revenue_pct_gdp',
];

export const SOURCES = [
  'world_bank_wdi',
  'unhcr_displacement_signals',
  'cbk_ke_signals',
  'fx_usd_daily',
  'who_gho',
  'fao_stat',
  'ilo_stat',
];
export const CATEGORIES = ['demographics', 'economy', 'health', 'climate'];
export const EXCHANGES = ['NGX', 'JSE', 'CSE', 'RSE'];
export const INSTRUMENTS = ['EQUITY', 'INDEX', 'BOND', 'ETP'];
/** Names that no service of this test knows. */
export const UNKNOWN_METRICS = ['no_such_metric', 'median_income_usd', 'zz_top'];
export const UNKNOWN_COUNTRIES = ['ZZ', 'YY', 'XX'];
