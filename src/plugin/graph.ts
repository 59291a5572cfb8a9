import { readFileSync } from 'node:fs';
import {
  type DocumentNode,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  parse,
  type ResponsePath,
} from 'graphql';
import type { Changes } from '../graphql/live/subscribing.ts';
import { fieldsReadBy } from '../graphql/resolvers/fields.ts';
import type { CountryRef, IndicatorRef, SourceRef } from '../graphql/schema/context.ts';
import type { newestOf } from '../observations/planner/newest.ts';
import type { Endpoint } from '../service/call.ts';
import type { ObservationRecord } from '../service/records/observations.ts';
import type { PromiseOrValue } from '../shared/async/promises.ts';
import type { Steps } from '../shared/async/turns.ts';
import type { Warning } from '../shared/warnings.ts';

/** A plugin's part of the graph. */
export interface GraphPart {
  /** Types, and extensions of others; `@upstream` states what a field takes of the service. */
  readonly sdl: DocumentNode | string;
  /** By type and field. A field of `Subscription` has two: `subscribe` returns what {@link FieldContext.changes} gives. */
  readonly resolvers: Readonly<
    Record<string, Readonly<Record<string, AnyResolver | { subscribe: AnyResolver; resolve: AnyResolver }>>>
  >;
  /** Priced by what each is assumed to answer. */
  readonly endpoints?: readonly Endpoint[];
  /** Its types that are figures to the rights of keys, though they have no tag of those. */
  readonly figures?: readonly string[];
  /** The refusal of a subscription that is sent as a plain request. */
  readonly posted?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: each has parents and arguments of its own
type AnyResolver = GraphQLFieldResolver<any, FieldContext, any>;

/** Reads the SDL of a part from a file beside the module that brings it. The program's bundle embeds the result. */
export function readPart(file: URL): DocumentNode {
  return parse(readFileSync(file, 'utf8'), { noLocation: true });
}

/** Marked, since the graph reads such a field by itself: it takes no call. */
const plainField = Object.assign(
  (parent: unknown, _args: unknown, _context: unknown, { fieldName }: GraphQLResolveInfo) =>
    (parent as Readonly<Record<string, unknown>>)[fieldName],
  { isPlain: true },
);

/**
 * Makes resolvers for fields that are plain properties of the object behind a type.
 * @typeParam Parents the objects behind the types
 */
export const plainFieldsOf = fieldsReadBy(plainField);

/** The parent of a country's resolvers: its code in upper case. What else the graph knows comes by `recordField`. */
export type CountryParent = Pick<CountryRef, 'code'>;
/** The parent of an indicator's resolvers. */
export type IndicatorParent = Pick<IndicatorRef, 'key'>;
/** The parent of a source's resolvers. */
export type SourceParent = Pick<SourceRef, 'key'>;

/** A country and an indicator, of which there may be figures. */
export interface FieldPair {
  /** Upper case. */
  readonly countryCode: string;
  readonly metricKey: string;
}

/** What is cached of the figures of one country and indicator. */
export interface CachedFigures {
  /** In no order, each once, places included. Empty if the service has answered that it has none. */
  readonly rows: readonly ObservationRecord[];
  /** Keys of their sources, in their order. */
  readonly sources: readonly string[];
  /** Milliseconds since the epoch, as of which all of them were current. */
  readonly asOfMs: number;
  /** True if these are all figures of the pair. */
  readonly isWhole: boolean;
}

/** The operation that a field is resolved for, one object for each. Only `load` may take a call. */
export interface FieldContext {
  /** Calls that the operation has sent so far. */
  readonly calls: number;
  /**
   * Asks a route, once for equal parameters, planned, billed and bounded as all calls.
   * @returns null for a 404, the service's word that there is none
   * @throws Failure as the service or a bound refuses the call
   */
  load<Params, Result>(endpoint: Endpoint<Params, Result>, params: Params): Promise<Result | null>;
  readonly cached: {
    /**
     * Names the key whose figures may be read, as `OutgoingCall` does; null if the service hasn't accepted it lately.
     * @throws Failure if the caller may not read figures
     */
    owner(): Promise<string | null>;
    /**
     * Calls back with each pair of which anything is cached for the caller, fresh or not.
     * @throws Failure if the caller may not read figures, or the operation has ended
     */
    figures(
      pairs: readonly FieldPair[],
      each: (pair: FieldPair, figures: CachedFigures) => void,
    ): Promise<void>;
    /** Keys of all indicators that were seen in a list or a figure, sorted. */
    indicatorKeys(): Promise<readonly string[]>;
    /** Codes of the countries that the list will most likely have, and of those seen in figures, sorted. */
    countryCodes(): readonly string[];
  };
  /** The latest of some rows, by the one order of figures. */
  newest: typeof newestOf;
  /**
   * Counts figures that the operation is about to look at.
   * @throws Failure OPERATION_TOO_EXPENSIVE beyond what one operation may
   */
  want(figures: number): void;
  /** Warns of what is right but not whole; once for each subject, if that is given. */
  warn(warning: Warning, subject?: object): void;
  /** Returns a list, with a warning of rows that were left out of the service's answer. */
  warned<List extends object | null>(path: () => ResponsePath, list: List): List;
  /** Keeps the answer from being cached: the next may differ without anything that it was made of having changed. */
  markPassing(): void;
  /** Work of more than a millisecond or two: others have their turns in between. */
  readonly turns: Turns;
  /** Null but where a subscription begins. */
  readonly changes: Changes | null;
}

/** A field of the graph, as its SDL has it. */
export interface GraphField {
  readonly parent: string;
  readonly name: string;
  readonly args: readonly { readonly name: string; readonly type: string }[];
  readonly type: string;
  /** Empty if it has none. */
  readonly description: string;
}

/** The turns of one key's work among that of all keys. */
export interface Turns {
  /** Settles when it is its turn again. */
  next(): Promise<void>;
  each<Item>(items: readonly Item[], work: (item: Item) => void): PromiseOrValue<void>;
  /** Takes steps of a fraction of a millisecond each, at once as long as they are quick. */
  sliced<Result>(steps: Steps<Result>): PromiseOrValue<Result>;
}
