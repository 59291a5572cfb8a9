/**
 * The planner's problem in small numbers. Country codes become lines and metric keys become columns of a grid, and a
 * pair becomes a cell (`line * columns.length + column`). So sets of pairs are lists of integers, and their expected
 * rows one flat array. A grid knows itself turned over (metrics as lines, countries as columns): each strategy along
 * lines works along columns too.
 */
import type { Steps } from '../async/steps.ts';

/** The most that one call may bring and name. */
export interface CoverLimits {
  /** Rows that one call may bring. */
  readonly maxRows: number;
  /** Country codes, and likewise metric keys, that one call may name. */
  readonly maxCodes: number;
  /** Characters that the two lists of a call may take together in its address: codes, keys, separating commas. */
  readonly maxAddress: number;
}

export interface Grid {
  readonly lines: readonly string[];
  readonly columns: readonly string[];
  /** Expected rows by cell, also of cells that nobody demands. */
  readonly rows: Float64Array;
  /** Characters that each column takes in an address, with a comma. */
  readonly columnLengths: Float64Array;
  readonly limits: CoverLimits;
  readonly flipped: Grid;
}

/** Demanded cells; ascending in every parameter of this type. */
export type Cells = readonly number[];

/** Demanded cells that one call is to bring, with the rows of the smallest rectangle that holds them all. */
export interface Part {
  readonly cells: Cells;
  readonly rows: number;
}

/** Creates a grid in steps, of a line each. */
export function* creatingGrid(
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

/** The same cells as the flipped grid counts them, in no order. */
export function flip(grid: Grid, cells: Cells): number[] {
  const height = grid.lines.length;
  const width = grid.columns.length;
  return cells.map((cell) => (cell % width) * height + Math.floor(cell / width));
}

export function ascending(cells: number[]): number[] {
  return cells.sort((a, b) => a - b);
}

/** Rows of the cells themselves, without the others of a rectangle around them. */
export function demandedRows(grid: Grid, cells: Cells): number {
  return cells.reduce((sum, cell) => sum + rowsAt(grid, cell), 0);
}

export function rowsAt(grid: Grid, cell: number): number {
  return grid.rows[cell] as number;
}

/** Lines and columns of the smallest rectangle that holds the cells, ascending. */
export function boundsOf(grid: Grid, cells: Cells): { lines: number[]; columns: number[] } {
  const width = grid.columns.length;
  const hasLine = new Uint8Array(grid.lines.length);
  const hasColumn = new Uint8Array(width);
  for (const cell of cells) {
    hasLine[Math.floor(cell / width)] = 1;
    hasColumn[cell % width] = 1;
  }
  return { lines: marked(hasLine), columns: marked(hasColumn) };
}

/** Indexes of the flags that are set, ascending. */
export function marked(flags: Uint8Array): number[] {
  const indexes: number[] = [];
  for (let index = 0; index < flags.length; index++) if (flags[index] === 1) indexes.push(index);
  return indexes;
}

/** The cells as one part; undefined if a single call cannot bring them. */
export function enclose(grid: Grid, cells: Cells): Part | undefined {
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

/** True if a call can bring the cell at all. */
export function fitsAlone(grid: Grid, cell: number): boolean {
  const { maxRows, maxCodes, maxAddress } = grid.limits;
  const width = grid.columns.length;
  const address = lengthAt(grid.lines, Math.floor(cell / width)) + lengthAt(grid.columns, cell % width);
  return rowsAt(grid, cell) <= maxRows && maxCodes >= 1 && address <= maxAddress;
}

/** Demanded cells of one line that fit one call together: a whole line, or the pieces of one that is too long. */
export interface Segment {
  readonly line: number;
  readonly cells: number[];
  /** Rows of each of the cells: in one place, because weighing reads them all the time. */
  readonly cellRows: number[];
  rows: number;
}

/** The cells line by line. Each cell has to fit a call alone. */
export function segmentsOf(grid: Grid, cells: Cells): Segment[] {
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

/**
 * A part in the making. Segments are weighed against it far more often than they are added: by the sums kept here,
 * weighing is one pass over the segment.
 */
export class CallBuilder {
  readonly #grid: Grid;
  readonly #cells: number[] = [];
  readonly #columns: number[] = [];
  /** By column: 1 until a segment has brought it. A number, so that weighing multiplies rather than branches. */
  readonly #isNew: Uint8Array;
  /** By column: the rows that it would bring for the lines so far. */
  readonly #rowsOfColumn: Float64Array;
  /** By line: the rows that it would bring for the first columns; their number stands in `#columnsSummed`. */
  readonly #rowsOfLine: Float64Array;
  readonly #columnsSummed: Uint32Array;
  #lines = 0;
  /**
   * Characters in the address. Each name counts with a comma, and each of the two lists has one comma less than names.
   */
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

  /** Rows of this part with the segment added; infinite if it does not fit. */
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

  /** Rows that the line would bring for the columns so far. Only lines that are weighed are ever summed. */
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
