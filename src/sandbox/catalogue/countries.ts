import { currencies } from './currencies.ts';
import { rowsOf, wordsOf } from './table.ts';

export interface Named {
  readonly code: string;
  readonly name: string;
}

/**
 * The reference record of a country as `/v1/countries` sends it. Only `id` (ISO alpha-2, lower case) and `name`
 * are in every record; a few countries lack some of the others, or state them as null.
 */
export interface CountryRecord {
  id: string;
  name: string;
  iso3?: string;
  official_name?: string | null;
  capital?: string | null;
  region?: string;
  subregion?: string | null;
  /** Square kilometres. */
  area_km2?: number | null;
  timezone?: string | null;
  calling_code?: string | null;
  flag?: string | null;
  coordinates?: { latitude: number; longitude: number } | null;
  /** Neighbours by lower-case alpha-2 code. */
  borders?: string[];
  /** Bare strings for a few countries, code and name for the others. */
  currencies?: (string | Named)[];
  languages?: (string | Named)[];
}

/** A country and the scale of its synthetic figures. */
export interface Country {
  /** ISO alpha-2, lower case. */
  readonly code: string;
  readonly name: string;
  readonly capital: string;
  readonly region: string;
  readonly landlocked: boolean;
  readonly currency: string;
  /** About the persons of 2025. */
  readonly population: number;
  /** About the gross domestic product per head of 2025, US dollars. */
  readonly income: number;
  readonly record: CountryRecord;
}

const LANGUAGES: Record<string, string> = {
  af: 'Afrikaans',
  am: 'Amharic',
  ar: 'Arabic',
  ber: 'Tamazight',
  en: 'English',
  es: 'Spanish',
  fr: 'French',
  ln: 'Lingala',
  mg: 'Malagasy',
  nd: 'Northern Ndebele',
  ny: 'Chichewa',
  om: 'Oromo',
  pt: 'Portuguese',
  rn: 'Kirundi',
  rw: 'Kinyarwanda',
  sg: 'Sango',
  sn: 'Shona',
  so: 'Somali',
  ss: 'Swati',
  st: 'Southern Sotho',
  sw: 'Swahili',
  ti: 'Tigrinya',
  tn: 'Tswana',
  xh: 'Xhosa',
  zdj: 'Comorian',
  zu: 'Zulu',
};

const COLUMNS = [
  'code',
  'iso3',
  'name',
  'official',
  'capital',
  'region',
  'subregion',
  'area',
  'timezone',
  'calling',
  'latitude',
  'longitude',
  'borders',
  'currencies',
  'languages',
  'population',
  'income',
] as const;

