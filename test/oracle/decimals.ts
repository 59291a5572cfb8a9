/** Enough digits for a number without an exponent, and more than a double holds of a small quotient. */
const PLACES = 60;

const TEN = 10n ** BigInt(PLACES);

/** In units of 10^-60. */
function units(value: number): bigint {
  const [whole = '', fraction = ''] = String(value).split('.');
  return BigInt(whole + fraction.padEnd(PLACES, '0'));
}

const numberOf = (inUnits: bigint) => Number(`${inUnits}e-${PLACES}`);

export const difference = (a: number, b: number) => numberOf(units(a) - units(b));
export const quotient = (a: number, b: number) => numberOf((units(a) * TEN) / units(b));
export const growth = (a: number, b: number) => numberOf(((units(a) - units(b)) * 100n * TEN) / units(b));
