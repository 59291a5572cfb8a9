import { PooledInfo, type TogetherInfo } from './infos.ts';
import type { BatchInfo, FieldPlan } from './plan.ts';

/** Objects of one run that a field is to be resolved for. */
export interface TogetherCall {
  readonly field: FieldPlan;
  readonly objects: readonly object[];
  readonly args: Record<string, unknown>;
  readonly context: unknown;
  readonly info: TogetherInfo;
}

/** Resolves a field for many objects. */
export type ResolveTogether = (call: TogetherCall) => readonly unknown[] | PromiseLike<readonly unknown[]>;

/** Resolves a field as soon as it is asked to. */
export const atOnce: ResolveTogether = ({ field, objects, args, context, info }) =>
  field.definition.extensions.batch?.(objects, args, context, info as unknown as BatchInfo) ?? [];

interface PooledCall {
  readonly call: TogetherCall;
  readonly settle: PromiseWithResolvers<readonly unknown[]>;
}

/**
 * Resolves a field for the objects of several runs together, as one run would: resolvers decide by all of them which
 * figures to ask for.
 */
export class Pooled {
  readonly #isAboutToAsk: () => boolean;
  readonly #onPause: ((goesOn: Promise<void>) => void) | undefined;
  #waiting = new Map<FieldPlan, PooledCall[]>();

  /**
   * @param isAboutToAsk true if some run hasn't come to its fields yet
   * @param onPause called with a promise that settles once the waiting calls have been resolved
   */
  constructor(isAboutToAsk: () => boolean, onPause: ((goesOn: Promise<void>) => void) | undefined) {
    this.#isAboutToAsk = isAboutToAsk;
    this.#onPause = onPause;
  }

  readonly resolve: ResolveTogether = (call) => {
    if (this.#waiting.size === 0) this.#onPause?.(new Promise((resolve) => this.#whenQuiet(resolve)));
    const settle = Promise.withResolvers<readonly unknown[]>();
    const others = this.#waiting.get(call.field);
    if (others === undefined) this.#waiting.set(call.field, [{ call, settle }]);
    else others.push({ call, settle });
    return settle.promise;
  };

  #whenQuiet(goOn: () => void): void {
    setImmediate(() => {
      if (this.#isAboutToAsk()) {
        this.#whenQuiet(goOn);
        return;
      }
      const all = this.#waiting;
      this.#waiting = new Map();
      for (const calls of all.values()) resolveAll(calls);
      goOn();
    });
  }
}

function resolveAll(calls: readonly PooledCall[]): void {
  const [first] = calls as [PooledCall];
  const objects = calls.flatMap(({ call }) => call.objects);
  const info = new PooledInfo(calls.map(({ call }) => [call.info, call.objects.length]));
  const give = (values: readonly unknown[]) => {
    let next = 0;
    for (const { call, settle } of calls) {
      settle.resolve(values.slice(next, next + call.objects.length));
      next += call.objects.length;
    }
  };
  const fail = (error: unknown) => {
    for (const { settle } of calls) settle.reject(error);
  };
  try {
    const given = atOnce({ ...first.call, objects, info });
    if ('then' in given) given.then(give, fail);
    else give(given);
  } catch (error) {
    fail(error);
  }
}
