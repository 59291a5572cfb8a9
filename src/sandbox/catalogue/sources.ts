import { mix, seedOf } from '../seed.ts';
import { rowsOf } from './table.ts';

/** A body whose figures the service carries, and when its own run fetched them. */
export interface Source {
  readonly key: string;
  readonly name: string;
  readonly cadence: 'daily' | 'weekly' | 'monthly';
  /** True if its rows leave out members without a value, instead of stating null. */
  readonly lean: boolean;
  /** Seconds since 1970 of the last good run: before the morning of 2026-07-24 in every year. */
  readonly refreshedAt: number;
}

const TABLE = `
acled_events|Armed Conflict Location and Event Data|weekly|
afdb_data|African Development Bank, Data Portal|monthly|
afrobarometer_rounds|Afrobarometer, survey rounds|monthly|
bank_al_maghrib_signals|Bank Al-Maghrib, key rates|daily|lean
bank_of_ghana_signals|Bank of Ghana, key rates|daily|lean
bank_of_tanzania_signals|Bank of Tanzania, key rates|daily|lean
bank_of_uganda_signals|Bank of Uganda, key rates|daily|lean
bceao_fx_rates|Central Bank of West African States, exchange rates|daily|lean
beac_fx_rates|Bank of Central African States, exchange rates|daily|lean
cbe_eg_signals|Central Bank of Egypt, key rates|daily|lean
cbk_ke_signals|Central Bank of Kenya, key rates|daily|lean
cbn_ng_signals|Central Bank of Nigeria, key rates|daily|lean
chirps_rainfall|Climate Hazards Center, CHIRPS rainfall|monthly|
commodity_prices_daily|Commodity benchmarks, daily|daily|lean
edgar_emissions|Emissions Database for Global Atmospheric Research|monthly|
ember_electricity|Ember, electricity data|monthly|
era5_climate|Copernicus, ERA5 climate reanalysis|monthly|
exchange_listings|Stock exchanges, listings of the session|daily|lean
fao_aquastat|Food and Agriculture Organization, AQUASTAT|monthly|
fao_faostat|Food and Agriculture Organization, FAOSTAT|monthly|
freedom_house|Freedom House, Freedom in the World|monthly|
fx_usd_daily|Exchange rates against the US dollar, daily|daily|lean
gdacs_alerts|Global Disaster Alert and Coordination System|daily|lean
gsma_intelligence|GSMA Intelligence|monthly|
hdx_hapi|Humanitarian Data Exchange, HAPI|weekly|
iea_balances|International Energy Agency, energy balances|monthly|
iiag_governance|Ibrahim Index of African Governance|monthly|
ilo_ilostat|International Labour Organization, ILOSTAT|monthly|
imf_ifs|International Monetary Fund, financial statistics|weekly|
imf_weo|International Monetary Fund, World Economic Outlook|monthly|
iom_dtm|International Organization for Migration, displacement tracking|weekly|
ipc_food_security|Integrated Food Security Phase Classification|weekly|
ipu_parline|Inter-Parliamentary Union, Parline|monthly|
irena_capacity|International Renewable Energy Agency, capacity statistics|monthly|
itu_datahub|International Telecommunication Union, DataHub|monthly|
jse_listings|JSE, listings of the session|daily|lean
ngx_listings|Nigerian Exchange, listings of the session|daily|lean
policy_documents|Policy documents, national gazettes|weekly|
rsf_press_freedom|Reporters Without Borders, press freedom|monthly|
sarb_za_signals|South African Reserve Bank, key rates|daily|lean
transparency_cpi|Transparency International, Corruption Perceptions Index|monthly|
un_comtrade|United Nations, Comtrade|weekly|
un_habitat|United Nations Human Settlements Programme|monthly|
un_igme|United Nations, child mortality estimates|monthly|
un_wpp|United Nations, World Population Prospects|monthly|
unaids_estimates|UNAIDS, HIV estimates|monthly|
unctad_stat|UN Trade and Development, statistics|monthly|
undp_hdr|United Nations Development Programme, human development|monthly|
unesco_uis|UNESCO Institute for Statistics|monthly|
unhcr_displacement_signals|UN Refugee Agency, displacement|weekly|
unicef_data|UNICEF, data warehouse|monthly|
vdem_institute|Varieties of Democracy|monthly|
wfp_food_prices|World Food Programme, food prices|weekly|
who_gho|World Health Organization, Global Health Observatory|monthly|
wikidata_government|Wikidata, offices and their holders|weekly|
world_bank_findex|World Bank, Global Findex|monthly|
world_bank_ids|World Bank, International Debt Statistics|monthly|
world_bank_wdi|World Bank, World Development Indicators|weekly|
world_bank_wgi|World Bank, Worldwide Governance Indicators|monthly|
`;

const LAST_MORNING = Date.UTC(2026, 6, 24, 3) / 1000;
const DAYS = { daily: 1, weekly: 7, monthly: 30 };

/** The 59 sources, in the order of their keys. */
export const sources: readonly Source[] = rowsOf(['key', 'name', 'cadence', 'lean'], TABLE).map((row) => {
  const cadence = row.cadence as Source['cadence'];
  const seed = seedOf(row.key);
  const refreshedAt = LAST_MORNING + (mix(seed, 1) % 3600) - (mix(seed, 2) % DAYS[cadence]) * 86_400;
  return { key: row.key, name: row.name, cadence, lean: row.lean === 'lean', refreshedAt };
});

/** Sources by key. */
export const sourceByKey: ReadonlyMap<string, Source> = new Map(sources.map((s) => [s.key, s]));

/** Seconds between two runs. */
export function intervalOf(source: Source): number {
  return DAYS[source.cadence] * 86_400;
}

/**
 * An instant as the service writes it: `2026-07-24T03:12:45.123456Z`.
 *
 * @param digits of the fraction of a second: 0 (no fraction), 3 or 6.
 */
export function timestamp(seconds: number, microseconds: number, digits: 0 | 3 | 6): string {
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  return digits === 0 ? `${whole}Z` : `${whole}.${String(microseconds).padStart(6, '0').slice(0, digits)}Z`;
}
