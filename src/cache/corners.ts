import { createLru } from './lru.ts';

/**
 * What is remembered of keys, within bounds: those that the service has answered for and those that anybody can have made up,
 * in corners of their own, so that none of the latter takes the place of one of the former.
 */
export interface Corners<Value extends object> {
  get(partition: string): Value | undefined;
  /** Remembers a key of which nothing is known yet. */
  add(partition: string, value: Value): void;
  /** The service has answered for the key. */
  prove(partition: string): void;
  isProven(partition: string): boolean;
}

export interface CornersSize {
  readonly proven: number;
  readonly unproven: number;
}

export function createCorners<Value extends object>({ proven, unproven }: CornersSize): Corners<Value> {
  const known = createLru<Value>(proven);
  const others = createLru<Value>(unproven);
  return {
    get: (partition) => known.get(partition) ?? others.get(partition),
    add: (partition, value) => void others.set(partition, value),
    prove(partition) {
      const value = others.get(partition);
      if (value === undefined) return;
      others.delete(partition);
      known.set(partition, value);
    },
    isProven: (partition) => known.has(partition),
  };
}
