import { rowsOf } from './table.ts';

/** A currency and about how much of it one US dollar bought in 2025: the scale of synthetic rates, no quotation. */
export interface Currency {
  readonly code: string;
  readonly name: string;
  readonly perDollar: number;
}

const TABLE = `
AOA|Angolan kwanza|910
BIF|Burundian franc|2930
BWP|Botswana pula|13.6
CDF|Congolese franc|2850
CVE|Cape Verdean escudo|101
DJF|Djiboutian franc|177.7
DZD|Algerian dinar|132
EGP|Egyptian pound|50
ERN|Eritrean nakfa|15
ETB|Ethiopian birr|132
GHS|Ghanaian cedi|12.4
GMD|Gambian dalasi|71
GNF|Guinean franc|8650
KES|Kenyan shilling|129
KMF|Comorian franc|440
LRD|Liberian dollar|195
LSL|Lesotho loti|18
LYD|Libyan dinar|5.2
MAD|Moroccan dirham|9.4
MGA|Malagasy ariary|4550
MRU|Mauritanian ouguiya|39.8
MUR|Mauritian rupee|45.8
MWK|Malawian kwacha|1735
MZN|Mozambican metical|63.9
NAD|Namibian dollar|18
NGN|Nigerian naira|1540
RWF|Rwandan franc|1430
SCR|Seychellois rupee|14.4
SDG|Sudanese pound|600
SLE|Sierra Leonean leone|22.7
SOS|Somali shilling|571
SSP|South Sudanese pound|4500
STN|São Tomé and Príncipe dobra|21.6
SZL|Swazi lilangeni|18
TND|Tunisian dinar|2.95
TZS|Tanzanian shilling|2600
UGX|Ugandan shilling|3620
XAF|Central African CFA franc|580
XOF|West African CFA franc|580
ZAR|South African rand|18
ZMW|Zambian kwacha|25
ZWG|Zimbabwe gold|26.8
`;

/** Currencies of the 54 countries by ISO 4217 code. */
export const currencies: ReadonlyMap<string, Currency> = new Map(
  rowsOf(['code', 'name', 'perDollar'], TABLE).map((row) => [
    row.code,
    { ...row, perDollar: Number(row.perDollar) },
  ]),
);
