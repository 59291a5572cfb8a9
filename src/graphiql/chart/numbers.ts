const STEPS = [
  [1e12, 'tn'],
  [1e9, 'bn'],
  [1e6, 'm'],
  [1e3, 'k'],
] as const;

/** A number for an axis: `120 bn`, `3.5 m`, `0.25`. Four digits at the most. */
export function shortNumber(value: number): string {
  const [step, name] = STEPS.find(([least]) => Math.abs(value) >= least * 0.99995) ?? [1, ''];
  const digits = (value / step).toLocaleString('en', { maximumSignificantDigits: 4 }).replace(/^-/, '−');
  return name === '' ? digits : `${digits}\u00a0${name}`;
}

/** A number as it is, with its thousands told apart. */
export function fullNumber(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 15 }).replace(/^-/, '−');
}

/** A year, or the quarter or month in it: `2024`, `2024 Q3`, `2024-07`. */
export function timeLabel(at: number, step: number): string {
  const year = Math.floor(at + 1e-6);
  const part = at - year;
  if (step >= 1) return String(Math.round(at));
  if (step >= 0.25) return part < 1e-3 ? String(year) : `${year} Q${Math.round(part * 4) + 1}`;
  return part < 1e-3 ? String(year) : `${year}-${String(Math.round(part * 12) + 1).padStart(2, '0')}`;
}

/** Moments in years to write below an axis: round ones, no more than there is room for. */
export function timeTicks(
  from: number,
  to: number,
  most: number,
  isAnnual: boolean,
): { ticks: number[]; step: number } {
  const steps = isAnnual ? [1, 2, 5, 10, 20, 25, 50] : [1 / 12, 0.25, 0.5, 1, 2, 5, 10, 20, 25, 50];
  const step = steps.find((one) => (to - from) / one <= Math.max(1, most - 1)) ?? 100;
  const ticks: number[] = [];
  for (let i = Math.ceil(from / step - 1e-6); i * step <= to + 1e-6; i += 1) ticks.push(i * step);
  return { ticks: ticks.length > 0 ? ticks : [from], step };
}

/** A range of years in words: `2024`, `1990–2024`; empty if none is known. */
export function yearsOf(figures: readonly { readonly year: number | null }[]): string {
  const years = figures.flatMap(({ year }) => year ?? []);
  if (years.length === 0) return '';
  const first = years.reduce((a, b) => Math.min(a, b));
  const last = years.reduce((a, b) => Math.max(a, b));
  return first === last ? String(first) : `${first}–${last}`;
}
