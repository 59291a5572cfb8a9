import { Buffer } from 'node:buffer';
import { Failure } from '../errors.ts';

/** The meaning of a global identifier: a type of the graph and the key of one of its objects. */
export interface GlobalId {
  readonly type: 'Country' | 'Indicator' | 'Observation' | 'Office' | 'Source' | 'Ticker';
  /** Parts of the key, as many as the type has. */
  readonly key: readonly string[];
}

/**
 * The least and the most parts of a key. Parts beyond the least are there only if they are needed to tell two objects
 * apart.
 */
const KEY_PARTS: Readonly<Record<GlobalId['type'], readonly [least: number, most: number]>> = {
  Country: [1, 1],
  Indicator: [1, 1],
  Observation: [7, 9],
  Office: [3, 4],
  Source: [1, 1],
  Ticker: [2, 2],
};

/** Types whose key begins with a country code, which goes into addresses. */
const OF_COUNTRIES: ReadonlySet<GlobalId['type']> = new Set(['Country', 'Observation', 'Office']);

export function encodeId(type: GlobalId['type'], ...key: readonly string[]): string {
  return Buffer.from(JSON.stringify([type, ...key])).toString('base64url');
}

/** @throws Failure BAD_USER_INPUT if the text is no identifier of ours */
export function decodeId(id: string): GlobalId {
  try {
    const [type, ...key] = JSON.parse(Buffer.from(id, 'base64url').toString()) as string[];
    const isText = key.every((part) => typeof part === 'string');
    if (type !== undefined && Object.hasOwn(KEY_PARTS, type) && isText) {
      const known = type as GlobalId['type'];
      const isCodeSound = !OF_COUNTRIES.has(known) || /^[A-Z]{2}$/.test(key[0] ?? '');
      const [least, most] = KEY_PARTS[known];
      if (key.length >= least && key.length <= most && isCodeSound) return { type: known, key };
    }
  } catch {
    // Falls through to the one answer for all texts that are no identifier.
  }
  throw new Failure('BAD_USER_INPUT', 'This is no identifier of this graph. Use one that a field `id` gave.');
}
