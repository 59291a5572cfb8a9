/**
 * Bundles everything that `country-graph` always loads, dependencies included, with a separate file for each part that is
 * loaded on demand. So a start reads some dozens of files instead of two thousand, and there is one copy of `graphql`. The
 * bundle is CommonJS: an `import` of a module of Node evaluates all its exports, which loads the rest of Node, so `require`
 * starts faster. Plain JavaScript: see `prepare.mjs`.
 */
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { parse } from 'graphql';
import { rolldown } from 'rolldown';

/** Large packages that are seldom loaded: they are not bundled. */
const APART = /^(apache-arrow|@apollo\/usage-reporting-protobuf|@opentelemetry\/|@redis\/client)/;

const require = createRequire(import.meta.url);

/** The path of a package's file, resolved from another package or from this file. */
function fileOf(/** @type {string} */ name, /** @type {string} */ file, by = '') {
  const main = createRequire(by === '' ? import.meta.url : require.resolve(by)).resolve(name);
  return join(main.slice(0, main.lastIndexOf(`${name}/`) + name.length), file);
}

/**
 * Re-exports parts of a package, each from the file that defines it.
 * @param {string} name
 * @param {string} by
 * @param {string[]} parts names and files, as `Agent of lib/dispatcher/agent.js`
 */
function partsOf(name, by, ...parts) {
  return parts.map((part) => {
    const [exported, file] = part.split(' of ');
    return `export { ${exported} } from ${JSON.stringify(fileOf(name, file, by))};`;
  });
}

/**
 * Packages that dependencies load at startup for features that are not used here: the modules that import them, and their
 * replacements.
 */
const IN_PLACE = [
  // `fetch`, WebSocket, caches and mocks.
  {
    name: 'undici',
    of: /src\/service\/http\.ts$/,
    text: partsOf(
      'undici',
      '',
      'default as Agent of lib/dispatcher/agent.js',
      'default as Client of lib/dispatcher/client.js',
      'default as EnvHttpProxyAgent of lib/dispatcher/env-http-proxy-agent.js',
      'default as Pool of lib/dispatcher/pool.js',
      'default as errors of lib/core/errors.js',
    ),
  },
  // HTTP/2, until a service offers it: loading Node's takes some 10 ms.
  {
    name: './client-h2.js',
    of: /undici\/lib\/dispatcher\/client\.js$/,
    text: [
      `module.exports = (...given) => require(${JSON.stringify(fileOf('undici', 'lib/dispatcher/client-h2.js'))})(...given);`,
    ],
  },
  // All tools except the SDL printer.
  {
    name: '@graphql-tools/utils',
    of: /@apollo\/subgraph/,
    text: partsOf(
      '@graphql-tools/utils',
      '@apollo/subgraph',
      'printSchemaWithDirectives of cjs/print-schema-with-directives.js',
    ),
  },
  // Files instead of glob patterns.
  { name: 'glob', of: /@fastify\/static/, text: ['export const glob = undefined;'] },
  // Validation and serialization by JSON schemas, which no route has, and test requests.
  { name: '@fastify/ajv-compiler', of: /fastify/, text: [] },
  { name: '@fastify/fast-json-stringify-compiler', of: /fastify/, text: [] },
  { name: 'light-my-request', of: /fastify/, text: [] },
  // Servers of HTTP/2 and HTTPS.
  { name: 'node:http2', of: /fastify\/lib\/server\.js$/, text: [] },
  { name: 'node:https', of: /fastify\/lib\/server\.js$/, text: [] },
  // Exemplars, and pushed metrics.
  { name: '@opentelemetry/api', of: /prom-client/, text: [] },
  { name: './lib/pushgateway', of: /prom-client\/index\.js$/, text: [] },
];

/**
 * Work that the build does once, instead of every start: the SDL is already validated (`checkSchema` in `prepare.mjs`), and
 * bundled in parsed form.
 * @param {import('graphql').DocumentNode} sdl without the parts of plugins
 */
