/** ISO 3166-1 codes of the countries that the service covers, by its own definition all 54 of Africa: alpha-2 and alpha-3. */
const CODES =
  'AO AGO BF BFA BI BDI BJ BEN BW BWA CD COD CF CAF CG COG CI CIV CM CMR CV CPV DJ DJI DZ DZA EG EGY ER ERI ET ETH ' +
  'GA GAB GH GHA GM GMB GN GIN GQ GNQ GW GNB KE KEN KM COM LR LBR LS LSO LY LBY MA MAR MG MDG ML MLI MR MRT MU MUS ' +
  'MW MWI MZ MOZ NA NAM NE NER NG NGA RW RWA SC SYC SD SDN SL SLE SN SEN SO SOM SS SSD ST STP SZ SWZ TD TCD TG TGO ' +
  'TN TUN TZ TZA UG UGA ZA ZAF ZM ZMB ZW ZWE';

const ALPHA_2_BY_ALPHA_3: ReadonlyMap<string, string> = new Map(
  Array.from(CODES.matchAll(/(\w{2}) (\w{3})/g), ([, alpha2 = '', alpha3 = '']) => [alpha3, alpha2]),
);

/**
 * The countries that the service covers, in ISO 3166-1 alpha-2. Known without asking, they save calls: nobody need ask
 * whether they exist, nor how long the list of countries is. They never answer anything.
 */
export const COVERED_COUNTRIES: ReadonlySet<string> = new Set(ALPHA_2_BY_ALPHA_3.values());

const ALPHA_2 = /^[a-z]{2}$/i;

/** Returns the alpha-2 code, in upper case, of a code in either form and case; null for any other text. */
export function alpha2Of(code: string): string | null {
  if (ALPHA_2.test(code)) return code.toUpperCase();
  return ALPHA_2_BY_ALPHA_3.get(code.trim().toUpperCase()) ?? null;
}
