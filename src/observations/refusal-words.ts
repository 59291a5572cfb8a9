import type { Refusal } from './data-calls.ts';
import type { Pair, Rectangle } from './planner/demand.ts';
import type { Learned } from './planner/learned.ts';

interface MeantPairs {
  /** Names among those of the message that the service has never answered. */
  readonly unknown: readonly string[];
  readonly has: (pair: Pair) => boolean;
}

/**
 * The pairs that the service's message singles out, by names in quotes or after a colon, and those of the names that it
 * has never answered. Null if the message names none of the call's names, or all of them.
 */
export function meantBy(
  { failure, detail }: Refusal,
  { countryCodes, metricKeys }: Rectangle,
  { answered }: Learned,
): MeantPairs | null {
  const quoted = detail.matchAll(/:\s*([\w.,\s-]+)|["'`]([^"'`]+)["'`]/g);
  const namedText = Array.from(quoted, ([, list, name]) => list ?? name).join(' ');
  const words = new Set(namedText.toLowerCase().split(/[^\w.-]+/));
  const all = [...countryCodes, ...metricKeys];
  const named = all.filter((name) => words.has(name.toLowerCase()));
  if (named.length === 0 || named.length === all.length) return null;
  const unknown = named.filter((name) => !answered.countries.has(name) && !answered.metrics.has(name));
  if (unknown.length === 0 && failure !== null) return null;
  const isAmong = (names: readonly string[], name: string) =>
    named.includes(name) || !names.some((one) => named.includes(one));
  const has = ({ countryCode, metricKey }: Pair) =>
    unknown.length > 0
      ? unknown.includes(countryCode) || unknown.includes(metricKey)
      : isAmong(countryCodes, countryCode) && isAmong(metricKeys, metricKey);
  return { unknown, has };
}

/** True if a message says that a country or measure doesn't exist, rather than that it has no rows. */
export function saysUnknown(detail: string): boolean {
  const kind = '\\b(countr(y|ies)|metrics?|indicators?|measures?)\\b';
  const none = '\\b(not found|unknown|invalid|no such)\\b';
  return new RegExp(`${kind}[^:]*${none}|${none}[^:]*${kind}`, 'i').test(detail);
}
