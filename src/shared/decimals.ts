/** What numbers are computed by: their decimal digits, in place of the binary fractions nearest to these. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** Integers up to it stay exact when they are subtracted and taken times 100. */
const MAX_EXACT = 2 ** 45;
const MAX_SCALE = 1e9;

/** More than a double holds, so that a quotient is rounded once. */
const QUOTIENT_DIGITS = 40;

/** Two numbers as integers over a power of ten, which is how most figures can be written; otherwise null. */
function integersOf(a: number, b: number): readonly [a: number, b: number, scale: number] | null {
  for (let scale = 1; scale <= MAX_SCALE; scale *= 10) {
    const [first, second] = [Math.round(a * scale), Math.round(b * scale)];
    if (Math.abs(first) > MAX_EXACT || Math.abs(second) > MAX_EXACT) return null;
    if (first / scale === a && second / scale === b) return [first, second, scale];
  }
  return null;
}

function decimalOf(value: number): Decimal {
  const [, whole = '0', fraction = '', exponent = '0'] =
    /^(-?\d+)(?:\.(\d+))?(?:e(.+))?$/.exec(String(value)) ?? [];
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** The same for all other numbers. */
function digitsOf(a: number, b: number): readonly [a: bigint, b: bigint, exponent: number] {
  const [first, second] = [decimalOf(a), decimalOf(b)];
  const exponent = Math.min(first.exponent, second.exponent);
  const digitsAt = ({ digits, exponent: own }: Decimal) => digits * 10n ** BigInt(own - exponent);
  return [digitsAt(first), digitsAt(second), exponent];
}

function ratio(dividend: bigint, divisor: bigint): number {
  const shift = Math.max(0, QUOTIENT_DIGITS + String(divisor).length - String(dividend).length);
  return Number(`${(dividend * 10n ** BigInt(shift)) / divisor}e-${shift}`);
}

/** 727.46 − 693.09 is 34.37, and not 34.370000000000005. Infinite beyond what a number holds. */
export function differenceOf(a: number, b: number): number {
  const integers = integersOf(a, b);
  if (integers !== null) return (integers[0] - integers[1]) / integers[2];
  const [first, second, exponent] = digitsOf(a, b);
  return Number(`${first - second}e${exponent}`);
}

/** A quotient, rounded once, to the nearest number of double precision. */
export function quotientOf(dividend: number, divisor: number): number {
  const integers = integersOf(dividend, divisor);
  if (integers !== null) return integers[0] / integers[1];
  const [first, second] = digitsOf(dividend, divisor);
  return ratio(first, second);
}

/** A number in percent of a base, rounded in the same way. */
export function percentOf(value: number, base: number): number {
  const integers = integersOf(value, base);
  if (integers !== null) return (integers[0] * 100) / integers[1];
  const [first, second] = digitsOf(value, base);
  return ratio(first * 100n, second);
}

/** By how many percent of a base a number is above it, rounded in the same way. */
export function percentAbove(value: number, base: number): number {
  const integers = integersOf(value, base);
  if (integers !== null) return ((integers[0] - integers[1]) * 100) / integers[1];
  const [first, second] = digitsOf(value, base);
  return ratio((first - second) * 100n, second);
}
