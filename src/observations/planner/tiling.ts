/**
 * The planner's problem in small numbers. Country codes become lines and metric keys become columns of a grid, and a
 * pair becomes a cell (`line * columns.length + column`). So sets of pairs are lists of integers, and their expected
 * rows one flat array. A grid knows itself turned over (metrics as lines, countries as columns): each strategy along
 * lines works along columns too.
 */
import type { Steps } from '../../shared/async/turns.ts';

/** The most that one call may bring and name. */
export interface CoverLimits {
  /** Rows that one call may bring. */
  readonly maxRows: number;
  /** Country codes, and likewise metric keys, that one call may name. */
  readonly maxCodes: number;
  /** Characters that the two lists of a call may take together in its address: codes, keys, separating commas. */
  readonly maxAddress: number;
}

interface Grid {
  readonly lines: readonly string[];
  readonly columns: readonly string[];
  /** Expected rows by cell, demanded or not. */
  readonly rows: Float64Array;
  /** Length of each column's name with a comma. */
  readonly columnLengths: Float64Array;
  readonly limits: CoverLimits;
  readonly flipped: Grid;
}

/** Demanded cells, always ascending. */
type Cells = readonly number[];

/** The demanded cells of one call, and the rows of the smallest rectangle around them. */
interface Part {
  readonly cells: Cells;
  readonly rows: number;
}

function* creatingGrid(
  lines: readonly string[],
  columns: readonly string[],
  limits: CoverLimits,
  rowsOf: (line: string, column: string) => number,
): Steps<Grid> {
  const rows = new Float64Array(lines.length * columns.length);
  const flippedRows = new Float64Array(rows.length);
  for (const [l, line] of lines.entries()) {
    for (const [c, column] of columns.entries()) {
      const expected = rowsOf(line, column);
      rows[l * columns.length + c] = expected;
      flippedRows[c * lines.length + l] = expected;
    }
    yield;
  }
  const grid: Grid = {
    lines,
    columns,
    rows,
    columnLengths: lengthsOf(columns),
    limits,
    get flipped() {
      return flipped;
    },
  };
  const flipped: Grid = {
    lines: columns,
    columns: lines,
    rows: flippedRows,
    columnLengths: lengthsOf(lines),
    limits,
    flipped: grid,
  };
  return grid;
}

function lengthsOf(names: readonly string[]): Float64Array {
  return Float64Array.from(names, (name) => name.length + 1);
}

/** Cells of the flipped grid, unsorted. */
function flip(grid: Grid, cells: Cells): number[] {
  const height = grid.lines.length;
  const width = grid.columns.length;
  return cells.map((cell) => (cell % width) * height + Math.floor(cell / width));
}

function ascending(cells: number[]): number[] {
  return cells.sort((a, b) => a - b);
}

/** Without the other cells of a rectangle around them. */
function demandedRows(grid: Grid, cells: Cells): number {
  return cells.reduce((sum, cell) => sum + rowsAt(grid, cell), 0);
}

function rowsAt(grid: Grid, cell: number): number {
  return grid.rows[cell] as number;
}

/** Ascending indexes of the lines and columns of a rectangle. */
interface Bounds {
  readonly lines: readonly number[];
  readonly columns: readonly number[];
}

function boundsOf(grid: Grid, cells: Cells): Bounds {
  const width = grid.columns.length;
  const hasLine = new Uint8Array(grid.lines.length);
  const hasColumn = new Uint8Array(width);
  for (const cell of cells) {
    hasLine[Math.floor(cell / width)] = 1;
    hasColumn[cell % width] = 1;
  }
  return { lines: marked(hasLine), columns: marked(hasColumn) };
}

function marked(flags: Uint8Array): number[] {
  const indexes: number[] = [];
  for (let index = 0; index < flags.length; index++) if (flags[index] === 1) indexes.push(index);
  return indexes;
}

