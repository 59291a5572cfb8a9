import { readFile } from 'node:fs/promises';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/** Module resolutions that a package with ES modules only can't support. */
const OF_NO_MODULE = ['node10', 'node16-cjs'];

/** Problems that publint and "Are the types wrong?" find in a package, one sentence each. */
export async function packingProblems(tarball: string): Promise<string[]> {
  const data = Uint8Array.from(await readFile(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: data.buffer }, strict: true });
  const checked = await checkPackage(createPackageFromTarballData(data));
  if (checked.types === false) return ['The package has no types.'];
  return [
    ...messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code),
    ...checked.problems
      .filter((problem) => !('resolutionKind' in problem && OF_NO_MODULE.includes(problem.resolutionKind)))
      .map((problem) => JSON.stringify(problem)),
  ];
}