// Population in thousands, income in US dollars a head: rounded, since only the scale of invented figures needs them.
const TABLE = `
AO|AGO|Angola|Republic of Angola|Luanda|Central Africa|Middle Africa|1246700|Africa/Luanda|+244|-12.5|18.5|CD CG NA ZM|AOA|pt|39000|2700
BF|BFA|Burkina Faso|Burkina Faso|Ouagadougou|West Africa|Western Africa|274222|Africa/Ouagadougou|+226|13|-2|BJ CI GH ML NE TG|XOF|fr|24100|960
BI|BDI|Burundi|Republic of Burundi|Gitega|East Africa|Eastern Africa|27834|Africa/Bujumbura|+257|-3.5|30|CD RW TZ|BIF|rn fr en|14400|250
BJ|BEN|Benin|Republic of Benin|Porto-Novo|West Africa|Western Africa|114763|Africa/Porto-Novo|+229|9.5|2.25|BF NE NG TG|XOF|fr|14800|1480
BW|BWA|Botswana|Republic of Botswana|Gaborone|Southern Africa|Southern Africa|581730|Africa/Gaborone|+267|-22|24|NA ZA ZM ZW|BWP|en tn|2560|7600
CD|COD|DR Congo|Democratic Republic of the Congo|Kinshasa|Central Africa|Middle Africa|2344858|Africa/Kinshasa|+243|0|25|AO BI CF CG RW SS TZ UG ZM|CDF|fr ln sw|112800|650
CF|CAF|Central African Republic|Central African Republic|Bangui|Central Africa|Middle Africa|622984|Africa/Bangui|+236|7|21|CD CG CM SD SS TD|XAF|fr sg|5500|500
CG|COG|Congo|Republic of the Congo|Brazzaville|Central Africa|Middle Africa|342000|Africa/Brazzaville|+242|-1|15|AO CD CF CM GA|XAF|fr ln|6500|2450
CI|CIV|Côte d'Ivoire|Republic of Côte d'Ivoire|Yamoussoukro|West Africa|Western Africa|322463|Africa/Abidjan|+225|8|-5|BF GH GN LR ML|XOF|fr|32700|2700
CM|CMR|Cameroon|Republic of Cameroon|Yaoundé|Central Africa|Middle Africa|475442|Africa/Douala|+237|6|12|CF CG GA GQ NG TD|XAF|fr en|29900|1750
CV|CPV|Cabo Verde|Republic of Cabo Verde|Praia|West Africa|Western Africa|4033|Atlantic/Cape_Verde|+238|16|-24||CVE|pt|527|5100
DJ|DJI|Djibouti|Republic of Djibouti|Djibouti|East Africa|Eastern Africa|23200|Africa/Djibouti|+253|11.5|43|ER ET SO|DJF|ar fr|1180|3500
DZ|DZA|Algeria|People's Democratic Republic of Algeria|Algiers|North Africa|Northern Africa|2381741|Africa/Algiers|+213|28|3|LY MA ML MR NE TN|DZD|ar ber|47400|5500
EG|EGY|Egypt|Arab Republic of Egypt|Cairo|North Africa|Northern Africa|1002450|Africa/Cairo|+20|27|30|LY SD|EGP|ar|118400|3200
ER|ERI|Eritrea|State of Eritrea|Asmara|East Africa|Eastern Africa|117600|Africa/Asmara|+291|15|39|DJ ET SD|ERN|Tigrinya Arabic English|3600|700
ET|ETH|Ethiopia|Federal Democratic Republic of Ethiopia|Addis Ababa|East Africa|Eastern Africa|1104300|Africa/Addis_Ababa|+251|8|38|DJ ER KE SD SO SS|ETB|am om|135500|1100
GA|GAB|Gabon|Gabonese Republic|Libreville|Central Africa|Middle Africa|267668|Africa/Libreville|+241|-1|11.75|CG CM GQ|XAF|fr|2590|8400
GH|GHA|Ghana|Republic of Ghana|Accra|West Africa|Western Africa|238533|Africa/Accra|+233|8|-2|BF CI TG|GHS|en|35100|2500
GM|GMB|Gambia|Republic of the Gambia|Banjul|West Africa|Western Africa|10689|Africa/Banjul|+220|13.5|-16.5|SN|GMD|en|2820|900
GN|GIN|Guinea|Republic of Guinea|Conakry|West Africa|Western Africa|245857|Africa/Conakry|+224|11|-10|CI GW LR ML SL SN|GNF|fr|15100|1700
GQ|GNQ|Equatorial Guinea|Republic of Equatorial Guinea|Malabo|Central Africa|Middle Africa|28051|Africa/Malabo|+240|2|10|CM GA|XAF|es fr pt|1940|6700
GW|GNB|Guinea-Bissau|Republic of Guinea-Bissau|Bissau|West Africa|Western Africa|36125|Africa/Bissau|+245|12|-15|GN SN|XOF|pt|2250|1000
KE|KEN|Kenya|Republic of Kenya|Nairobi|East Africa|Eastern Africa|580367|Africa/Nairobi|+254|1|38|ET SO SS TZ UG|KES|en sw|57500|2200
KM|COM|Comoros|Union of the Comoros|Moroni|East Africa|Eastern Africa|1862|Indian/Comoro|+269|-12.17|44.25||KMF|ar fr zdj|883|1700
LR|LBR|Liberia|Republic of Liberia|Monrovia|West Africa|Western Africa|111369|Africa/Monrovia|+231|6.5|-9.5|CI GN SL|LRD|en|5730|850
LS|LSO|Lesotho|Kingdom of Lesotho|Maseru|Southern Africa|Southern Africa|30355|Africa/Maseru|+266|-29.5|28.5|ZA|LSL ZAR|en st|2360|1000
LY|LBY|Libya|State of Libya|Tripoli|North Africa|Northern Africa|1759540|Africa/Tripoli|+218|25|17|DZ EG NE SD TD TN|LYD|ar|7460|6500
MA|MAR|Morocco|Kingdom of Morocco|Rabat|North Africa|Northern Africa|446550|Africa/Casablanca|+212|32|-5|DZ|MAD|ar ber|38400|4100
MG|MDG|Madagascar|Republic of Madagascar|Antananarivo|East Africa|Eastern Africa|587041|Indian/Antananarivo|+261|-20|47||MGA|mg fr|32700|550
ML|MLI|Mali|Republic of Mali|Bamako|West Africa|Western Africa|1240192|Africa/Bamako|+223|17|-4|BF CI DZ GN MR NE SN|XOF|fr|25200|1050
MR|MRT|Mauritania|Islamic Republic of Mauritania|Nouakchott|West Africa|Western Africa|1030700|Africa/Nouakchott|+222|20|-12|DZ ML SN|MRU|ar|5320|2150
MU|MUS|Mauritius|Republic of Mauritius|Port Louis|East Africa|Eastern Africa|2040|Indian/Mauritius|+230|-20.28|57.55||MUR|en fr|1270|12300
MW|MWI|Malawi|Republic of Malawi|Lilongwe|East Africa|Eastern Africa|118484|Africa/Blantyre|+265|-13.5|34|MZ TZ ZM|MWK|en ny|22200|520
MZ|MOZ|Mozambique|Republic of Mozambique|Maputo|East Africa|Eastern Africa|801590|Africa/Maputo|+258|-18.25|35|MW SZ TZ ZA ZM ZW|MZN|pt|35600|650
NA|NAM|Namibia|Republic of Namibia|Windhoek|Southern Africa|Southern Africa|825615|Africa/Windhoek|+264|-22|17|AO BW ZA ZM|NAD ZAR|en af|3090|4400
NE|NER|Niger|Republic of Niger|Niamey|West Africa|Western Africa|1267000|Africa/Niamey|+227|16|8|BF BJ DZ LY ML NG TD|XOF|fr|27900|700
NG|NGA|Nigeria|Federal Republic of Nigeria|Abuja|West Africa|Western Africa|923768|Africa/Lagos|+234|10|8|BJ CM NE TD|NGN|en|237500|1050
RW|RWA|Rwanda|Republic of Rwanda|Kigali|East Africa|Eastern Africa|26338|Africa/Kigali|+250|-2|30|BI CD TZ UG|RWF|rw en fr sw|14600|1030
SC|SYC|Seychelles|Republic of Seychelles|Victoria|East Africa|Eastern Africa|452|Indian/Mahe|+248|-4.58|55.67||SCR|en fr|133|17500
SD|SDN|Sudan|Republic of the Sudan|Khartoum|North Africa|Northern Africa|1861484|Africa/Khartoum|+249|15|30|CF EG ER ET LY SS TD|SDG|ar en|51700|700
SL|SLE|Sierra Leone|Republic of Sierra Leone|Freetown|West Africa|Western Africa|71740|Africa/Freetown|+232|8.5|-11.5|GN LR|SLE|en|8820|850
SN|SEN|Senegal|Republic of Senegal|Dakar|West Africa|Western Africa|196722|Africa/Dakar|+221|14|-14|GM GN GW ML MR|XOF|fr|18900|1750
SO|SOM|Somalia|Federal Republic of Somalia|Mogadishu|East Africa|Eastern Africa|637657|Africa/Mogadishu|+252|10|49|DJ ET KE|SOS|so ar|19700|640
SS|SSD|South Sudan|Republic of South Sudan|Juba|East Africa|Eastern Africa|619745|Africa/Juba|+211|7|30|CD CF ET KE SD UG|SSP|English|12200|450
ST|STP|São Tomé and Príncipe|Democratic Republic of São Tomé and Príncipe|São Tomé|Central Africa|Middle Africa|964|Africa/Sao_Tome|+239|1|7||STN|pt|240|3200
SZ|SWZ|Eswatini|Kingdom of Eswatini|Mbabane|Southern Africa|Southern Africa|17364|Africa/Mbabane|+268|-26.5|31.5|MZ ZA|SZL ZAR|en ss|1260|4000
TD|TCD|Chad|Republic of Chad|N'Djamena|Central Africa|Middle Africa|1284000|Africa/Ndjamena|+235|15|19|CF CM LY NE NG SD|XAF|fr ar|21000|950
TG|TGO|Togo|Togolese Republic|Lomé|West Africa|Western Africa|56785|Africa/Lome|+228|8|1.17|BF BJ GH|XOF|fr|9720|1050
TN|TUN|Tunisia|Republic of Tunisia|Tunis|North Africa|Northern Africa|163610|Africa/Tunis|+216|34|9|DZ LY|TND|ar|12350|4350
TZ|TZA|Tanzania|United Republic of Tanzania|Dodoma|East Africa|Eastern Africa|945087|Africa/Dar_es_Salaam|+255|-6|35|BI CD KE MW MZ RW UG ZM|TZS|sw en|70500|1200
UG|UGA|Uganda|Republic of Uganda|Kampala|East Africa|Eastern Africa|241550|Africa/Kampala|+256|1|32|CD KE RW SS TZ|UGX|en sw|51400|1150
ZA|ZAF|South Africa|Republic of South Africa|Pretoria|Southern Africa|Southern Africa|1221037|Africa/Johannesburg|+27|-29|24|BW LS MZ NA SZ ZW|ZAR|af en st tn xh zu|64700|6300
ZM|ZMB|Zambia|Republic of Zambia|Lusaka|East Africa|Eastern Africa|752618|Africa/Lusaka|+260|-15|30|AO BW CD MW MZ NA TZ ZW|ZMW|en ny|21900|1250
ZW|ZWE|Zimbabwe|Republic of Zimbabwe|Harare|East Africa|Eastern Africa|390757|Africa/Harare|+263|-20|30|BW MZ ZA ZM|ZWG|en sn nd|17000|2600
`;

