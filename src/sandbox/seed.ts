/**
 * Numbers out of names. The sandbox draws nothing at random: the same name gives the same number in every
 * process and in every year, so that a figure seen in a test today is the figure seen in a year.
 */

/** 32 bits that depend on the name alone (FNV-1a, then mixed so that near names lie far apart). */
export function seedOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return mix(hash, 0);
}

/** The `n`th number under a seed, 32 bits unsigned. */
export function mix(seed: number, n: number): number {
  let x = (seed + Math.imul(n | 0, 0x9e3779b1)) | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** The `n`th number under a seed, in [0, 1). */
export function fraction(seed: number, n: number): number {
  return mix(seed, n) / 2 ** 32;
}

/** A curve through [-1, 1] that turns about once for every unit of `x`, without steps. */
export function wave(seed: number, x: number): number {
  const left = Math.floor(x);
  const t = x - left;
  const ease = t * t * (3 - 2 * t);
  const from = fraction(seed, left);
  return 2 * (from + (fraction(seed, left + 1) - from) * ease) - 1;
}

/** One of `choices`, by seed. */
export function pick<T>(choices: readonly T[], seed: number, n = 0): T {
  return choices[mix(seed, n) % choices.length] as T;
}
