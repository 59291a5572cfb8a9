/**
 * Finds out which name of a refused call the service refuses: by the service's own words, or by bisecting the names,
 * the least trusted first. Pure: `figures/bisected.ts` decides which calls follow.
 */
import { COVERED_COUNTRIES } from '../service/records/countries.ts';
import type { Rectangle } from './cover.ts';
import type { Learned } from './learned.ts';

/** Degrees of trust in a name, from nothing to proof. */
export const TRUST = {
  none: 0,
  /** One of the 54 countries that the service is documented to cover. */
  documented: 1,
  /** The service's own list has it. */
  listed: 2,
  /** A call that named it was answered. */
  answered: 3,
} as const;

/** The names of a refused call that deserve the least trust. */
export interface Suspects {
  /** Trust in each of them. */
  readonly trust: number;
  readonly countryCodes: readonly string[];
  readonly metricKeys: readonly string[];
}

function trustInCountry(code: string, { answered, listed }: Learned): number {
  const known = code.toUpperCase();
  if (answered.countries.has(known)) return TRUST.answered;
  if (listed.countries.has(known)) return TRUST.listed;
  // If the service's own list is known and lacks a country, it means little that the country is documented.
  return listed.countries.size === 0 && COVERED_COUNTRIES.has(known) ? TRUST.documented : TRUST.none;
}

function trustInMetric(key: string, { answered, listed }: Learned): number {
  if (answered.metrics.has(key)) return TRUST.answered;
  return listed.metrics.has(key) ? TRUST.listed : TRUST.none;
}

export function suspectsIn({ countryCodes, metricKeys }: Rectangle, known: Learned): Suspects {
  const trustOfCodes = countryCodes.map((code) => trustInCountry(code, known));
  const trustOfKeys = metricKeys.map((key) => trustInMetric(key, known));
  const trust = Math.min(...trustOfCodes, ...trustOfKeys);
  return {
    trust,
    countryCodes: countryCodes.filter((_, i) => trustOfCodes[i] === trust),
    metricKeys: metricKeys.filter((_, i) => trustOfKeys[i] === trust),
  };
}

/** The least trust in any name of the rectangle but one. */
export function trustBeside(name: string, { countryCodes, metricKeys }: Rectangle, known: Learned): number {
  return Math.min(
    TRUST.answered,
    ...countryCodes.filter((code) => code !== name).map((code) => trustInCountry(code, known)),
    ...metricKeys.filter((key) => key !== name).map((key) => trustInMetric(key, known)),
  );
}

/**
 * The names of a call that the service's words single out: it quotes them or puts them after a colon. Names that it has
 * answered for are not the refused ones, even if it names them.
 */
export function namedIn(detail: string, { countryCodes, metricKeys }: Rectangle, known: Learned): string[] {
  const pointed = [...detail.matchAll(/:\s*([\w.,\s-]+)|["'`]([^"'`]+)["'`]/g)].map(
    (m) => m[1] ?? m[2] ?? '',
  );
  const words = new Set(
    pointed
      .join(' ')
      .toLowerCase()
      .split(/[^\w.-]+/),
  );
  const names = [...countryCodes, ...metricKeys];
  const named = names.filter((name) => words.has(name.toLowerCase()));
  if (named.length === names.length) return [];
  const isAnswered = (name: string) => known.answered.countries.has(name) || known.answered.metrics.has(name);
  return named.filter((name) => !isAnswered(name));
}

/** True if the service's words say that it doesn't know a country or a measure, rather than that it holds no rows. */
export function saysUnknown(detail: string): boolean {
  return /\b(countr(y|ies)|metrics?|indicators?|measures?)\b[^:]*\b(not found|unknown|invalid)|\b(unknown|invalid|no such)\b[^:]*\b(countr(y|ies)|metrics?|indicators?|measures?)\b/i.test(
    detail,
  );
}

/**
 * Two parts of a refused rectangle: half of the suspects stand in the second, all other names in the first. Null if it
 * is a single pair.
 */
export function bisect(
  { countryCodes, metricKeys }: Rectangle,
  suspects: Suspects,
): readonly [Rectangle, Rectangle] | null {
  const byMetric = splitNames(metricKeys, suspects.metricKeys);
  const byCountry = splitNames(countryCodes, suspects.countryCodes);
  const isByMetric = suspects.metricKeys.length >= suspects.countryCodes.length || byCountry === null;
  if (byMetric !== null && isByMetric) {
    return [
      { countryCodes, metricKeys: byMetric[0] },
      { countryCodes, metricKeys: byMetric[1] },
    ];
  }
  if (byCountry === null) return null;
  return [
    { countryCodes: byCountry[0], metricKeys },
    { countryCodes: byCountry[1], metricKeys },
  ];
}

function splitNames(
  names: readonly string[],
  suspects: readonly string[],
): readonly [string[], string[]] | null {
  if (names.length < 2) return null;
  const suspected = suspects.length === 0 ? names : suspects;
  const second = new Set(suspected.slice(Math.floor(suspected.length / 2)));
  const first = names.filter((name) => !second.has(name));
  return first.length === 0 ? null : [first, [...second]];
}
