import { inTurns } from './turns.ts';

/** Items of a long list that are written in one step. */
const BLOCK_ITEMS = 64;

/** Items beyond which a list is long. */
const MAX_ITEMS = 2_000;

/** JSON of plain data; a long list is written in steps, so that others have their turns. */
export function stringify(value: unknown): string | Promise<string> {
  return isLong(value) ? inTurns(pieces(value)) : JSON.stringify(value);
}

/** Whether there is a long list, as far down as lists of lists are looked into. */
function isLong(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length > MAX_ITEMS || isLong(value[0]);
  for (const key in value) if (isLong((value as Record<string, unknown>)[key])) return true;
  return false;
}

function* pieces(value: unknown): Generator<void, string> {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const texts: string[] = [];
  if (Array.isArray(value)) {
    const isNested = value.length > 0 && isLong(value[0]);
    const step = isNested ? 1 : BLOCK_ITEMS;
    for (let start = 0; start < value.length; start += step) {
      texts.push(
        isNested
          ? yield* pieces(value[start])
          : JSON.stringify(value.slice(start, start + step)).slice(1, -1),
      );
      yield;
    }
    return `[${texts.join(',')}]`;
  }
  for (const [key, member] of Object.entries(value)) {
    texts.push(`${JSON.stringify(key)}:${yield* pieces(member)}`);
  }
  return `{${texts.join(',')}}`;
}
