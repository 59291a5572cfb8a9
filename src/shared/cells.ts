/**
 * Texts that a spreadsheet would take for a formula, or for the end of a cell: signs of formulas in each width that
 * they are typed in, also behind characters that it leaves away or doesn't show, such as blanks, quotes and marks of no
 * width.
 */
const FORMULA =
  /^(?:[\t\r\n]|[\s\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\p{Pi}\p{Pf}"'`„‚＂＇]*[=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋−])/u;

/** The mark that has Excel read a file as UTF-8 that is opened in it without questions. */
export const BYTE_ORDER_MARK = '\ufeff';

/** Writes a value as text without types: nothing for null, JSON for a value that has parts. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Writes a value as text. One that a spreadsheet would take for a formula is marked as text by an apostrophe. */
function markedText(value: unknown): string {
  const text = cellText(value);
  return typeof value === 'string' && FORMULA.test(value) ? `'${text}` : text;
}

/** Writes a value as RFC 4180 has it. */
function csvCell(value: unknown): string {
  const cell = markedText(value);
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Writes a row as spreadsheets take it from the clipboard. */
export function tsvLine(values: readonly unknown[]): string {
  const cells = values.map((value) => markedText(value).replace(/[\t\r\n]+/g, ' '));
  return `${cells.map((cell) => (cell.startsWith('"') ? `"${cell.replaceAll('"', '""')}"` : cell)).join('\t')}\r\n`;
}

export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

/** Writes an object a line. */
export function jsonLine(columns: readonly string[], values: readonly unknown[]): string {
  const fields = columns.map((name, i) => [name, values[i] ?? null] as const);
  return `${JSON.stringify(Object.fromEntries(fields))}\n`;
}
