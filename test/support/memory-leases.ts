import { leasesOver } from '../../src/cache/backing.ts';
import type { Leases, TakenState } from '../../src/cache/store.ts';

/** @param now milliseconds since any instant */
export function createLeases(now: () => number = () => performance.now()): Leases {
  const taken = new Map<string, { readonly state: TakenState; readonly untilMs: number }>();
  return leasesOver({
    read(key) {
      const lease = taken.get(key);
      return lease !== undefined && lease.untilMs > now() ? lease.state : null;
    },
    write: (key, state, lifeMs) => taken.set(key, { state, untilMs: now() + lifeMs }),
    remove: (key) => taken.delete(key),
  });
}
