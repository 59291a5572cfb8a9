import type { Builder, DataType } from 'apache-arrow';
import { asNumber, numberOf } from '../../exact-json.ts';
import type { TableColumn } from './answer-tables.ts';
import { BYTE_ORDER_MARK, cellText, csvLine, jsonLine } from './cells.ts';

/** Takes the rows of a table, one at a time. */
export interface TableWriter {
  add(row: readonly unknown[]): void;
  /** Bytes written and not yet taken, roughly. */
  waiting(): number;
  /** Takes the bytes written since the last time. */
  take(): Uint8Array;
  /** Takes the rest as `take` does, and with the end of the format. */
  finish(): Uint8Array;
}

/** Rows of one record batch. */
const BATCH_ROWS = 512;

/**
 * Writes the stream format of Apache Arrow: columns as the schema types them, each nullable. Numbers are those of
 * JavaScript, and a value that is neither number nor boolean is text. The library is loaded only if somebody asks for
 * that.
 */
async function arrowWriter(columns: readonly TableColumn[]): Promise<TableWriter> {
  const arrow = await import('apache-arrow');
  const types: Readonly<Record<TableColumn['kind'], () => DataType>> = {
    integer: () => new arrow.Int32(),
    number: () => new arrow.Float64(),
    boolean: () => new arrow.Bool(),
    text: () => new arrow.Utf8(),
    json: () => new arrow.Utf8(),
  };
  const fields = columns.map(({ name, kind }) => new arrow.Field(name, types[kind](), true));
  const schema = new arrow.Schema(fields);
  const struct = new arrow.Struct(fields);
  const builders: readonly Builder[] = fields.map(({ type }) =>
    arrow.makeBuilder({ type, nullValues: [null] }),
  );
  const written: Uint8Array[] = [];
  /** Collects bytes by itself: the library's own sink gathers them until somebody reads all of them. */
  class Sink extends arrow.AsyncByteQueue<Uint8Array> {
    override write(bytes: Uint8Array): void {
      if (bytes.byteLength > 0) written.push(bytes);
    }
  }
  const writer = new arrow.RecordBatchStreamWriter();
  writer.reset(new Sink(), schema);
  let rows = 0;
  let bytes = 0;

  function flush(): void {
    const children = builders.map((builder) => builder.flush());
    const data = arrow.makeData({ type: struct, length: rows, nullCount: 0, children });
    writer.write(new arrow.RecordBatch(schema, data));
    bytes += children.reduce((sum, { byteLength }) => sum + byteLength, 0);
    rows = 0;
  }

  function take(): Uint8Array {
    bytes = 0;
    return Buffer.concat(written.splice(0));
  }

  return {
    add(row) {
      for (const [i, builder] of builders.entries()) builder.append(typed(row[i], columns[i]?.kind));
      rows += 1;
      if (rows === BATCH_ROWS) flush();
    },
    waiting: () => bytes,
    take,
    finish() {
      if (rows > 0) flush();
      writer.finish();
      return take();
    },
  };
}

function typed(value: unknown, kind: TableColumn['kind'] = 'text'): unknown {
  if (value === null || value === undefined) return null;
  if (kind === 'json') return JSON.stringify(value);
  return kind === 'text' ? cellText(value) : asNumber(value);
}

interface TableFormat {
  readonly contentType: string;
  /** Loads the modules that the format needs. */
  readonly open: (columns: readonly TableColumn[]) => Promise<TableWriter>;
}

/** Formats by the type of content that a client asks for, some with a parameter. */
const TABLE_FORMATS: Readonly<Record<string, TableFormat>> = {
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

/** Types that are JSON's to answer, by name or as part of a range. */
const JSON_TYPES = /^(application\/(json|graphql-response\+json|\*)|\*\/\*)$/;

/** Returns the format of tables that a client asks for; null if it asks for none, or likes JSON no less. */
export function tableFormatFor(accepts: string | undefined): TableFormat | null {
  if (accepts === undefined) return null;
  let best: { readonly weight: number; readonly format: TableFormat | null } = { weight: 0, format: null };
  for (const range of accepts.split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const format = formatOf(parameters.includes(MARKED) ? `${name}; ${MARKED}` : name) ?? formatOf(name);
    const weight = weightIn(parameters);
    if (weight > best.weight && (format !== null || JSON_TYPES.test(name))) best = { weight, format };
  }
  return best.format;
}

/** The parameter of a format of texts that begin with a byte order mark. */
const MARKED = 'bom=present';

function formatOf(name: string): TableFormat | null {
  return Object.hasOwn(TABLE_FORMATS, name) ? (TABLE_FORMATS[name] ?? null) : null;
}

function weightIn(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  const weight = given === undefined ? 1 : (numberOf(given) ?? 0);
  return weight >= 0 && weight <= 1 ? weight : 0;
}
