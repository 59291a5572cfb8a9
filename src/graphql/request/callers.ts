import type { Tenants } from '../../keys/tenant.ts';
import type { CallBudget } from '../../service/call-budget.ts';
import type { Caller } from '../../service/caller.ts';
import { Flow } from '../../shared/async/turns.ts';
import type { Failure } from '../../shared/errors.ts';

/** The flow of all callers whose keys the service has not accepted lately: they count as one. */
export const UNPROVEN = new Flow();

/** The key of the service that a request is made with, which may stand behind another, and a budget of its own. */
export interface Exchanged {
  /** Takes the place of the `Authorization` header, if there is one. */
  readonly authorization: string | null;
  /** A budget besides that of the key. */
  readonly budget?: CallBudget | undefined;
  readonly visitor?: Caller['visitor'];
  readonly note?: Caller['note'];
  readonly refusalOf?: Caller['refusalOf'];
  readonly rights?: Caller['rights'];
  /** Has a listener called if the key works no more; returns a function that ends that. Left out if the service says so. */
  readonly watch?: ((onEnd: (failure: Failure) => void) => () => void) | undefined;
}

/** Tells who asks, and by which key of the service. */
export type CallerOf = ReturnType<typeof createCallers>;

/** Has operations answered from what is cached alone: all of them, or those that a header asks that for. */
export interface OfflineMode extends NonNullable<Caller['offline']> {
  readonly isAlways: boolean;
}

interface CallerHeaders {
  readonly authorization?: string | null | undefined;
  readonly 'x-offline'?: string | undefined;
}

/** What is added to the place of a job without proof, so that any other one is older. */
const BEHIND_ALL = 2 ** 48;

/**
 * Opens the place where a key becomes a caller. Each request has a caller of its own, with a number that rises from
 * request to request. Unless it is exchanged, an issued key is no key.
 * @param mode null if any operation may ask the service
 */
export function createCallers(tenants: Tenants, mode: OfflineMode | null = null) {
  let ordinal = 0;
  const always = mode?.isAlways ? mode : undefined;
  const asked = mode ?? undefined;
  return (
    { authorization: given = null, 'x-offline': isAsked }: CallerHeaders,
    exchanged?: Exchanged,
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
      note,
      refusalOf,
      rights,
      offline,
      flow,
      ordinal: flow === UNPROVEN ? ordinal + BEHIND_ALL : ordinal,
      slices: 0,
    };
  };
}

/** Marks the event of an operation if it came by a key that the service had accepted lately. */
export function provenBy({ flow }: Caller): { readonly isProven?: true } {
  return flow === UNPROVEN ? {} : { isProven: true };
}
