/**
 * Makes one program of what `country-graph` always loads, with its packages in it, and a file for each part that is loaded on
 * demand: a start reads a dozen files in place of two thousand, and has one `graphql`. Plain JavaScript: see `prepare.mjs`.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';

/** Packages that are large and seldom loaded: they stay where they are installed. */
const APART = /^(apache-arrow|@apollo\/usage-reporting-protobuf|@opentelemetry\/|@redis\/client)/;

/** Depth in the package at which sources lie too, so that their paths to `schema` and `dist` hold. */
const OUT = 'lib/program';

/**
 * Builds the program of a checkout.
 * @param {string} root
 */
export async function bundle(root) {
  const built = await rolldown({
    cwd: root,
    input: { main: 'src/cli/main.ts', 'memory-budget': 'src/memory-budget.ts' },
    platform: 'node',
    external: APART,
  });
  const { output } = await built.write({
    dir: join(root, OUT),
    format: 'esm',
    // A text with one letter beyond Latin-1 takes two bytes for each.
    charset: 'ascii',
    cleanDir: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  await built.close();
  writeFileSync(join(root, OUT, 'LICENCES.txt'), licencesOf(output.flatMap((file) => file.moduleIds ?? [])));
}

/** Returns the licences of the packages that modules are of, each with the package's name: most ask for no more. */
function licencesOf(/** @type {string[]} */ modules) {
  const folders = modules.filter((path) => path.includes('node_modules')).map(folderOf);
  return [...new Set(folders)]
    .toSorted()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
      const text = file === undefined ? '' : `\n\n${readFileSync(join(folder, file), 'utf8').trim()}`;
      return `${name} ${version}: ${license}${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** Returns the folder of the package that a module is of: the nearest one that says its name. */
function folderOf(/** @type {string} */ path) {
  let folder = dirname(path.replace('\0', ''));
  const names = (/** @type {string} */ file) =>
    existsSync(file) && 'name' in JSON.parse(readFileSync(file, 'utf8'));
  while (!names(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}
