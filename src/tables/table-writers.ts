import type { TableColumn } from './answer-tables.ts';
import { arrowWriter } from './arrow-writer.ts';
import { csvLine, jsonLine } from './cells.ts';
import type { TableWriter } from './table-writer.ts';

export interface TableFormat {
  readonly contentType: string;
  /** Loads what the format needs. */
  readonly open: (columns: readonly TableColumn[]) => Promise<TableWriter>;
}

/** Formats by the type of content that a client asks for. */
export const TABLE_FORMATS: Readonly<Record<string, TableFormat>> = {
  'text/csv': {
    contentType: 'text/csv; charset=utf-8; header=present',
    async open(columns) {
      const writer = textWriter(csvLine);
      writer.add(columns.map(({ name }) => name));
      return writer;
    },
  },
  'application/x-ndjson': {
    contentType: 'application/x-ndjson; charset=utf-8',
    async open(columns) {
      const names = columns.map(({ name }) => name);
      return textWriter((row) => jsonLine(names, row));
    },
  },
  'application/vnd.apache.arrow.stream': {
    contentType: 'application/vnd.apache.arrow.stream',
    open: arrowWriter,
  },
};

function textWriter(lineOf: (row: readonly unknown[]) => string): TableWriter {
  let text = '';
  const take = () => {
    const chunk = Buffer.from(text);
    text = '';
    return chunk;
  };
  return {
    add(row) {
      text += lineOf(row);
    },
    waiting: () => text.length,
    take,
    finish: take,
  };
}
