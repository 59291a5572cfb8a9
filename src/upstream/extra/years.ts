/** Years to ask for, both included; a side that is left out is open. */
export interface YearsParams {
  readonly startYear?: number | undefined;
  readonly endYear?: number | undefined;
}