/** Undefined if a single call can't bring them. */
function enclose(grid: Grid, cells: Cells): Part | undefined {
  const { maxRows, maxCodes, maxAddress } = grid.limits;
  const { lines, columns } = boundsOf(grid, cells);
  if (lines.length > maxCodes || columns.length > maxCodes) return undefined;
  if (listLength(grid.lines, lines) + listLength(grid.columns, columns) > maxAddress) return undefined;
  let rows = 0;
  for (const line of lines) {
    const base = line * grid.columns.length;
    for (const column of columns) rows += rowsAt(grid, base + column);
    if (rows > maxRows) return undefined;
  }
  return { cells, rows };
}

function listLength(names: readonly string[], indexes: readonly number[]): number {
  return indexes.reduce((sum, index) => sum + lengthAt(names, index), indexes.length - 1);
}

function lengthAt(names: readonly string[], index: number): number {
  return (names[index] as string).length;
}

function fitsAlone(grid: Grid, cell: number): boolean {
  const { maxRows, maxCodes, maxAddress } = grid.limits;
  const width = grid.columns.length;
  const address = lengthAt(grid.lines, Math.floor(cell / width)) + lengthAt(grid.columns, cell % width);
  return rowsAt(grid, cell) <= maxRows && maxCodes >= 1 && address <= maxAddress;
}

/** Demanded cells of one line that fit one call: a line, or a piece of a long one. */
interface Segment {
  readonly line: number;
  readonly cells: number[];
  /** Rows by cell: kept together because weighing reads them all the time. */
  readonly cellRows: number[];
  rows: number;
}

/** Each cell has to fit a call alone. */
function segmentsOf(grid: Grid, cells: Cells): Segment[] {
  const { maxRows, maxCodes, maxAddress } = grid.limits;
  const width = grid.columns.length;
  const segments: Segment[] = [];
  let segment: Segment | undefined;
  let address = 0;
  for (const cell of cells) {
    const line = Math.floor(cell / width);
    const rows = rowsAt(grid, cell);
    const length = lengthAt(grid.columns, cell % width) + 1;
    const isFull =
      segment !== undefined &&
      (segment.rows + rows > maxRows || segment.cells.length >= maxCodes || address + length > maxAddress);
    if (segment?.line !== line || isFull) {
      segment = { line, cells: [], cellRows: [], rows: 0 };
      segments.push(segment);
      address = lengthAt(grid.lines, line) - 1;
    }
    segment.cells.push(cell);
    segment.cellRows.push(rows);
    segment.rows += rows;
    address += length;
  }
  return segments;
}

/** Keeps sums so that weighing a segment, far more frequent than adding one, is one pass. */
class CallBuilder {
  readonly #grid: Grid;
  readonly #cells: number[] = [];
  readonly #columns: number[] = [];
  /** By column: 1 until a segment has brought it. A number, so that weighing multiplies instead of branching. */
  readonly #isNew: Uint8Array;
  /** By column: rows that it would bring for the lines so far. */
  readonly #rowsOfColumn: Float64Array;
  /** By line: rows that it would bring for the first `#columnsSummed` columns. */
  readonly #rowsOfLine: Float64Array;
  readonly #columnsSummed: Uint32Array;
  #lines = 0;
  /** Each name counts with a comma, and each of both lists has one comma less. */
  #address = -2;
  #rows = 0;

  constructor(grid: Grid, first: Segment) {
    this.#grid = grid;
    this.#isNew = new Uint8Array(grid.columns.length).fill(1);
    this.#rowsOfColumn = new Float64Array(grid.columns.length);
    this.#rowsOfLine = new Float64Array(grid.lines.length);
    this.#columnsSummed = new Uint32Array(grid.lines.length);
    this.add(first);
  }

  get rows(): number {
    return this.#rows;
  }

