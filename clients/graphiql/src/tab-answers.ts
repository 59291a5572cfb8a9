import { withNeededFields } from './chart/needed-fields.ts';
import type { Exchange } from './exchange.ts';
import { tabStorage } from './tab-storage.ts';

/** Characters of an answer that is cached: browsers give a page five million in all. */
const MAX_STORED = 600_000;

type StoredAnswer = Pick<Exchange, 'operation' | 'answer' | 'drawn' | 'at' | 'length'>;

const nameOf = (tab: string) => `answer:${tab}`;

/** Keeps the whole answer of a tab for a page that is loaded again; a long one isn't kept. */
export function storeAnswer(tab: string, { operation, answer, drawn, at, partly, length }: Exchange): void {
  if (partly !== null || length === null || length > MAX_STORED) {
    tabStorage.remove(nameOf(tab));
    return;
  }
  // The data that is drawn has all that was written.
  const { data: _, ...rest } = answer;
  tabStorage.write(nameOf(tab), { operation, answer: rest, drawn, at, length } satisfies StoredAnswer);
}

export function forgetAnswer(tab: string): void {
  tabStorage.remove(nameOf(tab));
}

/** The stored answer of a tab; null if none was. */
export function storedAnswer(tab: string): Exchange | null {
  const stored = tabStorage.read<StoredAnswer>(nameOf(tab));
  if (typeof stored?.operation?.query !== 'string' || typeof stored.drawn?.query !== 'string') return null;
  const { operation, answer, drawn, at, length } = stored;
  const needed =
    drawn.query === operation.query ? null : withNeededFields(operation.query, operation.operationName);
  const data = needed === null ? drawn.data : needed.asWritten(drawn.data);
  const hasData = drawn.data !== undefined;
  return {
    operation,
    answer: { ...answer, ...(hasData && { data }) },
    drawn,
    at,
    partly: null,
    length,
    before: null,
  };
}
