/**
 * `npm run prepare`, which npm runs by itself after `npm ci` in a checkout, and before `npm pack`: builds GraphiQL's pages,
 * the JavaScript and types of the library, and the program that `bin` runs. Plain JavaScript, since after
 * `npm ci --omit=dev` the Node at hand may be one that reads no TypeScript.
 *
 * Packages of GraphiQL's pages have a lock of their own (`src/graphiql`), are larger than most of the others, and run nowhere
 * but in the bundle. So they are installed for the build and removed after it; if they are there already
 * (`npm ci --prefix src/graphiql`, to work on the pages), they stay. `--without-pages` leaves the pages as they are.
 */
import { spawnSync } from 'node:child_process';
import fs, { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Names that a Node before 22 lacks (`fs.globSync`) are looked up when something is built.
const root = fileURLToPath(new URL('../', import.meta.url));
const GRAPHIQL = `${root}src/graphiql/`;
const MODULES = `${GRAPHIQL}node_modules`;
const BUILDERS = ['vite', 'tsc', 'rolldown'];

/**
 * Files of packages that no program reads: maps of sources and the sources, words for people, tests, builds for browsers and
 * for other readers than Node, types for CommonJS, and the alphabets of bodies that a server of Apollo's own would parse.
 */
const UNREAD = [
  /\.(map|tsbuildinfo)$/,
  /\/(?!licen[cs]e|copying|notice)[^/]*\.(md|markdown)$/i,
  /\/(test|tests|example|examples|benchmark|bench|\.github)\//,
  /\/@apollo\/[^/]+\/src\/.*\.ts$/,
  /\/@apollo\/server\/dist\/cjs\//,
  /\/@apollo\/protobufjs\/(dist|cli|ext)\//,
  /\/lru-cache\/dist\/.*\/(browser|react-native)\//,
  /\/lru-cache\/dist\/.*(?<!\/node\/index\.min)\.js$/,
  /\/iconv-lite\/encodings\/tables\//,
  /\.d\.cts$/,
  /\/(graphql-sse|graphql-ws)\/umd\//,
  /\/qs\/dist\//,
];

if (BUILDERS.every((command) => existsSync(`${root}node_modules/.bin/${command}`))) {
  removeHeaders();
  removeUnread();
  if (!process.argv.includes('--without-pages')) buildPages();
  // A file that was renamed would stay in the package.
  rmSync(`${root}lib`, { recursive: true, force: true });
  run('tsc', '-p', 'tsconfig.build.json');
  // The SDL of plugins, beside the code that reads it.
  for (const path of fs.globSync('src/plugins/*/*.graphql', { cwd: root }))
    cpSync(root + path, `${root}${path.replace('src', 'lib')}`);
  await checkSchema();
  await (await import('./bundle.mjs')).bundle(root);
  await stamp();
} else {
  console.error('Nothing is built: that takes the development dependencies, which are not installed.');
}

/** Refuses an SDL that isn't valid, with all that settings may add to it: the program that is built takes it as valid. */
async function checkSchema() {
  const { openSchema } = await import('../lib/gateway/open-schema.js');
  await openSchema();
  const parts = [];
  // The module that reads an SDL exports it with its resolvers.
  for (const path of fs.globSync('lib/plugins/*/*.js', { cwd: root })) {
    if (!readFileSync(root + path, 'utf8').includes('readPart(')) continue;
    parts.push(Object.values(await import(`../${path}`)).find((exported) => exported?.sdl));
  }
  await openSchema(parts);
}

/**
 * Tells the commit of the build, for people who have it without its repository. `COMMIT` names it for a build without one, such
 * as that of an image. Nothing of it is of the time: one commit builds the same bytes.
 */
async function stamp() {
  const { commitHere } = await import('../lib/shared/own-version.js');
  const commit = process.env.COMMIT || commitHere();
  writeFileSync(`${root}lib/build.json`, `${JSON.stringify({ commit })}\n`);
}

/** The part of Node's packages that add-ons are compiled with: 67 MB, though there are no add-ons. */
function removeHeaders() {
  const { optionalDependencies } = read(`${root}scripts/node/package.json`);
  for (const name of Object.keys(optionalDependencies)) {
    rmSync(`${root}node_modules/${name}/include`, { recursive: true, force: true });
  }
}

/** Takes a third off our package, which brings some packages (`bundleDependencies`) just as they are in the checkout. */
function removeUnread() {
  const lock = `${root}package-lock.json`;
  if (!existsSync(lock)) return;
  const bundled = Object.entries(read(lock).packages).filter(([, { inBundle }]) => inBundle);
  for (const [folder] of bundled) {
    if (!existsSync(root + folder)) continue;
    for (const entry of readdirSync(root + folder, { recursive: true, withFileTypes: true })) {
      const path = `${entry.parentPath}/${entry.name}`;
      const isOwn = !path.slice(root.length + folder.length).includes('/node_modules/');
      if (entry.isFile() && isOwn && UNREAD.some((pattern) => pattern.test(path.slice(root.length))))
        rmSync(path);
    }
  }
}

function buildPages() {
  const isKept = existsSync(MODULES);
  try {
    if (!isInstalledAsLocked()) run('npm', 'ci', '--prefix', GRAPHIQL);
    run('vite', 'build', 'src/graphiql');
    run('vite', 'build', 'src/graphiql', '--config', 'src/graphiql/vite.pictures.ts');
    run('vite', 'build', 'src/graphiql', '--config', 'src/graphiql/vite.page.ts');
  } finally {
    if (!isKept) rmSync(MODULES, { recursive: true, force: true });
  }
}

/** True if the packages that are there are the editions of the lock. */
function isInstalledAsLocked() {
  const path = `${MODULES}/.package-lock.json`;
  if (!existsSync(path)) return false;
  const locked = read(`${GRAPHIQL}package-lock.json`).packages;
  const installed = read(path).packages;
  return Object.entries(locked).every(
    ([name, { version, optional }]) =>
      name === '' || installed[name]?.version === version || (optional && !(name in installed)),
  );
}

function read(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** npm has put the commands of the packages first on the path. */
function run(command, ...args) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (error) throw error;
  if (status !== 0) {
    process.exitCode = status ?? 1;
    throw new Error(`${command} ${args.join(' ')} failed.`);
  }
}
