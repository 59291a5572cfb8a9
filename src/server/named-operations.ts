import { Counter, type Registry } from 'prom-client';
import type { OperationEvent } from '../gateway.ts';
import { TalliedHistogram } from './tallied-histogram.ts';

/** Names that are told apart, if clients may send any. */
const MAX_NAMES = 100;

/** Characters beyond which nobody watches a name. */
const MAX_LENGTH = 100;

const OTHER = 'other';

const NAME_IN_DOCUMENT = /\b(?:query|mutation|subscription)\s+(\w+)/g;

/** Returns the only documents that may run, as they are now; null if any may. */
type TrustedNow = () => readonly { readonly text: string }[] | null;

/** Bounds of the buckets: few, since there is a set of them for each name. */
const SECONDS = [0.05, 0.25, 1, 5, 30];

export interface NamedOperations {
  count(event: OperationEvent): void;
  /** Tells the names of these documents apart, and no others, if there are any. */
  expect(trusted: TrustedNow): void;
}

/**
 * Counts operations by their names, of which there is a bounded number: those of trusted documents, or else the first
 * that were answered without an error. All others are "other", and an operation without a name has an empty one.
 */
export function createNamedOperations(registers: Registry[]): NamedOperations {
  const durations = new TalliedHistogram({
    name: 'country_graph_named_operation_duration_seconds',
    help: 'Time from a GraphQL request to its answer, by the name of the operation: empty for none, "other" beyond the first hundred.',
    labelNames: ['operation', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const calls = new Map<string, number>();
  new Counter({
    name: 'country_graph_named_operation_calls_total',
    help: 'Requests sent to the REST service, by the name of the operation that was billed.',
    labelNames: ['operation'],
    registers,
    collect() {
      this.reset();
      for (const [operation, count] of calls) this.inc({ operation }, count);
    },
  });
  let known = new Set(['']);
  let mayGrow = true;
  let trustedNow: TrustedNow = () => null;
  let trusted: ReturnType<TrustedNow> = null;

  /** Reads the names again if the documents have changed. */
  function readNames(): void {
    const now = trustedNow();
    if (now === null || now === trusted) return;
    trusted = now;
    known = new Set(['', ...now.flatMap(({ text }) => namesIn(text))]);
    mayGrow = false;
  }

  function labelFor(name: string, mayBeNew: boolean): string {
    if (known.has(name)) return name;
    readNames();
    if (known.has(name)) return name;
    if (!mayGrow || !mayBeNew || name.length > MAX_LENGTH) return OTHER;
    known.add(name);
    mayGrow = known.size <= MAX_NAMES;
    return name;
  }

  return {
    count(event) {
      const isWhole = event.errorCodes.length === 0;
      // Anybody can make up names, and the first to come are told apart.
      const operation = labelFor(event.name ?? '', isWhole && event.isProven === true);
      durations.of(operation, isWhole ? 'ok' : 'error').observe(event.durationMs / 1000);
      if (event.calls > 0) calls.set(operation, (calls.get(operation) ?? 0) + event.calls);
    },
    expect(documents) {
      trustedNow = documents;
      readNames();
    },
  };
}

/** Finds the names of the operations of a document. */
function namesIn(text: string): string[] {
  return [...text.matchAll(NAME_IN_DOCUMENT)].map(([, name = '']) => name);
}