  get part(): Part {
    return { cells: this.#cells, rows: this.#rows };
  }

  /** Infinite if the segment doesn't fit. */
  rowsWith(segment: Segment): number {
    const { columns, columnLengths, lines, limits } = this.#grid;
    const { cells, cellRows } = segment;
    const isNew = this.#isNew;
    const rowsOfColumn = this.#rowsOfColumn;
    const base = segment.line * columns.length;
    let rows = this.#rows + this.#sumLine(segment.line);
    if (rows > limits.maxRows || this.#lines >= limits.maxCodes) return Infinity;
    let names = this.#columns.length;
    let address = this.#address + lengthAt(lines, segment.line) + 1;
    for (let index = 0; index < cells.length; index++) {
      const column = (cells[index] as number) - base;
      const counts = isNew[column] as number;
      names += counts;
      address += counts * (columnLengths[column] as number);
      rows += counts * ((rowsOfColumn[column] as number) + (cellRows[index] as number));
    }
    return rows > limits.maxRows || names > limits.maxCodes || address > limits.maxAddress ? Infinity : rows;
  }

  add(segment: Segment): void {
    const { lines, columns, columnLengths } = this.#grid;
    const base = segment.line * columns.length;
    this.#rows += this.#sumLine(segment.line);
    for (const cell of segment.cells) {
      this.#cells.push(cell);
      const column = cell - base;
      if (this.#isNew[column] === 0) continue;
      this.#isNew[column] = 0;
      this.#columns.push(column);
      this.#address += columnLengths[column] ?? 0;
      this.#rows += (this.#rowsOfColumn[column] ?? 0) + rowsAt(this.#grid, cell);
    }
    this.#lines += 1;
    this.#address += lengthAt(lines, segment.line) + 1;
    const sums = this.#rowsOfColumn;
    for (let column = 0; column < sums.length; column++) {
      sums[column] = (sums[column] ?? 0) + rowsAt(this.#grid, base + column);
    }
  }

  /** Summed lazily, for lines that are weighed. */
  #sumLine(line: number): number {
    const base = line * this.#grid.columns.length;
    let sum = this.#rowsOfLine[line] ?? 0;
    for (let next = this.#columnsSummed[line] ?? 0; next < this.#columns.length; next++) {
      sum += rowsAt(this.#grid, base + (this.#columns[next] ?? 0));
    }
    this.#rowsOfLine[line] = sum;
    this.#columnsSummed[line] = this.#columns.length;
    return sum;
  }
}

/*
 * Ways to part demanded cells into few calls. None is best for all demands: whole tables are best cut, scattered
 * figures gathered, and lists that overlap told apart. So each is a strategy, and {@link tiled} takes the best
 * proposal. All of them are deterministic and bounded.
 */

/** Undefined if it doesn't apply. The cells don't fit one call together, but each does alone. */
type Strategy = (grid: Grid, cells: Cells) => Steps<Part[] | undefined>;

/** Maximum cells for exhaustive search: 3^11 steps, about a millisecond. */
const MOST_ENUMERATED = 12;
/** Cells that `tile` may handle, over all its attempts. */
const TILING_EFFORT = 20_000;
/** Above this, `tile` cuts its attempts and grows only the best. */
const FEW_CELLS = 2_000;
/** Above this number of different lists, lines are noise rather than lists that somebody wrote. */
const MOST_LISTS = 24;
/** Parts that `gather` compares pairwise. */
const MOST_GATHERED = 100;
/** Cells times parts that `refine` may plan again. */
const REFINING_EFFORT = 15_000;

/** Cheapest first; each works along lines, and flipped along columns. */
const FURTHER: readonly Strategy[] = [
  flipped(chunk),
  ...[grow, untangle, tile].flatMap((strategy) => [strategy, flipped(strategy)]),
];

/**
 * Parts cells into as few rectangles as we know how, within the limits; a cell beyond them gets its own. In steps,
 * since many cells take long.
 * @param demanded in any order
 */
export function* tiled(
  lines: readonly string[],
  columns: readonly string[],
  limits: CoverLimits,
  rowsOf: (line: string, column: string) => number,
  demanded: readonly number[],
): Steps<Bounds[]> {
  const grid = yield* creatingGrid(lines, columns, limits, rowsOf);
  const isDemanded = new Uint8Array(grid.rows.length);
  for (const cell of demanded) isDemanded[cell] = 1;
  const [fitting, alone] = [[] as number[], [] as number[][]];
  for (const cell of marked(isDemanded)) {
    if (fitsAlone(grid, cell)) fitting.push(cell);
    else alone.push([cell]);
  }
  yield;
  const parts = fitting.length === 0 ? [] : yield* refine(grid, yield* propose(grid, fitting));
  yield;
  return [...alone, ...parts.map((part) => ascending([...part.cells]))]
    .sort(([a = 0], [b = 0]) => a - b)
    .map((cells) => boundsOf(grid, cells));
}

function* propose(grid: Grid, cells: Cells): Steps<Part[]> {
  const whole = enclose(grid, cells);
  if (whole) return [whole];
  if (cells.length <= MOST_ENUMERATED) return enumerate(grid, cells);
  yield;
  const fewest = fewestCalls(grid, cells);
  const rows = demandedRows(grid, cells);
  yield;
  let best = yield* chunk(grid, cells);
  for (const strategy of FURTHER) {
    if (best.length === fewest && totalRows(best) <= rows) break;
    const parts = yield* strategy(grid, cells);
    if (parts && isBetter(parts, best)) best = parts;
  }
  return best;
}

/** A lower bound; not every set of cells can be parted into as few. */
function fewestCalls(grid: Grid, cells: Cells): number {
  const { maxRows, maxCodes } = grid.limits;
  const { lines, columns } = boundsOf(grid, cells);
  const forRows = Math.ceil(demandedRows(grid, cells) / maxRows) || 1;
  return Math.max(forRows, Math.ceil(lines.length / maxCodes), Math.ceil(columns.length / maxCodes));
}

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

function flipped(strategy: Strategy): Strategy {
  return (grid, cells) => turnedOver(strategy, grid, cells);
}

function* turnedOver(strategy: Strategy, grid: Grid, cells: Cells): Steps<Part[] | undefined> {
  const parts = yield* strategy(grid.flipped, ascending(flip(grid, cells)));
  yield;
  return parts?.map(({ cells, rows }) => ({ cells: flip(grid.flipped, cells), rows }));
}

/**
 * Fills calls line by line. In this order no cut takes fewer calls, so the result is never worse than naming all
 * metrics for some countries at a time. If the number of calls allows it, they are made about equal.
 */
function* chunk(grid: Grid, cells: Cells): Steps<Part[]> {
  const segments = segmentsOf(grid, cells);
  yield;
  const full = yield* cut(grid, segments);
  const even = yield* cut(grid, segments, demandedRows(grid, cells) / full.length);
  return isBetter(even, full) ? even : full;
}

/** Also cuts after a share of rows although more would fit. */
function* cut(grid: Grid, segments: readonly Segment[], share = Infinity): Steps<Part[]> {
  const builders: CallBuilder[] = [];
  let rows = 0;
  for (const segment of segments) {
    const builder = builders.at(-1);
    if (
      !builder ||
      rows + segment.rows / 2 > share * builders.length ||
      builder.rowsWith(segment) === Infinity
    ) {
      builders.push(new CallBuilder(grid, segment));
    } else {
      builder.add(segment);
    }
    rows += segment.rows;
    yield;
  }
  return builders.map((builder) => builder.part);
}

/** Starts with the longest line left, and adds the line that wastes least for its rows, until none fits. */
function* grow(grid: Grid, cells: Cells): Steps<Part[]> {
  const waiting = segmentsOf(grid, cells).sort((a, b) => b.rows - a.rows || a.line - b.line);
  const parts: Part[] = [];
  for (let first = waiting.shift(); first; first = waiting.shift()) {
    const builder = new CallBuilder(grid, first);
    for (let next = takeLeastWasteful(builder, waiting); next; next = takeLeastWasteful(builder, waiting)) {
      builder.add(next);
      yield;
    }
    parts.push(builder.part);
  }
  return parts;
}

/** Undefined if none fits. */
function takeLeastWasteful(builder: CallBuilder, waiting: Segment[]): Segment | undefined {
  let least = Infinity;
  let best: number | undefined;
  let index = 0;
  for (const segment of waiting) {
    const wasted = waste(builder.rowsWith(segment), builder.rows, segment.rows);
    if (wasted < least) {
      least = wasted;
      best = index;
      if (wasted <= 0) break;
    }
    index += 1;
  }
  return best === undefined ? undefined : waiting.splice(best, 1)[0];
}

/** Unwanted rows of a union for each row added. */
function waste(together: number, before: number, added: number): number {
  const excess = together - before - added;
  return excess <= 0 ? excess : excess / Math.max(added, 1);
}

/**
 * Groups columns, and cuts within each group: covers tables longer or much wider than a call by tiles rather than
 * bands. Doesn't apply if more than half of the table is holes.
 */
function* tile(grid: Grid, cells: Cells): Steps<Part[] | undefined> {
  const { lines, columns } = boundsOf(grid, cells);
  if (cells.length * 2 < lines.length * columns.length) return undefined;
  const fill: typeof grow =
    cells.length <= FEW_CELLS ? grow : (grid, cells) => cut(grid, segmentsOf(grid, cells));
  let best: { parts: Part[]; groups: Cells[] } | undefined;
  let lastSize = columns.length;
  let effort = 0;
  for (let count = 2; count <= (best?.parts.length ?? columns.length); count++) {
    const size = Math.ceil(columns.length / count);
    if (size === lastSize) continue;
    lastSize = size;
    effort += cells.length;
    if (effort > TILING_EFFORT) break;
    const groups = groupColumns(grid, cells, columns, size);
    const parts = yield* partsOfAll(groups, (group) => fill(grid, group));
    if (!best || isBetter(parts, best.parts)) best = { parts, groups };
  }
  return best && (yield* partsOfAll(best.groups, (group) => grow(grid, group)));
}

function* partsOfAll(groups: readonly Cells[], fill: (group: Cells) => Steps<Part[]>): Steps<Part[]> {
  const parts: Part[] = [];
  for (const group of groups) parts.push(...(yield* fill(group)));
  return parts;
}

function groupColumns(grid: Grid, cells: Cells, columns: readonly number[], size: number): Cells[] {
  const groupOf = new Map(columns.map((column, index) => [column, Math.floor(index / size)]));
  return [...Map.groupBy(cells, (cell) => groupOf.get(cell % grid.columns.length)).values()];
}

/**
 * Demands mostly come as lists of countries for lists of metrics, which overlap as tables. Each list of metrics goes
 * with all countries that ask for at least these. The largest table becomes one call or several, then the one with
 * most of the rest, and so on.
 */
function* untangle(grid: Grid, cells: Cells): Steps<Part[] | undefined> {
  const width = grid.columns.length;
  const byLine = Map.groupBy(cells, (cell) => Math.floor(cell / width));
  const columnsByLine = [...byLine.values()].map((asked) => asked.map((cell) => cell % width));
  const lists = new Map(columnsByLine.map((columns) => [columns.join(), columns]));
  if (lists.size === 1 || lists.size > MOST_LISTS) return undefined;

  const open = new Set(cells);
  let tables = [...lists.values()].map((list) =>
    [...byLine.keys()]
      .map((line) => list.map((column) => line * width + column))
      .filter((asked) => asked.every((cell) => open.has(cell)))
      .flat(),
  );
  const parts: Part[] = [];
  while (open.size > 0) {
    tables = tables
      .map((table) => table.filter((cell) => open.has(cell)))
      .filter((table) => table.length > 0);
    const largest = tables.reduce((a, b) => (demandedRows(grid, b) > demandedRows(grid, a) ? b : a));
    const table = enclose(grid, ascending(largest));
    parts.push(...(table ? [table] : yield* chunk(grid, largest)));
    for (const cell of largest) open.delete(cell);
  }
  return parts.length <= MOST_GATHERED ? gather(grid, parts) : parts;
}

/** As `grow`, with parts for lines. */
function gather(grid: Grid, parts: readonly Part[]): Part[] {
  const waiting = parts.map(({ cells, rows }) => ({ cells, rows, demanded: demandedRows(grid, cells) }));
  waiting.sort((a, b) => b.rows - a.rows);
  const gathered: Part[] = [];
  for (let first = waiting.shift(); first; first = waiting.shift()) {
    let whole: Part = first;
    let demanded = first.demanded;
    for (;;) {
      let least = Infinity;
      let best: { index: number; whole: Part; demanded: number } | undefined;
      for (const [index, part] of waiting.entries()) {
        if (demanded + part.demanded > grid.limits.maxRows) continue;
        const union = enclose(grid, [...whole.cells, ...part.cells]);
        const wasted = union ? waste(union.rows, whole.rows, part.demanded) : Infinity;
        if (union && wasted < least) {
          least = wasted;
          best = { index, whole: union, demanded: demanded + part.demanded };
        }
      }
      if (!best) break;
      waiting.splice(best.index, 1);
      whole = best.whole;
      demanded = best.demanded;
    }
    gathered.push(whole);
  }
  return gathered;
}

/** One part, and the best tiling of the rest. */
interface BestTiling {
  readonly calls: number;
  readonly rows: number;
  readonly squares: number;
  readonly part: Part | undefined;
  readonly rest: BestTiling | undefined;
}

const NO_CELLS: BestTiling = { calls: 0, rows: 0, squares: 0, part: undefined, rest: undefined };

/** Exhaustive, by bit masks: a part with the first cell, and the best tiling of the rest. */
function enumerate(grid: Grid, cells: Cells): Part[] {
  const sets = 1 << cells.length;
  const partOf: (Part | undefined)[] = Array(sets);
  for (let set = 1; set < sets; set++) {
    const rest = set & (set - 1);
    if (rest !== 0 && !partOf[rest]) continue;
    partOf[set] = enclose(
      grid,
      cells.filter((_, index) => ((set >> index) & 1) === 1),
    );
  }
  const best: (BestTiling | undefined)[] = Array(sets);
  best[0] = NO_CELLS;
  for (let set = 1; set < sets; set++) {
    const rest = set & (set - 1);
    let least: BestTiling | undefined;
    for (let left = rest; ; left = (left - 1) & rest) {
      const part = partOf[set ^ left];
      const rest = best[left];
      if (part && rest && (least === undefined || isLess(rest, part, least))) least = withPart(rest, part);
      if (left === 0) break;
    }
    best[set] = least;
  }
  const parts: Part[] = [];
  for (let tiling = best[sets - 1]; tiling?.part; tiling = tiling.rest) parts.push(tiling.part);
  return parts;
}

function withPart(rest: BestTiling, part: Part): BestTiling {
  return {
    calls: rest.calls + 1,
    rows: rest.rows + part.rows,
    squares: rest.squares + part.rows ** 2,
    part,
    rest,
  };
}

function isLess(rest: BestTiling, part: Part, than: BestTiling): boolean {
  const better =
    rest.calls + 1 - than.calls ||
    rest.rows + part.rows - than.rows ||
    rest.squares + part.rows ** 2 - than.squares;
  return better < 0;
}

/** Parts the smallest calls again while that saves calls: each strategy leaves some far from full. */
function* refine(grid: Grid, parts: Part[]): Steps<Part[]> {
  let refined = parts.toSorted(bySize);
  let effort = 0;
  for (let count = 2; count < refined.length; ) {
    const cells = ascending(refined.slice(0, count).flatMap((part) => part.cells));
    effort += cells.length * count;
    if (effort > REFINING_EFFORT) break;
    const again = fewestCalls(grid, cells) < count ? yield* propose(grid, cells) : undefined;
    if (again && again.length < count) {
      refined = [...again, ...refined.slice(count)].sort(bySize);
      count = 2;
    } else {
      count = Math.ceil(count * 1.5);
    }
  }
  return refined;
}

function bySize(a: Part, b: Part): number {
  return a.rows - b.rows;
}
