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

/** Characters that are encoded at once. */
const CHUNK_LENGTH = 65_536;

function textWriter(lineOf: (row: readonly unknown[]) => string): TableWriter {
  const chunks: Buffer[] = [];
  let text = '';
  let length = 0;
  const encode = () => {
    const chunk = Buffer.from(text);
    chunks.push(chunk);
    length += chunk.length;
    text = '';
  };
  return {
    add(row) {
      text += lineOf(row);
      if (text.length >= CHUNK_LENGTH) encode();
    },
    bytes: () => length + text.length,
    finish() {
      encode();
      return Buffer.concat(chunks);
    },
  };
}