// The sea or a port of their own is all that the catch of fish needs to know.
const LANDLOCKED = new Set(wordsOf('BF BI BW CF ET LS ML MW NE RW SS SZ TD UG ZM ZW'));

/** Members that a few records leave out (undefined) or state as null, as live records do. */
const HOLES: Record<string, Partial<Record<keyof CountryRecord, null | undefined>>> = {
  bi: { flag: null },
  er: { coordinates: undefined, timezone: null },
  km: { borders: undefined, official_name: null },
  ly: { area_km2: null, calling_code: undefined },
  so: { capital: null, languages: undefined },
  ss: { iso3: undefined, subregion: null, coordinates: null },
  st: { flag: undefined, official_name: undefined, currencies: undefined },
};

function flagOf(code: string): string {
  return String.fromCodePoint(...[...code].map((letter) => 0x1f1e6 + letter.charCodeAt(0) - 65));
}

/** The 54 countries, in the order of their codes. */
export const countries: readonly Country[] = rowsOf(COLUMNS, TABLE).map((row) => {
  const code = row.code.toLowerCase();
  const record: CountryRecord = {
    id: code,
    iso3: row.iso3,
    name: row.name,
    official_name: row.official,
    capital: row.capital,
    region: row.region,
    subregion: row.subregion,
    area_km2: Number(row.area),
    timezone: row.timezone,
    calling_code: row.calling,
    flag: flagOf(row.code),
    coordinates: { latitude: Number(row.latitude), longitude: Number(row.longitude) },
    borders: wordsOf(row.borders.toLowerCase()),
    currencies: wordsOf(row.currencies).map((key) => ({ code: key, name: currencies.get(key)?.name ?? key })),
    languages: wordsOf(row.languages).map((key) => {
      const name = LANGUAGES[key];
      return name === undefined ? key : { code: key, name };
    }),
    ...(HOLES[code] as unknown as Partial<CountryRecord> | undefined),
  };
  return {
    code,
    name: row.name,
    capital: row.capital,
    region: row.region,
    landlocked: LANDLOCKED.has(row.code),
    currency: wordsOf(row.currencies)[0] as string,
    population: Number(row.population) * 1000,
    income: Number(row.income),
    record,
  };
});

/** Countries by lower-case alpha-2 code. */
export const countryByCode: ReadonlyMap<string, Country> = new Map(countries.map((c) => [c.code, c]));
