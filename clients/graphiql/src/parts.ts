import { meros } from 'meros/browser';
import { type Answer, type Arrival, cutOff, type GraphError } from './answer.ts';
import { isObject, type JsonObject } from './chart/document.ts';

/*
 * Answers in parts, as the draft of 2022-08-24 has them. Loaded with the first one that comes so.
 */

type Path = readonly (string | number)[];

/** A part that has come late: fields of an object. */
interface Piece {
  readonly path: Path;
  /** Null if they are lost. */
  readonly data?: JsonObject | null;
  readonly errors?: readonly GraphError[];
}

export interface Part extends Answer {
  readonly incremental?: readonly Piece[];
  readonly hasNext?: boolean;
}

/** An answer as it grows, each time a part of it has come. */
export async function* arrivalsIn(response: Response, signal?: AbortSignal): AsyncGenerator<Arrival> {
  let answer: Answer = {};
  let parts = 0;
  try {
    // Stops at several at once, as `multiple` has them: they come once more if an answer is cut.
    for await (const { json, body } of (await meros<Part>(response)) as AsyncIterable<MerosPart>) {
      if (!json) break;
      answer = grownBy(answer, body);
      parts += 1;
      const isLast = body.hasNext === false;
      yield { answer, parts, isLast, length: null };
      if (isLast) return;
    }
  } catch (error) {
    if (signal?.aborted === true) throw error;
  }
  const errors = [...(answer.errors ?? []), ...cutOff().errors];
  yield { answer: { ...answer, errors }, parts, isLast: true, length: null };
}

type MerosPart =
  | { readonly json: true; readonly body: Part }
  | { readonly json: false; readonly body: string };

/** An answer with the additions of a part; objects that somebody may hold are left as they are. */
export function grownBy(answer: Answer, { incremental = [], data, errors = [], extensions }: Part): Answer {
  const begun = data === undefined ? answer.data : data;
  const all = [...(answer.errors ?? []), ...errors, ...incremental.flatMap((piece) => piece.errors ?? [])];
  return {
    ...answer,
    ...(begun === undefined
      ? {}
      : { data: incremental.reduce<unknown>((grown, piece) => grownAt(grown, piece.path, piece), begun) }),
    ...(all.length === 0 ? {} : { errors: all }),
    ...(extensions === undefined ? {} : { extensions: { ...answer.extensions, ...extensions } }),
  };
}

function grownAt(value: unknown, [step, ...rest]: Path, piece: Piece): unknown {
  if (step === undefined) return piece.data == null ? value : merged(value, piece.data);
  if (Array.isArray(value) && typeof step === 'number')
    return value.with(step, grownAt(value[step], rest, piece));
  return isObject(value) ? { ...value, [step]: grownAt(value[step], rest, piece) } : value;
}

function merged(existing: unknown, more: unknown): unknown {
  if (Array.isArray(existing) && Array.isArray(more))
    return more.map((item, index) => merged(existing[index], item));
  if (!isObject(existing) || !isObject(more)) return more;
  const added = Object.entries(more).map(([key, value]) => [key, merged(existing[key], value)]);
  return { ...existing, ...Object.fromEntries(added) };
}
