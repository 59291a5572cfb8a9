import type { GatewayRequest } from '../graphql/request/requests.ts';
import type { GatewayResponse } from '../graphql/request/responses.ts';
import type { AbsenceNotes } from '../graphql/schema/context.ts';
import type { Trace } from '../service/trace.ts';
import type { PromiseOrValue } from '../shared/async/promises.ts';

/** One operation whose caller is known. It can't be changed: each method makes another, to be handed on in its place. */
export interface Operation {
  readonly request: GatewayRequest;
  /** True if it came under a key that the gateway has issued. */
  readonly isIssued: boolean;
  /** Has more in its answer. */
  adding(additions: Additions): Operation;
  /** Notes what fields have asked for, and says why they have no figures (`extensions.absences`). */
  noting(absences: AbsenceNotes): Operation;
  /** Continues a trace: its parts begin spans below this one. */
  traced(trace: Trace): Operation;
  /** Calls back once all parts of the answer have left: at once, if it comes whole and is there. */
  onceOver(listener: () => void): void;
}

/** Answers one operation; never throws for an error of the client. */
export type HandleOperation = (operation: Operation) => PromiseOrValue<GatewayResponse>;

/** What an answer has besides its data. It is cached with the answer. Those of several plugins are all in it. */
export interface Additions {
  /** Called with each list and record that the operation reads, cached or not. */
  onRead?(read: { readonly route: string; readonly target: string }): void;
  /** By lower-case name; called once the answer is there. */
  headers?(reads: AnswerReads): ReadonlyMap<string, string>;
  /** Called with each part of the answer, before `headers`. */
  extensions?(reads: AnswerReads): object;
}

/** What an answer was made of. */
export interface AnswerReads {
  /** Figures that were asked for, absent ones (without sources) included, failed ones not. */
  figures(): Iterable<{
    readonly countryCode: string;
    readonly metricKey: string;
    readonly sources: readonly string[];
  }>;
}
