/** The numbers of ISO 3166-1, which maps are keyed by, for the codes that the graph is keyed by. */
export const COUNTRY_NUMBERS: Readonly<Record<string, string>> = {
  AO: '024',
  BF: '854',
  BI: '108',
  BJ: '204',
  BW: '072',
  CD: '180',
  CF: '140',
  CG: '178',
  CI: '384',
  CM: '120',
  CV: '132',
  DJ: '262',
  DZ: '012',
  EG: '818',
  ER: '232',
  ET: '231',
  GA: '266',
  GH: '288',
  GM: '270',
  GN: '324',
  GQ: '226',
  GW: '624',
  KE: '404',
  KM: '174',
  LR: '430',
  LS: '426',
  LY: '434',
  MA: '504',
  MG: '450',
  ML: '466',
  MR: '478',
  MU: '480',
  MW: '454',
  MZ: '508',
  NA: '516',
  NE: '562',
  NG: '566',
  RW: '646',
  SC: '690',
  SD: '729',
  SL: '694',
  SN: '686',
  SO: '706',
  SS: '728',
  ST: '678',
  SZ: '748',
  TD: '148',
  TG: '768',
  TN: '788',
  TZ: '834',
  UG: '800',
  ZA: '710',
  ZM: '894',
  ZW: '716',
};

/** Names that differ from ours. */
const FURTHER_NAMES: Readonly<Record<string, string>> = {
  'cape verde': 'CV',
  'congo kinshasa': 'CD',
  'democratic republic of the congo': 'CD',
  'congo dem rep': 'CD',
  'congo brazzaville': 'CG',
  'republic of the congo': 'CG',
  'congo rep': 'CG',
  'ivory coast': 'CI',
  'egypt arab rep': 'EG',
  swaziland: 'SZ',
  'the gambia': 'GM',
  'gambia the': 'GM',
};

const plain = (name: string) =>
  name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace('&', 'and')
    .replace(/[^a-z]+/g, ' ')
    .trim();

/** Names of the service that browsers and Node have others for: a country has one name in all pictures, pages and titles. */
const OWN_NAMES: Readonly<Record<string, string>> = {
  CD: 'DR Congo',
  CG: 'Congo',
  CI: "Côte d'Ivoire",
  CV: 'Cabo Verde',
  ST: 'São Tomé and Príncipe',
};

const names = new Intl.DisplayNames('en', { type: 'region' });
const nameFor = (code: string) => OWN_NAMES[code] ?? names.of(code);
const codes = new Map([
  ...Object.keys(COUNTRY_NUMBERS).map((code) => [plain(nameFor(code) ?? code), code] as const),
  ...Object.entries(FURTHER_NAMES),
]);

/** Code of a country by its name in English; undefined if no country is called so. */
export function codeOf(name: string): string | undefined {
  return codes.get(plain(name));
}

/** A part of the continent that the service has no figures of. */
const NOT_COVERED = 'EH';

/** Name in English; undefined if the code is none of the continent's. */
export function nameOf(code: string): string | undefined {
  return code in COUNTRY_NUMBERS || code === NOT_COVERED ? nameFor(code) : undefined;
}
