import type { Tenants } from '../../keys/tenant.ts';
import type { CallBudget } from '../../service/call-budget.ts';
import type { Caller, NotedOperation } from '../../service/caller.ts';
import { Flow } from '../../shared/async/turns.ts';
import type { Failure } from '../../shared/errors.ts';
import { createSeal } from '../../shared/sealed.ts';
import type { OperationParts } from './requests.ts';

/** All callers whose keys the service has not accepted lately share a flow. */
export const UNPROVEN = new Flow();

/** The service's key for a request, which may stand behind another, and a budget of its own. */
export interface Exchanged {
  /** Replaces the `Authorization` header, if there is one. */
  readonly authorization: string | null;
  /** A budget besides that of the key. */
  readonly budget?: CallBudget | undefined;
  readonly visitor?: Caller['visitor'];
  /** @param of the request of this operation alone: the whole one, or part of a batch */
  readonly note?: ((operation: NotedOperation, of: OperationParts) => void) | undefined;
  readonly refusalOf?: Caller['refusalOf'];
  readonly rights?: Caller['rights'];
  /**
   * Calls a listener when the key stops working; returns a function that ends that. Left out if the service says so
   * itself.
   */
  readonly watch?: ((onEnd: (failure: Failure) => void) => () => void) | undefined;
}

/** Requests have it sealed: stages of plugins see them, and must neither see the key nor change what it may ask. */
export const exchangedSeal = createSeal<Exchanged, 'exchanged key'>('exchanged key');

export type CallerOf = ReturnType<typeof createCallers>;

/** Answers operations from the cache alone: all, or those whose header asks for it. */
export interface OfflineMode extends NonNullable<Caller['offline']> {
  readonly isAlways: boolean;
}

interface CallerHeaders {
  readonly authorization?: string | null | undefined;
  readonly 'x-offline'?: string | undefined;
}

/** Added to the ordinal of unproven jobs, so that any other is older. */
const BEHIND_ALL = 2 ** 48;

/**
 * Where a key becomes a caller, one for each request, with a rising ordinal. An issued key that wasn't exchanged is
 * no key.
 * @param mode null if every operation may ask the service
 */
export function createCallers(tenants: Tenants, mode: OfflineMode | null = null) {
  let ordinal = 0;
  const always = mode?.isAlways ? mode : undefined;
  const asked = mode ?? undefined;
  return (
    { authorization: given = null, 'x-offline': isAsked }: CallerHeaders,
    exchanged?: Exchanged,
    /** The operation that is noted, if there is one. */
    request?: OperationParts,
  ): Caller => {
    const borne = exchanged?.authorization ?? given;
    const tenant = tenants.of(borne);
    const authorization = tenant.isNobody ? null : borne;
    const { budget, visitor, note, refusalOf, rights } = exchanged ?? {};
    const flow = tenant.isProven ? (budget ?? tenant).flow : UNPROVEN;
    ordinal += 1;
    const offline = isAsked === '1' ? asked : always;
    return {
      authorization,
      tenant,
      budget,
      visitor,
      note: note && request && ((operation) => note(operation, request)),
      refusalOf,
      rights,
      offline,
      flow,
      ordinal: flow === UNPROVEN ? ordinal + BEHIND_ALL : ordinal,
      slices: 0,
    };
  };
}

export function provenBy({ flow }: Caller): { readonly isProven?: true } {
  return flow === UNPROVEN ? {} : { isProven: true };
}
