import { stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { GraphQLError } from 'graphql';
import type { AnswerTable, listed } from '../graphql/request/answer-tables.ts';
import { arrowWriter } from '../shared/arrow.ts';
import { cellText, csvLine, jsonLine } from '../shared/cells.ts';
import { messageOf } from '../shared/errors.ts';
import { type FileError, fileErrorAt, readText, shownLine, textIn } from '../shared/text-files.ts';

/** An error that the user can fix, who reads its message and no stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no answer in time';
  const { cause } = error;
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? reasonOf(cause) : error.message;
}

/** The operation is standard input for `-`, a file if there is one of the name, or else the text itself. */
export async function questionFrom(
  source: string,
  options: { readonly variables: string; readonly operation?: string },
) {
  const { variables, operation } = options;
  return {
    query: await operationFrom(source),
    variables: variablesIn(variables),
    ...(operation === undefined ? {} : { operationName: operation }),
  };
}

/** @throws CommandError */
function variablesIn(option: string): unknown {
  try {
    return JSON.parse(option);
  } catch {
    throw new CommandError('--variables must be JSON.');
  }
}

/** @throws CommandError or FileError */
export async function operationFrom(source: string): Promise<string> {
  if (source === '-') return graphqlIn(textIn(await buffer(process.stdin), STANDARD_INPUT), STANDARD_INPUT);
  const isFile = await stat(source).then(
    (stats) => stats.isFile(),
    () => false,
  );
  if (isFile) return graphqlIn(await readText(source), source);
  if (source.includes('{')) return source;
  throw new CommandError(
    `There is no file ${JSON.stringify(source)}, and it is no operation either. An operation begins with { or its kind: '{ countries { name } }'.`,
  );
}

const STANDARD_INPUT = 'Standard input';

/**
 * @returns the text
 * @throws FileError if it is none
 */
export async function graphqlIn(text: string, file: string): Promise<string> {
  const { parse } = await import('graphql');
  try {
    parse(text, { noLocation: true });
    return text;
  } catch (error) {
    throw graphqlError(error, file, text);
  }
}

/**
 * Names the line of an error of graphql-js's parser.
 * @param text of the whole file
 * @param linesBefore those before the GraphQL in it
 */
export function graphqlError(error: unknown, file: string, text: string, linesBefore = 0): FileError {
  // A text that is nested too deeply fails otherwise.
  const { line = 1 } = (error as GraphQLError).locations?.[0] ?? {};
  const at = linesBefore + line;
  return fileErrorAt(file, 'no GraphQL', at, `${messageOf(error)}, at ${shownLine(text, at)}`);
}

type ListedTable = ReturnType<typeof listed>[number];

/** Column for the list of a row, if there are several lists. */
const LIST = 'list';

/** Characters of a cell in a terminal; the other formats leave nothing out. */
const MAX_CELL = 60;

export function formatted(tables: readonly ListedTable[], format: 'table' | 'csv' | 'ndjson'): string {
  if (tables.length === 0) return '';
  if (format === 'table') return tables.map((table) => aligned(table, tables.length > 1)).join('\n');
  const isOne = tables.length === 1;
  if (format === 'ndjson') {
    return tables
      .flatMap(({ path, columns, rows }) => {
        const names = isOne ? columns : [LIST, ...columns];
        return rows.map((row) => jsonLine(names, isOne ? row : [path, ...row]));
      })
      .join('');
  }
  const columns = [...new Set(tables.flatMap((table) => table.columns))];
  const lines = tables.flatMap((table) => {
    const places = columns.map((column) => table.columns.indexOf(column));
    return table.rows.map((row) => [...(isOne ? [] : [table.path]), ...places.map((place) => row[place])]);
  });
  return [[...(isOne ? [] : [LIST]), ...columns], ...lines].map(csvLine).join('');
}

/** The rows of all lists, as in CSV. */
export async function arrowOf(tables: readonly AnswerTable[], data: unknown): Promise<Uint8Array> {
  const isOne = tables.length === 1;
  const columns = new Map<string, AnswerTable['columns'][number]>(
    isOne ? [] : [[LIST, { name: LIST, kind: 'text' }]],
  );
  for (const { name, kind } of tables.flatMap((table) => table.columns)) {
    const sameName = columns.get(name);
    columns.set(name, { name, kind: sameName === undefined || sameName.kind === kind ? kind : 'text' });
  }
  const writer = await arrowWriter([...columns.values()]);
  for (const table of tables) {
    const places = [...columns.keys()].map((name) =>
      table.columns.findIndex((column) => column.name === name),
    );
    for (const row of table.rows(data as Parameters<typeof table.rows>[0]))
      writer.add(places.map((place, i) => (!isOne && i === 0 ? table.path : row[place])));
  }
  return writer.finish();
}

function aligned({ path, columns, rows }: ListedTable, isNamed: boolean): string {
  const cells = [columns, ...rows.map((row) => row.map(cellText))].map((line) => line.map(shown));
  const isNumeric = columns.map((_, i) => rows.every((row) => isNumber(row[i])));
  const widths = columns.map((_, i) => cells.reduce((most, line) => Math.max(most, line[i]?.length ?? 0), 0));
  const lines = cells.map((line) =>
    line
      .map((cell, i) => (isNumeric[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  const heading = isNamed ? [path] : [];
  return `${[...heading, ...lines].join('\n')}\n`;
}

function isNumber(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'number' || JSON.isRawJSON(value);
}

/** Removes control characters, which a terminal would obey. */
function shown(cell: string): string {
  const plain = cell.replace(/\p{Cc}+/gu, ' ');
  return plain.length > MAX_CELL ? `${plain.slice(0, MAX_CELL - 1)}…` : plain;
}
