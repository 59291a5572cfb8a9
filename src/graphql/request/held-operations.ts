import { isObject } from '../../shared/exact-json.ts';
import { textIn } from './asked-operation.ts';
import type { PersistedTexts } from './persisted.ts';
import { type GatewayRequest, METHODS } from './requests.ts';

/** One operation of a request. */
export interface HeldOperation {
  readonly body: unknown;
  /** Null if there is no array of operations. */
  readonly requestIndex: number | null;
  /** Null if there is no list of variables. */
  readonly variableIndex: number | null;
}

/**
 * Which operations a request holds: the one in its address or body, each of an array, and one for each item of a list of
 * variables (draft of GraphQL over HTTP). Whoever counts, splits or checks operations asks this.
 */
export class HeldOperations {
  /** Anybody may send half a million: nothing is made of each before it is known that they run. */
  readonly #bodies: readonly unknown[];
  readonly #isArray: boolean;

  constructor(request: GatewayRequest) {
    const given = givenBody(request);
    this.#isArray = Array.isArray(given);
    this.#bodies = Array.isArray(given) ? given : [given];
  }

  /** True for an array, or a list of variables, of whatever length. */
  get isBatch(): boolean {
    return this.#isArray || variablesOf(this.#bodies[0]) !== null;
  }

  get count(): number {
    return this.#bodies.reduce((sum: number, body) => sum + (variablesOf(body)?.length ?? 1), 0);
  }

  list(): readonly HeldOperation[] {
    return this.#bodies.flatMap((body, i): HeldOperation | readonly HeldOperation[] => {
      const requestIndex = this.#isArray ? i : null;
      const list = variablesOf(body);
      if (list === null) return { body, requestIndex, variableIndex: null };
      return list.map((variables, variableIndex) => ({
        body: { ...(body as object), variables },
        requestIndex,
        variableIndex,
      }));
    });
  }
}

/** The texts that are given, or named by a known name; each once. */
export function heldTexts(request: GatewayRequest, persisted: PersistedTexts): ReadonlySet<string> {
  const texts = new Set<string>();
  const given = givenBody(request);
  for (const body of Array.isArray(given) ? given : [given]) {
    // Only a request that is no array can have its text in the address.
    if (Array.isArray(given) && !isObject(body)) continue;
    const asked = textIn({ body, search: request.search }, persisted);
    if (asked !== null) texts.add(asked.text);
  }
  return texts;
}

/** The operation of a GET stands in its address. */
const givenBody = ({ method, body }: GatewayRequest): unknown => (METHODS.get(method)?.hasBody ? body : '');

function variablesOf(body: unknown): readonly unknown[] | null {
  return isObject(body) && Array.isArray(body.variables) ? body.variables : null;
}
