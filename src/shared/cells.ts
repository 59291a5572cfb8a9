/**
 * Texts that a spreadsheet would take for a formula, or for the end of a cell: the signs of formulas in every width,
 * also behind characters that spreadsheets drop or don't show, such as blanks, quotes and zero-width marks.
 */
const FORMULA =
  /^(?:[\t\r\n]|[\s\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\p{Pi}\p{Pf}"'`„‚＂＇]*[=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋−])/u;

/** By it Excel takes a file for UTF-8 without asking. */
export const BYTE_ORDER_MARK = '\ufeff';

/** Nothing for null, JSON for objects and lists. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Marks what a spreadsheet would take for a formula as text, by an apostrophe. */
function markedText(value: unknown): string {
  const text = cellText(value);
  return typeof value === 'string' && FORMULA.test(value) ? `'${text}` : text;
}

/** As in RFC 4180. */
function csvCell(value: unknown): string {
  const cell = markedText(value);
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** As spreadsheets take rows from the clipboard. */
export function tsvLine(values: readonly unknown[]): string {
  const cells = values.map((value) => markedText(value).replace(/[\t\r\n]+/g, ' '));
  return `${cells.map((cell) => (cell.startsWith('"') ? `"${cell.replaceAll('"', '""')}"` : cell)).join('\t')}\r\n`;
}

/** One line of CSV, with its end; what has parts is JSON, and no spreadsheet takes a cell for a formula. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

/** One line of NDJSON, with its end. */
export function jsonLine(columns: readonly string[], values: readonly unknown[]): string {
  const fields = columns.map((name, i) => [name, values[i] ?? null] as const);
  return `${JSON.stringify(Object.fromEntries(fields))}\n`;
}
