import type { Program } from '../support/program.ts';
import type { Router } from './routers.ts';

export interface Fault {
  readonly status?: number;
  readonly detail?: string;
  /**
   * The key that it is met under, one for each: a route that refused a key isn't asked under it for a while.
   */
  readonly key?: string;
  readonly told: Readonly<Record<string, unknown>>;
  /** Selection on a country. */
  readonly selection?: string;
}

/** Faults, with their errors; three calls are too dear for the last. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'no key': { told: { code: 'UNAUTHENTICATED', retryable: false } },
  'an unknown key': {
    key: 'unknown',
    told: { code: 'UNAUTHENTICATED', retryable: false },
  },
  'a key that is not permitted': {
    status: 403,
    detail: 'not for you',
    key: 'demo-analyst',
    told: { code: 'FORBIDDEN', retryable: false, detail: 'not for you' },
  },
  'a spent minute': {
    status: 429,
    detail: "rate limit exceeded for plan 'free': 5 requests per minute",
    key: 'demo-free',
    told: { code: 'RATE_LIMITED', retryable: true, plan: 'free', requestsPerMinute: 5 },
  },
  'an operation that is too dear': {
    key: 'demo-team',
    told: { code: 'OPERATION_TOO_EXPENSIVE', retryable: false, limit: 3 },
    selection: 'profile { record }',
  },
};

/** Asks a router while something is wrong, and returns the extensions of errors that are ours. */
export async function askedAfter(
  { sandbox }: Program,
  router: Router,
  { status, detail, key, selection = 'name' }: Partial<Fault> | undefined = {},
  root: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  if (status !== undefined) sandbox.faults.set({ kind: 'status', status, body: { detail } });
  const authorization = key === undefined ? undefined : `Bearer ${key}`;
  try {
    const { errors = [] } = await router.ask(`{ ${root} { code ${selection} } }`, authorization);
    return errors.map(({ extensions }) => extensions).filter((extensions) => 'requestId' in extensions);
  } finally {
    sandbox.faults.clear();
  }
}
