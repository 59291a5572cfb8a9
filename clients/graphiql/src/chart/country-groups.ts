import { COUNTRY_NUMBERS } from './countries.ts';

/** Countries by region, as the service has them. */
export const REGIONS: readonly (readonly [name: string, codes: readonly string[]])[] = [
  ['North Africa', 'DZ EG LY MA SD TN'],
  ['West Africa', 'BF BJ CI CV GH GM GN GW LR ML MR NE NG SL SN TG'],
  ['Central Africa', 'AO CD CF CG CM GA GQ ST TD'],
  ['East Africa', 'BI DJ ER ET KE KM MG MU MW MZ RW SC SO SS TZ UG ZM ZW'],
  ['Southern Africa', 'BW LS NA SZ ZA'],
].map(([name = '', codes = '']) => [name, codes.split(' ')]);

/** Each border once, below the country whose code comes first. */
const BORDERS =
  'AO CD CG NA ZM|BF BJ CI GH ML NE TG|BI CD RW TZ|BJ NE NG TG|BW NA ZA ZM ZW|CD CF CG RW SS TZ UG ZM|CF CG CM SD SS TD|CG CM GA|CI GH GN LR ML|CM GA GQ NG TD|DJ ER ET SO|DZ LY MA ML MR NE TN|EG LY SD|ER ET SD|ET KE SD SO SS|GA GQ|GH TG|GM SN|GN GW LR ML SL SN|GW SN|KE SO SS TZ UG|LR SL|LS ZA|LY NE SD TD TN|ML MR NE SN|MR SN|MW MZ TZ ZM|MZ SZ TZ ZA ZM ZW|NA ZA ZM|NE NG TD|NG TD|RW TZ UG|SD SS TD|SS UG|SZ ZA|TZ UG ZM|ZA ZW|ZM ZW'
    .split('|')
    .map((codes) => codes.split(' '));

/** Countries that have a border in common with one of some, but for those. */
export function neighboursOf(codes: readonly string[]): readonly string[] {
  const isBetween = (a: string, b: string) =>
    BORDERS.some(([first = '', ...others]) => [a, b].includes(first) && others.includes(first === a ? b : a));
  return Object.keys(COUNTRY_NUMBERS).filter(
    (code) => !codes.includes(code) && codes.some((one) => isBetween(code, one)),
  );
}
