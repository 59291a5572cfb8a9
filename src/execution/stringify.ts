import { mapValue, type PromiseOrValue } from '../async/promise-or-value.ts';
import type { Steps } from '../async/steps.ts';
import { type Job, timeSliced } from '../async/yielding.ts';
import { PieceWriter, type TextPieces } from './text-pieces.ts';

/** Items that are written in one step, with those of the lists in them. */
const STEP_ITEMS = 64;

/** Items beyond which a value is written in steps. */
const MAX_ITEMS = 4 * STEP_ITEMS;

/** JSON of plain data. Long data is written in steps, so that others have their turns. */
export function stringify(value: unknown, job: Job = { flow: '' }): PromiseOrValue<TextPieces> {
  if (!isLong(value)) return [JSON.stringify(value)];
  const text = new PieceWriter();
  return mapValue(timeSliced(job, writeJson(value, text)), () => text.pieces());
}

/** Writes JSON, in steps if there are many items; nothing if a value has none. */
export function* writeJson(value: unknown, text: PieceWriter): Steps<void> {
  if (!isLong(value)) {
    const short: string | undefined = JSON.stringify(value);
    if (short !== undefined) text.add(short);
  } else if (Array.isArray(value)) {
    const ofFirst = itemsIn(value[0]);
    text.add('[');
    for (let start = 0, end = 0; start < value.length; start = end) {
      if (start > 0) text.add(',');
      end = Math.min(value.length, start + Math.ceil(STEP_ITEMS / (1 + ofFirst)));
      if (end - start > 1) text.add(JSON.stringify(value.slice(start, end)).slice(1, -1));
      else if (hasJson(value[start])) yield* writeJson(value[start], text);
      else text.add('null');
      yield;
    }
    text.add(']');
  } else {
    let before = '{';
    for (const [key, member] of Object.entries(value as object)) {
      if (!hasJson(member)) continue;
      text.add(`${before}${JSON.stringify(key)}:`);
      yield* writeJson(member, text);
      before = ',';
    }
    text.add('}');
  }
}

function hasJson(value: unknown): boolean {
  return value !== undefined && typeof value !== 'symbol' && typeof value !== 'function';
}

function isLong(value: unknown): boolean {
  return itemsIn(value) > MAX_ITEMS;
}

/** Items of the lists in a value, roughly: each item of a list is taken to have as many in it as the first one. */
function itemsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.length * (1 + itemsIn(value[0]));
  let items = 0;
  for (const key in value) items += itemsIn((value as Record<string, unknown>)[key]);
  return items;
}
