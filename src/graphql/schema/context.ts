import type { QuotaRecord } from '../../keys/ledger.ts';
import type { BatchGate } from '../../observations/loaders/batch-gate.ts';
import type { Effort } from '../../observations/loaders/effort.ts';
import type { createLoaders } from '../../observations/loaders/loaders.ts';
import type { Bill } from '../../service/bill.ts';
import type { Caller } from '../../service/caller.ts';
import type { CallGate } from '../../service/gate.ts';
import type { CountryRecord } from '../../service/records/countries.ts';
import type { IndicatorRecord, SourceRecord } from '../../service/records/reference.ts';
import type { SourceNames } from '../../shared/citations.ts';
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

/** The means of one operation's resolvers. */
export interface GraphContext {
  readonly caller: Caller;
  readonly bill: Bill;
  readonly loaders: ReturnType<typeof createLoaders>;
  readonly batchGate: BatchGate;
  readonly effort: Effort;
  readonly warnings: Warnings;
  /** Rows of one page. */
  readonly maxListItems: number;
  readonly quota: () => Promise<QuotaRecord>;
  /** The operator's words for references to figures; left out while an operation is priced. */
  readonly citing?: {
    readonly sourceNames: SourceNames;
    /** Public address of the service, without a trailing slash; null if it has none. */
    readonly serviceUrl: string | null;
  };
  /** Knows if the service has just refused the key; left out while an operation is priced. */
  readonly gate?: CallGate | undefined;
}
