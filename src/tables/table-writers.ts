import type { TableColumn } from './answer-tables.ts';
import { arrowWriter } from './arrow-writer.ts';
import { BYTE_ORDER_MARK, csvLine, jsonLine } from './cells.ts';
import type { TableWriter } from './table-writer.ts';

export interface TableFormat {
  readonly contentType: string;
  /** Loads the modules that the format needs. */
  readonly open: (columns: readonly TableColumn[]) => Promise<TableWriter>;
}

/** Formats by the type of content that a client asks for, some with a parameter. */
export const TABLE_FORMATS: Readonly<Record<string, TableFormat>> = {
  'text/csv': csvFormat('text/csv; charset=utf-8; header=present', ''),
  'text/csv; bom=present': csvFormat('text/csv; charset=utf-8; header=present; bom=present', BYTE_ORDER_MARK),
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

/** @param mark written before the first line */
function csvFormat(contentType: string, mark: string): TableFormat {
  return {
    contentType,
    async open(columns) {
      const writer = textWriter(csvLine, mark);
      writer.add(columns.map(({ name }) => name));
      return writer;
    },
  };
}

function textWriter(lineOf: (row: readonly unknown[]) => string, beginning = ''): TableWriter {
  let text = beginning;
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
