import type { ResponsePath } from 'graphql';
import type { QuotaRecord } from '../../keys/ledger.ts';
import type { OutcomeOf } from '../../observations/absences.ts';
import type { BatchGate } from '../../observations/loaders/batch-gate.ts';
import type { Effort } from '../../observations/loaders/effort.ts';
import type { createLoaders } from '../../observations/loaders/loaders.ts';
import type { Mode, YearRange } from '../../observations/planner/demand.ts';
import type { Bill } from '../../service/bill.ts';
import type { Ask } from '../../service/cached-lists.ts';
import type { Caller } from '../../service/caller.ts';
import type { CallGate } from '../../service/gate.ts';
import type { CountryRecord } from '../../service/records/countries.ts';
import type { ObservationRecord } from '../../service/records/observations.ts';
import type { IndicatorRecord, SourceRecord } from '../../service/records/reference.ts';
import type { PromiseOrValue } from '../../shared/async/promises.ts';
import type { NamedSource, SourceNames } from '../../shared/source-names.ts';
import type { Warnings } from '../../shared/warnings.ts';

/** The object behind a type: its key, and the known part of its record. The rest is loaded. */
export interface CountryRef {
  /** Upper case. */
  readonly code: string;
  readonly partial?: Partial<CountryRecord>;
}

export interface IndicatorRef {
  readonly key: string;
  readonly partial?: Partial<IndicatorRecord>;
}

export interface SourceRef {
  readonly key: string;
  readonly partial?: Partial<SourceRecord>;
}

export interface Page<Row> {
  readonly nodes: readonly Row[];
  /** Of the whole list. */
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** In order of the rows, made on demand. */
  readonly cursors: () => readonly string[];
}

/** Why there is no figure, as far as the answer proves it. */
export type AbsenceReason =
  | 'NO_FIGURE'
  | 'BLANK'
  | 'NEWER_ONLY'
  | 'OLDER_ONLY'
  | 'UNKNOWN_INDICATOR'
  | 'NOT_OFFERED'
  | 'REFUSED'
  | 'NOT_HELD';

/** Why a field has no figures. */
export interface Absence {
  /** Path of a field that is null or an empty list. */
  readonly path: readonly (string | number)[];
  readonly reason: AbsenceReason;
}

type Rows = readonly ObservationRecord[];

interface LatestAsked {
  readonly countryCodes: readonly string[];
  readonly metricKey: string;
  readonly maxAgeMs: number;
}

interface RowsAsked {
  readonly mode: Mode;
  readonly years: YearRange | null;
  readonly maxAgeMs: number;
  /** As the client gave them. */
  readonly filter: {
    readonly countryCodes?: readonly string[] | null | undefined;
    readonly metricKeys?: readonly string[] | null | undefined;
    readonly scope?: 'NATIONAL' | 'PLACES' | 'ALL' | null | undefined;
    readonly fromYear?: number | null | undefined;
    readonly toYear?: number | null | undefined;
  };
  /** The names that the rows answer for; final once the rows are there. */
  names(): readonly [countryCodes: readonly string[], metricKeys: readonly string[]];
}

/** For clients that ask why there is no figure. */
export interface AbsenceNotes {
  note(path: () => ResponsePath, reason: AbsenceReason): void;
  latest(
    asked: LatestAsked,
    figures: PromiseOrValue<readonly (ObservationRecord | Error | null)[]>,
    pathOf: (i: number) => ResponsePath,
    outcomeOf: OutcomeOf,
  ): void;
  /** Returns the rows. */
  rows(
    asked: RowsAsked,
    load: () => PromiseOrValue<Rows>,
    path: ResponsePath,
    outcomeOf: OutcomeOf,
  ): PromiseOrValue<Rows>;
  listed(): readonly Absence[];
}

export interface AnswerAdditions {
  /** By lower-case name; cached with the answer. */
  headers(context: GraphContext): ReadonlyMap<string, string>;
  extensions(context: GraphContext): object;
  /** Watches reads of lists and records, cached or not. */
  readonly asking?: (ask: Ask) => Ask;
  /** Called with the route of each cached list that was read for its names alone. */
  readonly onNames?: (route: string) => void;
}

export interface GraphContext {
  readonly caller: Caller;
  readonly bill: Bill;
  readonly loaders: ReturnType<typeof createLoaders>;
  readonly batchGate: BatchGate;
  readonly effort: Effort;
  readonly warnings: Warnings;
  /** Set if the client has asked why there is no figure. */
  readonly absences?: AbsenceNotes | undefined;
  /** Maximum rows of a page. */
  readonly maxListItems: number;
  readonly quota: () => Promise<QuotaRecord>;
  /** True once the answer is there; left out while pricing. */
  readonly isOver?: () => boolean;
  /** Marks an answer that may differ next time; left out while pricing. */
  readonly markPassing?: () => void;
  /** For references to figures; left out while pricing. */
  readonly citing?: {
    readonly sourceNames: SourceNames;
    readonly attribution: NamedSource;
    /** Without a trailing slash; null if the service has no public address. */
    readonly serviceUrl: string | null;
  };
  /**
   * While pricing, chooses the rows that a filter is supposed to let through.
   * @returns null if the list of the route is known, and the filter itself tells
   */
  readonly supposedRows?: (<Row>(route: string, rows: readonly Row[]) => readonly Row[] | null) | undefined;
  /** Knows if the service has just refused the key; left out while pricing. */
  readonly gate?: CallGate | undefined;
}
