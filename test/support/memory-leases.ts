import { openSqlite } from '../../src/cache/sqlite.ts';
import type { Leases } from '../../src/cache/store.ts';

/** Leases in no file, which end with their test. */
export function createLeases(): Leases {
  const opening = openSqlite(':memory:', () => {}).then(({ leases }) => leases as Leases);
  return {
    take: async (...asked) => (await opening).take(...asked),
    look: async (...asked) => (await opening).look(...asked),
    end: async (...asked) => (await opening).end(...asked),
  };
}
