import type { Rectangle } from './cover.ts';
import type { Learned } from './learned.ts';

/** Names that the service has answered for. */
type Harmless = Pick<Learned, 'harmless'>;

/** The names of a call that the service's words single out: those it quotes or puts after a colon. */
export function namedIn(detail: string, { countryCodes, metricKeys }: Rectangle): string[] {
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
  return named.length === names.length ? [] : named;
}

/** The names of a rectangle that the service has not answered for yet. */
function suspectsIn({ countryCodes, metricKeys }: Rectangle, { harmless }: Harmless) {
  return {
    codes: countryCodes.filter((code) => !harmless.countries.has(code.toUpperCase())),
    keys: metricKeys.filter((key) => !harmless.metrics.has(key.toLowerCase())),
  };
}

/** The one name of a refused rectangle that the service has not answered for, if it is one. */
export function onlySuspectIn(rectangle: Rectangle, learned: Harmless): readonly string[] {
  const { codes, keys } = suspectsIn(rectangle, learned);
  const suspects = [...codes, ...keys];
  return suspects.length === 1 ? suspects : [];
}

/**
 * Two parts of a refused rectangle, so that names the service has answered for stay together and those that may be
 * refused are halved; null where it is a single pair.
 */
export function halve(rectangle: Rectangle, learned: Harmless): readonly [Rectangle, Rectangle] | null {
  const { countryCodes, metricKeys } = rectangle;
  const { codes, keys } = suspectsIn(rectangle, learned);
  const byMetric = splitNames(metricKeys, keys);
  const byCountry = splitNames(countryCodes, codes);
  if (byMetric !== null && (keys.length >= codes.length || byCountry === null)) {
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
  const second = suspected.slice(Math.floor(suspected.length / 2));
  const first = names.filter((name) => !second.includes(name));
  return first.length === 0 ? null : [first, second];
}
