import { setImmediate } from 'node:timers/promises';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { asError } from '../../shared/errors.ts';
import { IncrementalRun } from '../execution/incremental.ts';
import { byteLengthOf } from '../execution/json-pieces.ts';
import { planOperation } from '../execution/plan.ts';
import type { Executed, runPlan } from '../execution/run.ts';
import { withoutMultipart } from './accept.ts';
import { createDeferringCollector } from './deferrals.ts';
import { type DeliveryFormat, deliveryFormatFor, type WrittenPart } from './delivery-formats.ts';
import type { PlannedOperation } from './prepared-operation.ts';
import { readsSchemaAlone } from './schema-reads.ts';

/** @returns the delivery, and the `Accept` header without multipart types; null if no known format is asked for */
export function openDelivery(accepts: string) {
  const format = deliveryFormatFor(accepts);
  return format && { delivery: new Delivery(format), accept: withoutMultipart(accepts) };
}

interface FirstPart {
  /** JSON. */
  readonly data: string;
  readonly errors: readonly GraphQLFormattedError[];
  /** Called with all errors once all parts are there; returns the last part's members about the whole. */
  readonly onOver: (errors: readonly GraphQLFormattedError[]) => object;
}

const BOUNDARY = '-';

/**
 * One answer delivered in parts: `runner` executes the first, `begin` takes it as written, and `body` sends all. Parts
 * are sent as fast as their reader takes them; those that gather meanwhile go together.
 */
export class Delivery {
  readonly contentType: string;
  readonly #format: DeliveryFormat;
  #run: IncrementalRun<WrittenPart> | null = null;
  #first: FirstPart = { data: 'null', errors: [], onOver: () => ({}) };
  #errors: GraphQLFormattedError[] = [];
  #bytes = 0;
  #over: Promise<void> | null = null;
  #isOver = false;
  /** Set if the rest can't be sent: the reader's connection is cut. */
  #failed: unknown;
  #extensions: object = {};
  #changed = Promise.withResolvers<void>();

  constructor(format: DeliveryFormat) {
    this.#format = format;
    this.contentType = `multipart/mixed; boundary="${BOUNDARY}"; ${format.parameter}`;
  }

  /** Null if the answer comes whole. */
  get over(): Promise<void> | null {
    return this.#over;
  }

  /**
   * Null if the answer comes whole.
   * @param maxAnswerBytes bytes of all parts together
   */
  runner(
    { prepared, plan: whole, variables }: PlannedOperation,
    maxAnswerBytes: number,
    formatErrors: (errors: readonly GraphQLError[]) => readonly GraphQLFormattedError[],
    tooLong: () => GraphQLError,
  ): typeof runPlan | null {
    const { document, operation } = prepared;
    if (readsSchemaAlone(operation)) return null;
    const collector = createDeferringCollector({ ...whole, variables });
    const plan = planOperation(whole.schema, document, operation, variables, collector);
    if (!collector.isUsed() || plan.root.error !== undefined) return null;
    const write = (executed: Executed, isLost: boolean): WrittenPart => {
      const data = isLost ? null : executed.data.join('');
      this.#bytes += data === null ? 0 : Buffer.byteLength(data);
      const isLong = this.#bytes > maxAnswerBytes;
      const errors = formatErrors(isLong ? [tooLong()] : executed.errors);
      this.#errors.push(...errors);
      return { isLost: isLost || isLong, data: isLong ? null : data, errors };
    };
    return async (given): Promise<Executed> => {
      const run = new IncrementalRun<WrittenPart>(
        { ...given, plan },
        write,
        (error) => write({ data: ['null'], errors: [asGraphQLError(error)] }, true),
        () => this.#wake(),
      );
      const first = await run.first();
      this.#bytes += byteLengthOf(first.data);
      const isLong = this.#bytes > maxAnswerBytes;
      // Calls under way are still billed, though the answer is too long, or everything deferred is lost.
      while ((isLong || !run.hasMore) && run.isRunning) await this.#change();
      if (isLong) return { data: ['null'], errors: [tooLong()] };
      if (run.hasMore) this.#run = run;
      return first;
    };
  }

  /** @returns true if parts are to come */
  begin(first: FirstPart): boolean {
    if (this.#run === null) return false;
    this.#first = first;
    this.#errors.push(...first.errors);
    this.#over = this.#untilOver(this.#run);
    return true;
  }

  async *body(): AsyncGenerator<string> {
    const run = this.#run as IncrementalRun<WrittenPart>;
    const waiting = [...run.take()];
    const firstPart = waiting.findIndex(({ kind }) => kind !== 'pending');
    const pending = waiting.splice(0, firstPart < 0 ? waiting.length : firstPart);
    const { data, errors } = this.#first;
    const errorsMember = errors.length === 0 ? '' : `"errors":${JSON.stringify(errors)},`;
    const members = `${errorsMember}"data":${data},${this.#format.first(pending)}`;
    yield `\r\n--${BOUNDARY}${this.#part(members, true)}`;
    for (;;) {
      waiting.push(...run.take());
      if (waiting.length > 0) {
        const members = this.#format.next(waiting.splice(0));
        if (members !== '') yield this.#part(members, true);
      } else if (this.#isOver) break;
      else await this.#change();
    }
    if (this.#failed !== undefined) throw this.#failed;
    yield this.#part(`"extensions":${JSON.stringify(this.#extensions)},`, false);
  }

  #part(members: string, hasNext: boolean): string {
    const end = hasNext ? '' : '--\r\n';
    return `\r\ncontent-type: application/json; charset=utf-8\r\n\r\n{${members}"hasNext":${hasNext}}\r\n--${BOUNDARY}${end}`;
  }

  async #untilOver(run: IncrementalRun<WrittenPart>): Promise<void> {
    while (run.isRunning) await this.#change();
    try {
      this.#extensions = this.#first.onOver(this.#errors);
    } catch (error) {
      this.#failed = error;
    }
    this.#isOver = true;
    this.#wake();
  }

  /** Simultaneous changes are taken together. */
  async #change(): Promise<void> {
    await this.#changed.promise;
    await setImmediate();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

function asGraphQLError(error: unknown): GraphQLError {
  const cause = asError(error, String(error));
  return new GraphQLError(cause.message, { originalError: cause });
}
