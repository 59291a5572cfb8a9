/** Levels that lists and objects may stand in each other. A recursive walk of much deeper ones runs out of stack. */
export const MAX_NESTING = 500;

/**
 * Tells if a value nests deeper than that. It works without closures and lists of keys: each answer is looked at, and
 * most of its values are plain.
 */
export function isDeep(value: unknown, levels = MAX_NESTING): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) {
      const item: unknown = value[i];
      if (typeof item === 'object' && isDeep(item, levels - 1)) return true;
    }
    return false;
  }
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === 'object' && isDeep(item, levels - 1)) return true;
  }
  return false;
}
