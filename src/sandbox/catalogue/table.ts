/**
 * The cells of a table written as text: a row a line, cells divided by `|`. The catalogues are kept so
 * because a line can be read across, compared in a diff and counted, which an object of seventeen members
 * can't.
 *
 * @throws Error if a row hasn't as many cells as there are columns: a catalogue with a hole must not start.
 */
export function rowsOf<Column extends string>(
  columns: readonly Column[],
  text: string,
): Record<Column, string>[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const cells = line.split('|').map((cell) => cell.trim());
      if (cells.length !== columns.length) throw new Error(`${cells.length} cells in the row: ${line}`);
      return Object.fromEntries(columns.map((column, i) => [column, cells[i]])) as Record<Column, string>;
    });
}

/** The words of a cell; none if it is empty. */
export function wordsOf(cell: string): string[] {
  return cell === '' ? [] : cell.split(/\s+/);
}
