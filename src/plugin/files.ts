import type { z } from 'zod';

/**
 * Files of the operator, read and written as the program does its own. Errors name the file, the line and what is wrong there,
 * for people who see no stack.
 */
export interface PluginFiles {
  /** Decodes UTF-8 and UTF-16; lines end in `\n`. */
  readText(file: string): Promise<string>;
  /**
   * Reads a text of JSON, which keeps all digits, and checks it.
   * @param firstLine of the text in its file; 1 if left out
   */
  checkedJson<Schema extends z.ZodType>(
    schema: Schema,
    text: string,
    file: string,
    firstLine?: number,
  ): z.output<Schema>;
  /** Checks a value of a text of JSON. */
  checked<Schema extends z.ZodType>(
    schema: Schema,
    value: unknown,
    text: string,
    file: string,
  ): z.output<Schema>;
  /** Readers find the former text or the new one, whoever else writes the file at the same time. */
  replace(file: string, text: string): Promise<void>;
  /** Does work that no other process does at the same time, for the same file. */
  locked<Result>(file: string, work: () => Promise<Result>): Promise<Result>;
  /**
   * Reads a file at once, and again each time it changes.
   * @param onProblem told why a changed file can't be read: the earlier content stays until it can
   * @param lookMs between looks; `look` is one at once
   * @throws the error of the first read
   */
  watch<Content>(
    file: string,
    read: () => Promise<Content>,
    onProblem: (problem: unknown) => void,
    lookMs?: number,
  ): Promise<{ readonly content: Content; look(): Promise<void>; stop(): void }>;
  /** True for an error of these. */
  isFileError(error: unknown): error is Error;
  /** The path of a file of the gateway's package. */
  ofPackage(path: string): string;
}
