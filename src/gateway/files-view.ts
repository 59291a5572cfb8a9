import type { PluginFiles } from '../plugin/files.ts';
import { packageFile } from '../shared/own-version.ts';
import { checked, checkedJson, FileError, readText, replaceFile } from '../shared/text-files.ts';

export const files: PluginFiles = {
  readText,
  checkedJson,
  checked: (schema, value, text, file) => checked(schema, value, text, file),
  replace: replaceFile,
  locked: async (file, work) => (await import('../shared/file-lock.ts')).withFileLock(file, work),
  watch: async (file, read, onProblem, lookMs) =>
    (await import('../graphql/request/trusted.ts')).watchFiles(file, read, onProblem, lookMs),
  isFileError: (error) => error instanceof FileError,
  ofPackage: packageFile,
};
