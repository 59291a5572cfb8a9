import { type Steps, taken } from '../../shared/async/turns.ts';
import type { Pair, Rectangle, RowsOf } from './demand.ts';
import { FEW_CELLS, fewestParts } from './few-cells.ts';
import { type Cell, type CoverLimits, Grid, OpenPart, type Part } from './grid.ts';

/*
 * Covers demanded pairs with few calls.
 *
 * A call names countries and metrics, and brings every figure of that rectangle. So it may bring figures that nobody
 * demands, as long as that saves another call. Every cover is a partition of the pairs in disguise: give each pair to one
 * of the rectangles that hold it, and shrink each rectangle to what it was given. It is enough to partition the pairs so
 * that the smallest rectangle around each part fits a call.
 *
 * Up to a dozen pairs, all partitions are tried. Beyond, one greedy idea is used in a few ways, and the best wins: fill a
 * call line by line until the next line doesn't fit. Lines are countries or metrics; all columns at once or in groups, so
 * that large tables are cut into tiles instead of bands; or tables of lines with the same columns are merged, so that
 * lists which overlap are told apart.
 */

/**
 * As few rectangles as we can find that hold all pairs, each within the limits; a pair beyond them gets its own.
 * Names are compared as they are, and the order of pairs makes no difference.
 */
export function cover(pairs: readonly Pair[], limits: CoverLimits, rowsOf: RowsOf): readonly Rectangle[] {
  return taken(covering(pairs, limits, rowsOf));
}

/** As {@link cover}; null if it takes more calls than these. Quick if one call is the maximum. */
export function coverWithin(
  mostCalls: number,
  pairs: readonly Pair[],
  limits: CoverLimits,
  rowsOf: RowsOf,
): readonly Rectangle[] | null {
  const whole = smallestAround(pairs);
  // A single pair always gets its call.
  const isOne = whole.countryCodes.length * whole.metricKeys.length <= 1;
  if (mostCalls <= 1 && !isOne && !fitsCall(whole, limits, rowsOf)) return null;
  const rectangles = cover(pairs, limits, rowsOf);
  return rectangles.length <= mostCalls ? rectangles : null;
}

/** Pairs that are gone through in one step. */
export const STEP_PAIRS = 512;

/** As {@link cover}, in steps, since thousands of pairs take long. */
export function* covering(
  pairs: readonly Pair[],
  limits: CoverLimits,
  rowsOf: RowsOf,
): Steps<readonly Rectangle[]> {
  const whole = smallestAround(pairs);
  const { countryCodes, metricKeys } = whole;
  // With more cells than rows, adding them up takes long, and is left to the steps.
  if (countryCodes.length * metricKeys.length <= limits.maxRows && fitsCall(whole, limits, rowsOf))
    return pairs.length === 0 ? [] : [whole];
  yield;
  const grid = yield* Grid.creating(countryCodes, metricKeys, limits, rowsOf);
  const cells = yield* cellsOf(pairs, grid);
  return (yield* partsOf(grid, cells)).map(({ lines, columns }) => ({
    countryCodes: chosen(countryCodes, lines),
    metricKeys: chosen(metricKeys, columns),
  }));
}

function smallestAround(pairs: readonly Pair[]): Rectangle {
  const codes = new Set<string>();
  const keys = new Set<string>();
  for (const { countryCode, metricKey } of pairs) {
    codes.add(countryCode);
    keys.add(metricKey);
  }
  return { countryCodes: [...codes].sort(), metricKeys: [...keys].sort() };
}

/** As {@link Grid.enclose} decides for all cells, without a grid. */
function fitsCall(rectangle: Rectangle, limits: CoverLimits, rowsOf: RowsOf): boolean {
  const { countryCodes, metricKeys } = rectangle;
  return (
    Math.max(countryCodes.length, metricKeys.length) <= limits.maxCodes &&
    countryCodes.join().length + metricKeys.join().length <= limits.maxAddress &&
    expectedRows(rectangle, rowsOf, limits.maxRows) <= limits.maxRows
  );
}

/** Stops adding beyond `most`. */
export function expectedRows(
  { countryCodes, metricKeys }: Rectangle,
  rowsOf: RowsOf,
  most = Number.POSITIVE_INFINITY,
): number {
  let rows = 0;
  for (const countryCode of countryCodes) {
    for (const metricKey of metricKeys) rows += rowsOf(countryCode, metricKey);
    if (rows > most) break;
  }
  return rows;
}

function chosen(names: readonly string[], indexes: readonly number[]): readonly string[] {
  return indexes.toSorted((a, b) => a - b).map((index) => names[index] as string);
}