const doneBefore = (sdl) => [
  {
    file: /@apollo\/subgraph\/dist\/buildSubgraphSchema\.js$/,
    from: 'buildASTSchema)(subgraph.document)',
    to: 'buildASTSchema)(subgraph.document, { assumeValid: true })',
  },
  {
    file: /src\/graphql\/schema\/schema\.ts$/,
    from: 'parse(readSdl())',
    to: parsed(sdl),
  },
  ...globSync('src/plugins/*/*.graphql').map((path) => ({
    file: new RegExp(`/${dirname(path)}/[^/]+$`),
    from: `readPart(new URL('./${basename(path)}', import.meta.url))`,
    to: parsed(parse(readFileSync(path, 'utf8'), { noLocation: true })),
  })),
];

/** @param {import('graphql').DocumentNode} document */
const parsed = (document) => `JSON.parse(${JSON.stringify(JSON.stringify(document))})`;

/** As deep in the package as the sources, so that relative paths to `schema` and `dist` are right. */
const OUT = 'lib/program';

/**
 * Builds the bundle of a checkout.
 * @param {string} root
 */
export async function bundle(root) {
  const { readSdl } = await import('../lib/graphql/schema/sdl.js');
  const { plugin, check } = leaner(doneBefore(parse(readSdl(), { noLocation: true })));
  const built = await rolldown({
    cwd: root,
    input: { main: 'src/cli/main.ts', 'memory-budget': 'src/config/memory-budget.ts' },
    platform: 'node',
    external: (id, importer) => APART.test(id) && standInFor(id, importer) === undefined,
    plugins: [plugin],
    // What loads a definition of a plugin loads what that takes of the entrance, and nothing else of it.
    treeshake: { moduleSideEffects: [{ test: /\/src\/plugin\/index\.ts$/, sideEffects: false }] },
  });
  const { output } = await built.write({
    dir: join(root, OUT),
    format: 'cjs',
    strict: true,
    // One character beyond Latin-1 would make a string take two bytes for every character.
    charset: 'ascii',
    cleanDir: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  await built.close();
  check();
  writeFileSync(join(root, OUT, 'LICENCES.txt'), licencesOf(output.flatMap((file) => file.moduleIds ?? [])));
}

function standInFor(/** @type {string} */ id, /** @type {string | undefined} */ importer) {
  return IN_PLACE.find(({ name, of }) => name === id && importer !== undefined && of.test(importer));
}

/** Replaces unused features. Its `check` fails if a package no longer has something that was to be replaced. */
function leaner(/** @type {ReturnType<typeof doneBefore>} */ done) {
  const due = new Set([...IN_PLACE, ...done].map((one) => ('name' in one ? one.name : one.from)));
  const plugin = {
    name: 'leaner',
    resolveId(/** @type {string} */ id, /** @type {string | undefined} */ importer) {
      const found = standInFor(id, importer);
      if (found === undefined) return null;
      due.delete(found.name);
      return `\0in place of ${found.name}`;
    },
    load(/** @type {string} */ id) {
      return IN_PLACE.find(({ name }) => id === `\0in place of ${name}`)?.text.join('\n');
    },
    transform(/** @type {string} */ code, /** @type {string} */ id) {
      const found = done.find(({ file, from }) => file.test(id) && code.includes(from));
      if (found === undefined) return null;
      due.delete(found.from);
      return code.replace(found.from, () => found.to);
    },
  };
  const check = () => {
    if (due.size > 0)
      throw new Error(`Packages no longer have ${[...due].join(', ')}: see scripts/bundle.mjs.`);
  };
  return { plugin, check };
}

/** The licences of the bundled packages: most require that their text is included. */
function licencesOf(/** @type {string[]} */ modules) {
  const folders = modules.filter((path) => path.includes('node_modules/')).map(folderOf);
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

/** The folder of the package that a module belongs to: the nearest one with a named `package.json`. */
function folderOf(/** @type {string} */ path) {
  let folder = dirname(path.replace('\0', ''));
  const names = (/** @type {string} */ file) =>
    existsSync(file) && 'name' in JSON.parse(readFileSync(file, 'utf8'));
  while (!names(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}
