import type { ResponsePath } from 'graphql';
import type { QuotaRecord } from '../../keys/ledger.ts';
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
import type { PromiseOrValue } from '../../shared/async/turns.ts';
import type { SourceNames } from '../../shared/source-names.ts';
import type { Warnings } from '../../shared/warnings.ts';

/** The object behind a Country, an Indicator or a Source: its key, and what is known of it. The rest is loaded. */
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

/** A page of a list, as a connection hands it on. */
export interface Page<Row> {
  readonly nodes: readonly Row[];
  /** Rows of the whole list. */
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** Cursors of the rows, in their order: made only if they are asked for. */
  readonly cursors: () => readonly string[];
}

/** A reason for which there is no figure, as the answer proves it. */
export type AbsenceReason =
  | 'NO_FIGURE'
  | 'BLANK'
  | 'NEWER_ONLY'
  | 'OLDER_ONLY'
  | 'UNKNOWN_INDICATOR'
  | 'NOT_OFFERED'
  | 'REFUSED'
  | 'NOT_HELD';

export interface Absence {
  /** The field that is null, or an empty list, as the path of an error is. */
  readonly path: readonly (string | number)[];
  readonly reason: AbsenceReason;
}

type Rows = readonly ObservationRecord[];

/** The latest figures that a field has asked for, of an indicator. */
interface LatestAsked {
  readonly countryCodes: readonly string[];
  readonly metricKey: string;
  readonly maxAgeMs: number;
}

/** The rows that a field has asked for. */
interface RowsAsked {
  readonly mode: Mode;
  readonly years: YearRange | null;
  readonly maxAgeMs: number;
  /** The arguments, as the client gave them. */
  readonly filter: {
    readonly countryCodes?: readonly string[] | null | undefined;
    readonly metricKeys?: readonly string[] | null | undefined;
    readonly scope?: 'NATIONAL' | 'PLACES' | 'ALL' | null | undefined;
    readonly fromYear?: number | null | undefined;
    readonly toYear?: number | null | undefined;
  };
  /** Countries and metrics of them that there may be. */
  readonly names: PromiseOrValue<readonly [countryCodes: readonly string[], metricKeys: readonly string[]]>;
}

/** Notes fields that answer without a figure, for those who have asked why. */
export interface AbsenceNotes {
  /** Notes that a field is null, for a reason that is known. */
  note(path: () => ResponsePath, reason: AbsenceReason): void;
  /** Notes figures of a field, each by its path. */
  latest(
    asked: LatestAsked,
    figures: PromiseOrValue<readonly (ObservationRecord | Error | null)[]>,
    pathOf: (i: number) => ResponsePath,
    context: GraphContext,
  ): void;
  /** Notes the rows of a field, and returns them. */
  rows(
    asked: RowsAsked,
    load: () => PromiseOrValue<Rows>,
    path: ResponsePath,
    context: GraphContext,
  ): PromiseOrValue<Rows>;
  /** Lists what is proven by now. */
  listed(): readonly Absence[];
}

/** What a stage adds to the answer to an operation, by what that has read. */
export interface AnswerAdditions {
  /** By lower-case name; they stay with an answer that is cached. */
  headers(context: GraphContext): ReadonlyMap<string, string>;
  extensions(context: GraphContext): object;
  /** Watches what the operation asks of lists and records, cached or not; left out if nothing does. */
  readonly asking?: (ask: Ask) => Ask;
  /** Called with the route of each cached list that the answer has read for its names alone; left out if nothing listens. */
  readonly onNames?: (route: string) => void;
}

/** The means of one operation's resolvers. */
export interface GraphContext {
  readonly caller: Caller;
  readonly bill: Bill;
  readonly loaders: ReturnType<typeof createLoaders>;
  readonly batchGate: BatchGate;
  readonly effort: Effort;
  readonly warnings: Warnings;
  /** Left out unless the client has asked why there is no figure. */
  readonly absences?: AbsenceNotes | undefined;
  /** Rows of one page. */
  readonly maxListItems: number;
  readonly quota: () => Promise<QuotaRecord>;
  /** Says that the answer may be another the next time; left out while an operation is priced. */
  readonly markPassing?: () => void;
  /** The operator's words for references to figures; left out while an operation is priced. */
  readonly citing?: {
    readonly sourceNames: SourceNames;
    /** Public address of the service, without a trailing slash; null if it has none. */
    readonly serviceUrl: string | null;
  };
  /** Knows if the service has just refused the key; left out while an operation is priced. */
  readonly gate?: CallGate | undefined;
}
