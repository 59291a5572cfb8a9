import { type Job, timeSliced } from '../async/yielding.ts';

/** Items of a long list that are written in one step. */
const BLOCK_ITEMS = 64;

/** Items beyond which a list is long. */
const MAX_ITEMS = 2_000;

/** JSON of plain data; a long list is written in steps, so that others have their turns. */
export function stringify(value: unknown, job: Job = { flow: '' }): string | Promise<string> {
  if (!isLong(value)) return JSON.stringify(value);
  return timeSliced(job, pieces(value)) as string | Promise<string>;
}

/** Whether there is a long list, in objects and first items as far down as they go. */
function isLong(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length > MAX_ITEMS || isLong(value[0]);
  for (const key in value) if (isLong((value as Record<string, unknown>)[key])) return true;
  return false;
}

/** JSON, written in steps where there is a long list; undefined where the value has none, as by `JSON.stringify`. */
export function* pieces(value: unknown): Generator<void, string | undefined> {
  if (!isLong(value)) return JSON.stringify(value);
  const texts: string[] = [];
  if (Array.isArray(value)) {
    const isOfLists = isLong(value[0]);
    for (let start = 0; start < value.length; start += isOfLists ? 1 : BLOCK_ITEMS) {
      const block = value.slice(start, start + BLOCK_ITEMS);
      texts.push(isOfLists ? ((yield* pieces(value[start])) ?? 'null') : JSON.stringify(block).slice(1, -1));
      yield;
    }
    return `[${texts.join(',')}]`;
  }
  for (const [key, member] of Object.entries(value as object)) {
    const text = yield* pieces(member);
    if (text !== undefined) texts.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${texts.join(',')}}`;
}
