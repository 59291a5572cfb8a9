import type { Failure } from '../errors.ts';
import type { Store } from '../store/store.ts';
import { nextGeneration, PUBLIC, type Tenant } from './tenant.ts';

/**
 * The service's last word on each key. Gateways that share a store share that too: each read from the store brings the
 * others' knowledge.
 */
interface KeyStatuses {
  /** Takes over the store's word on a key, as it was read under `nameOf`. Returns the instant of its last refusal. */
  learn(tenant: Tenant, stored: unknown): number;
  /** Reads the store's word on a key. */
  lookUp(tenant: Tenant): Promise<void>;
  /** Returns the name in the store. */
  nameOf(tenant: Tenant): string;
  isAccepted(tenant: Tenant): boolean;
  refusal(tenant: Tenant): Failure | null;
  accept(tenant: Tenant): void;
  /**
   * Refuses the key. `wasAccepted`: it was accepted before. `isStored` settles once the store has the refusal, and
   * others have heard of it.
   */
  refuse(
    tenant: Tenant,
    refusal: Failure,
  ): { readonly wasAccepted: boolean; readonly isStored: Promise<void> };
  /** Returns a number that changes with each new generation of the key or of all. */
  generation(tenant: Tenant): number;
}

export interface KeyStatusParts {
  readonly store: Store;
  readonly now: () => number;
  /** Milliseconds that an accepted key counts as accepted. */
  readonly authTtlMs: number;
  /** Milliseconds that anything is held at all. */
  readonly holdMs: number;
}

/** Interval at which the store is told that a key is still accepted, as a share of the time for which that counts. */
const WRITING_SHARE = 0.1;

export function createKeyStatuses({ store, now, authTtlMs, holdMs }: KeyStatusParts): KeyStatuses {
  const nameOf = ({ digest }: Tenant) => `${digest}:keyStatus`;

  function write(tenant: Tenant): Promise<void> {
    const { acceptedAtMs, refusedAtMs } = tenant;
    tenant.writtenAtMs = now();
    return store.setMany([{ key: nameOf(tenant), value: { acceptedAtMs, refusedAtMs } }], holdMs);
  }

  function learn(tenant: Tenant, stored: unknown): number {
    if (!isInstants(stored)) return tenant.refusedAtMs;
    if (stored.acceptedAtMs > 0) tenant.prove();
    if (stored.refusedAtMs > tenant.refusedAtMs) tenant.generation = nextGeneration();
    tenant.acceptedAtMs = Math.max(tenant.acceptedAtMs, stored.acceptedAtMs);
    tenant.refusedAtMs = Math.max(tenant.refusedAtMs, stored.refusedAtMs);
    return tenant.refusedAtMs;
  }

  return {
    learn,
    nameOf,
    async lookUp(tenant) {
      const [stored] = await store.getMany([nameOf(tenant)]);
      learn(tenant, stored);
    },
    isAccepted(tenant) {
      if (tenant === PUBLIC) return true;
      const { acceptedAtMs, refusedAtMs } = tenant;
      return acceptedAtMs > refusedAtMs && now() - acceptedAtMs <= authTtlMs;
    },
    refusal: ({ acceptedAtMs, refusedAtMs, refusal }) => (refusedAtMs >= acceptedAtMs ? refusal : null),
    accept(tenant) {
      const isNews = tenant.acceptedAtMs <= tenant.refusedAtMs;
      tenant.acceptedAtMs = Math.max(now(), tenant.refusedAtMs + 1);
      tenant.refusal = null;
      tenant.prove();
      if (isNews || now() - tenant.writtenAtMs >= authTtlMs * WRITING_SHARE) void write(tenant);
    },
    refuse(tenant, refusal) {
      const wasAccepted = tenant.acceptedAtMs > tenant.refusedAtMs;
      tenant.refusedAtMs = Math.max(now(), tenant.acceptedAtMs);
      tenant.refusal = refusal;
      tenant.generation = nextGeneration();
      // A key that was never accepted has nothing that could be served to anybody.
      if (!wasAccepted) return { wasAccepted, isStored: Promise.resolve() };
      const { acceptedAtMs, refusedAtMs } = tenant;
      const told = store.news?.tell({ key: nameOf(tenant), value: { acceptedAtMs, refusedAtMs } });
      return { wasAccepted, isStored: Promise.all([told, write(tenant)]).then(() => {}) };
    },
    generation: (tenant) => tenant.generation + (tenant === PUBLIC ? 0 : PUBLIC.generation),
  };
}

function isInstants(value: unknown): value is { acceptedAtMs: number; refusedAtMs: number } {
  if (typeof value !== 'object' || value === null) return false;
  if (!('acceptedAtMs' in value && 'refusedAtMs' in value)) return false;
  return typeof value.acceptedAtMs === 'number' && typeof value.refusedAtMs === 'number';
}
