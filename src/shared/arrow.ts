import type { Builder, DataType } from 'apache-arrow';
import { cellText } from './cells.ts';
import { asNumber } from './exact-json.ts';

/** For typed formats: `text` also for enums and our own scalars. */
export type ColumnKind = 'integer' | 'number' | 'boolean' | 'text' | 'json';

export interface TableColumn {
  /** Response names below the outermost list, such as `capital` or `observations.value`. */
  readonly name: string;
  readonly kind: ColumnKind;
}

/** Writes a table row by row; its bytes are taken as they come. */
export interface TableWriter {
  add(row: readonly unknown[]): void;
  /** Bytes that can be taken, roughly. */
  waiting(): number;
  take(): Uint8Array;
  /** Takes the rest, with the end of the format. */
  finish(): Uint8Array;
}

const BATCH_ROWS = 512;

/** Writes Arrow's stream format, with nullable columns of the schema's types. The library is only loaded when needed. */
export async function arrowWriter(columns: readonly TableColumn[]): Promise<TableWriter> {
  const arrow = await import('apache-arrow');
  const types: Readonly<Record<ColumnKind, () => DataType>> = {
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
  /** The library's own sink keeps all bytes until the end. */
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

function typed(value: unknown, kind: ColumnKind = 'text'): unknown {
  if (value === null || value === undefined) return null;
  if (kind === 'json') return JSON.stringify(value);
  return kind === 'text' ? cellText(value) : asNumber(value);
}