/** Each once, by line and column. */
function* cellsOf(pairs: readonly Pair[], { lines, columns }: Grid): Steps<readonly Cell[]> {
  const lineOf = new Map(lines.map((name, index) => [name, index]));
  const columnOf = new Map(columns.map((name, index) => [name, index]));
  const isDemanded = new Uint8Array(lines.length * columns.length);
  for (const [index, { countryCode, metricKey }] of pairs.entries()) {
    isDemanded[(lineOf.get(countryCode) as number) * columns.length + (columnOf.get(metricKey) as number)] =
      1;
    if (index % STEP_PAIRS === STEP_PAIRS - 1) yield;
  }
  const cells: Cell[] = [];
  for (const line of lines.keys()) {
    for (const column of columns.keys())
      if (isDemanded[line * columns.length + column] === 1) cells.push({ line, column });
    yield;
  }
  return cells;
}

function* partsOf(grid: Grid, cells: readonly Cell[]): Steps<readonly Part[]> {
  const alone: Part[] = [];
  const fitting: Cell[] = [];
  for (const cell of cells) {
    const { line, column } = cell;
    if (grid.enclose([line], [column]) === null)
      alone.push({ lines: [line], columns: [column], rows: grid.rowsAt(line, column) });
    else fitting.push(cell);
  }
  yield;
  if (fitting.length === 0) return alone;
  const parts = fitting.length <= FEW_CELLS ? fewestParts(grid, fitting) : yield* greedyParts(grid, fitting);
  return [...alone, ...parts];
}

/** The best of all greedy ways, along lines and along columns. */
function* greedyParts(grid: Grid, cells: readonly Cell[]): Steps<readonly Part[]> {
  const lines = linesOf(cells);
  const demandedRows = rowsOf(grid, lines);
  const fewest = Math.ceil(demandedRows / grid.limits.maxRows);
  let best: readonly Part[] | null = null;
  for (const isFlipped of [false, true]) {
    const along = isFlipped ? grid.flipped() : grid;
    const turned = isFlipped ? linesOf(cells.map(flippedCell)) : lines;
    for (const way of waysOf(along, turned)) {
      const parts = yield* way;
      const found = isFlipped ? parts.map(flippedPart) : parts;
      if (best === null || isBetter(found, best)) best = found;
      if (best.length <= fewest && totalRows(best) <= demandedRows) return best;
      yield;
    }
  }
  return best as readonly Part[];
}

const flippedCell = ({ line, column }: Cell): Cell => ({ line: column, column: line });
const flippedPart = ({ lines, columns, rows }: Part): Part => ({ lines: columns, columns: lines, rows });

/** True for fewer calls, then fewer rows that nobody demands, then calls of more equal size. */
function isBetter(parts: readonly Part[], than: readonly Part[]): boolean {
  return (
    (parts.length - than.length ||
      totalRows(parts) - totalRows(than) ||
      unevenness(parts) - unevenness(than)) < 0
  );
}

function totalRows(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + part.rows, 0);
}

/** Least if parts of equal number and total all have the same size. */
function unevenness(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + part.rows ** 2, 0);
}

/** A line with its demanded columns, ascending. */
interface Line {
  readonly line: number;
  readonly columns: readonly number[];
}

function linesOf(cells: readonly Cell[]): readonly Line[] {
  return [...Map.groupBy(cells, ({ line }) => line)]
    .map(([line, some]) => ({ line, columns: some.map(({ column }) => column).sort((a, b) => a - b) }))
    .sort((a, b) => a.line - b.line);
}

/** Groups that the columns of a large table are cut into, at most. */
const MOST_GROUPS = 16;

/** Above this number of different lists, lines are noise rather than lists that somebody wrote. */
const MOST_LISTS = 24;

/** The most parts that are merged in pairs. */
const MOST_MERGED = 100;

function* waysOf(grid: Grid, lines: readonly Line[]): Iterable<Steps<readonly Part[]>> {
  yield filling(grid, lines);
  yield filling(
    grid,
    lines.toSorted((a, b) => rowsOf(grid, [b]) - rowsOf(grid, [a])),
  );
  yield mergingTables(grid, lines);
  const columns = [...new Set(lines.flatMap((line) => line.columns))].sort((a, b) => a - b);
  for (let groups = 2; groups <= Math.min(MOST_GROUPS, columns.length); groups += 1)
    yield fillingGroups(grid, lines, columns, Math.ceil(columns.length / groups));
}

/**
 * Fills calls line by line; a line that is too long for a call is cut. Each piece goes to the call that brings the fewest
 * unwanted rows with it, or begins a call.
 */
function* filling(grid: Grid, lines: readonly Line[]): Steps<OpenPart[]> {
  const parts: OpenPart[] = [];
  for (const { line, columns } of lines) {
    for (let left = columns; left.length > 0; ) {
      const piece = longestPiece(grid, line, left);
      addTo(parts, line, piece, grid);
      left = left.slice(piece.length);
    }
    yield;
  }
  return parts;
}

