import type { Steps } from '../../shared/async/turns.ts';
import type { RowsOf } from './demand.ts';

/** The most that one call may bring and name. */
export interface CoverLimits {
  /** Rows that one call may bring. */
  readonly maxRows: number;
  /** Country codes, and likewise metric keys, that one call may name. */
  readonly maxCodes: number;
  /** Characters that the two lists of a call may take together in its address: codes, keys, separating commas. */
  readonly maxAddress: number;
}

/** A call, by indexes of its names. */
export interface Part {
  readonly lines: readonly number[];
  readonly columns: readonly number[];
  /** Expected rows of all its cells, demanded or not. */
  readonly rows: number;
}

/** A demanded pair. */
export interface Cell {
  readonly line: number;
  readonly column: number;
}

/** Countries as lines and metrics as columns, or the other way round, with the rows that each cell would bring. */
export class Grid {
  readonly lines: readonly string[];
  readonly columns: readonly string[];
  readonly limits: CoverLimits;
  readonly #rows: readonly Float64Array[];

  private constructor(
    lines: readonly string[],
    columns: readonly string[],
    limits: CoverLimits,
    rows: readonly Float64Array[],
  ) {
    this.lines = lines;
    this.columns = columns;
    this.limits = limits;
    this.#rows = rows;
  }

  /** In steps, since rows may have to be looked up. */
  static *creating(
    codes: readonly string[],
    keys: readonly string[],
    limits: CoverLimits,
    rowsOf: RowsOf,
  ): Steps<Grid> {
    const rows: Float64Array[] = [];
    for (const code of codes) {
      rows.push(Float64Array.from(keys, (key) => rowsOf(code, key)));
      yield;
    }
    return new Grid(codes, keys, limits, rows);
  }

  flipped(): Grid {
    const rows = this.columns.map((_, column) =>
      Float64Array.from(this.#rows, (line) => line[column] as number),
    );
    return new Grid(this.columns, this.lines, this.limits, rows);
  }

  rowsAt(line: number, column: number): number {
    return (this.#rows[line] as Float64Array)[column] as number;
  }

  /** Null if one call can't bring them. */
  enclose(lines: readonly number[], columns: readonly number[]): Part | null {
    const { maxRows, maxCodes, maxAddress } = this.limits;
    if (lines.length > maxCodes || columns.length > maxCodes) return null;
    if (lengthOf(this.lines, lines) + lengthOf(this.columns, columns) > maxAddress) return null;
    let rows = 0;
    for (const line of lines) {
      for (const column of columns) rows += this.rowsAt(line, column);
      if (rows > maxRows) return null;
    }
    return { lines, columns, rows };
  }
}

function lengthOf(names: readonly string[], indexes: readonly number[]): number {
  return indexes.reduce((sum, index) => sum + (names[index] as string).length + 1, -1);
}

/** A call that is filled line by line. It keeps its sum, so that a line costs what it adds. */
export class OpenPart implements Part {
  readonly lines: number[] = [];
  readonly columns: number[] = [];
  rows = 0;
  readonly #grid: Grid;
  readonly #hasColumn: Uint8Array;
  /** Each name counts with a comma, and each of both lists has one comma less. */
  #address = -2;

  constructor(grid: Grid) {
    this.#grid = grid;
    this.#hasColumn = new Uint8Array(grid.columns.length);
  }

  /** Rows with a line added; infinite if one call can't bring it too. */
  rowsWith(line: number, columns: readonly number[]): number {
    const grid = this.#grid;
    const { maxRows, maxCodes, maxAddress } = grid.limits;
    const added = this.#added(columns);
    if (this.lines.length >= maxCodes || this.columns.length + added.length > maxCodes)
      return Number.POSITIVE_INFINITY;
    if (this.#addressWith(line, added) > maxAddress) return Number.POSITIVE_INFINITY;
    let rows = this.rows;
    for (const column of this.columns) rows += grid.rowsAt(line, column);
    for (const column of added) {
      if (rows > maxRows) return Number.POSITIVE_INFINITY;
      rows += grid.rowsAt(line, column);
      for (const other of this.lines) rows += grid.rowsAt(other, column);
    }
    return rows > maxRows ? Number.POSITIVE_INFINITY : rows;
  }

  /** @param rows as {@link rowsWith} told */
  add(line: number, columns: readonly number[], rows: number): void {
    const added = this.#added(columns);
    this.#address = this.#addressWith(line, added);
    this.rows = rows;
    this.lines.push(line);
    for (const column of added) {
      this.columns.push(column);
      this.#hasColumn[column] = 1;
    }
  }

  #added(columns: readonly number[]): readonly number[] {
    return columns.filter((column) => this.#hasColumn[column] === 0);
  }

  #addressWith(line: number, added: readonly number[]): number {
    const { lines, columns } = this.#grid;
    return this.#address + lengthOf(lines, [line]) + 1 + lengthOf(columns, added) + 1;
  }
}
