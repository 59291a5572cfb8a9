import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

const collectGarbage: () => void = runInNewContext('gc');

/** Bytes on the heap that are still referenced. */
export function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