function addTo(parts: OpenPart[], line: number, columns: readonly number[], grid: Grid): void {
  const ownRows = rowsOf(grid, [{ line, columns }]);
  let best: { readonly part: OpenPart; readonly rows: number } | null = null;
  for (const part of parts) {
    if (part.rows + ownRows > grid.limits.maxRows) continue;
    const rows = part.rowsWith(line, columns);
    if (rows === Number.POSITIVE_INFINITY) continue;
    if (best === null || rows - part.rows < best.rows - best.part.rows) best = { part, rows };
  }
  const part = best?.part ?? new OpenPart(grid);
  if (best === null) parts.push(part);
  part.add(line, columns, best?.rows ?? ownRows);
}

/** As many columns from the start as one call can bring for a line. */
function longestPiece(grid: Grid, line: number, columns: readonly number[]): readonly number[] {
  if (grid.enclose([line], columns) !== null) return columns;
  let [fits, tooMany] = [1, columns.length];
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (grid.enclose([line], columns.slice(0, middle)) === null) tooMany = middle;
    else fits = middle;
  }
  return columns.slice(0, fits);
}

/** For tables that are much longer and wider than a call: tiles instead of bands. */
function* fillingGroups(
  grid: Grid,
  lines: readonly Line[],
  columns: readonly number[],
  size: number,
): Steps<readonly Part[]> {
  const parts: Part[] = [];
  for (let from = 0; from < columns.length; from += size) {
    const group = new Set(columns.slice(from, from + size));
    const some = lines.map((one) => ({ ...one, columns: one.columns.filter((column) => group.has(column)) }));
    parts.push(...(yield* filling(grid, some)));
  }
  return parts;
}

/** The largest table is merged with the one that brings the fewest unwanted rows for its own, until none fits. */
function* mergingTables(grid: Grid, lines: readonly Line[]): Steps<readonly Part[]> {
  let waiting: Part[] = [];
  for (const table of yield* tablesIn(grid, lines)) waiting.push(...(yield* filling(grid, table)));
  if (waiting.length > MOST_MERGED) return waiting;
  waiting.sort((a, b) => b.rows - a.rows);
  const merged: Part[] = [];
  while (waiting.length > 0) {
    const [largest, ...others] = waiting as [Part, ...Part[]];
    const best = leastWasteful(grid, largest, others);
    if (best === null) merged.push(largest);
    waiting = best === null ? others : [best.both, ...others.filter((part) => part !== best.part)];
    yield;
  }
  return merged;
}

/**
 * Demands mostly come as lists of countries for lists of metrics, which overlap. Each list of metrics goes with all
 * countries that ask for at least these; the table with most rows is taken first, then the one with most of the rest.
 */
function* tablesIn(grid: Grid, lines: readonly Line[]): Steps<readonly (readonly Line[])[]> {
  const byList = Map.groupBy(lines, ({ columns }) => columns.join());
  if (byList.size > MOST_LISTS) return [...byList.values()];
  const left = new Map(lines.map(({ line, columns }) => [line, new Set(columns)]));
  const isLeft = (line: number, column: number) => left.get(line)?.has(column) === true;
  let candidates = [...byList.values()].map(([first]) => {
    const { columns } = first as Line;
    return lines.flatMap(({ line }) =>
      columns.every((column) => isLeft(line, column)) ? { line, columns } : [],
    );
  });
  const tables: Line[][] = [];
  while (candidates.length > 0) {
    yield;
    const largest = candidates.reduce((a, b) => (rowsOf(grid, b) > rowsOf(grid, a) ? b : a));
    tables.push(largest);
    for (const { line, columns } of largest) for (const column of columns) left.get(line)?.delete(column);
    candidates = candidates.map((table) => restOf(table, isLeft)).filter((table) => table.length > 0);
  }
  return tables;
}

function restOf(table: readonly Line[], isLeft: (line: number, column: number) => boolean): Line[] {
  return table
    .map(({ line, columns }) => ({ line, columns: columns.filter((column) => isLeft(line, column)) }))
    .filter(({ columns }) => columns.length > 0);
}

function rowsOf(grid: Grid, lines: readonly Line[]): number {
  return lines.reduce(
    (sum, { line, columns }) => columns.reduce((rows, column) => rows + grid.rowsAt(line, column), sum),
    0,
  );
}

function leastWasteful(grid: Grid, whole: Part, others: readonly Part[]) {
  let best: { readonly part: Part; readonly both: Part; readonly waste: number } | null = null;
  for (const part of others) {
    const both = grid.enclose(union(whole.lines, part.lines), union(whole.columns, part.columns));
    if (both === null) continue;
    const waste = (both.rows - whole.rows - part.rows) / Math.max(1, part.rows);
    if (best === null || waste < best.waste) best = { part, both, waste };
  }
  return best;
}

function union(some: readonly number[], others: readonly number[]): readonly number[] {
  return [...new Set([...some, ...others])];
}
