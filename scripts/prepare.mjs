/**
 * `npm run prepare`, which npm runs after `npm ci` in a checkout, and before `npm pack`: builds GraphiQL's pages, the
 * JavaScript and types of the library, and the program that `bin` runs. Plain JavaScript, since after `npm ci --omit=dev`,
 * it may run on a Node that can't run TypeScript.
 *
 * The packages of GraphiQL's pages have a separate lock file (`clients/graphiql`), are large, and are only needed for the build.
 * So they are installed for it and removed afterwards, unless they were installed before (`npm ci --prefix clients/graphiql`, to
 * work on the pages). `--without-pages` doesn't build the pages.
 */
import { spawnSync } from 'node:child_process';
import fs, { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// What Node before 22 lacks (`fs.globSync`) is only imported when something is built.
const root = fileURLToPath(new URL('../', import.meta.url));
const GRAPHIQL = `${root}clients/graphiql/`;
const MODULES = `${GRAPHIQL}node_modules`;
const BUILDERS = ['vite', 'tsc', 'rolldown'];

/**
 * Files of packages that are never loaded: source maps and sources, documentation, tests, builds for browsers and other
 * runtimes, types for CommonJS and of reports that are never sent, and encoding tables that only Apollo's own server would use.
 */
const UNREAD = [
  /\.(map|tsbuildinfo)$/,
  /\/(?!licen[cs]e|copying|notice)[^/]*\.(md|markdown)$/i,
  /\/(test|tests|example|examples|benchmark|bench|\.github)\//,
  /\/@apollo\/[^/]+\/src\/.*\.(ts|proto)$/,
  /\/@apollo\/server\/dist\/cjs\//,
  /\/@apollo\/protobufjs\/((dist|cli|ext|google)\/|.*\.d\.ts$)/,
  /\/lru-cache\/dist\/.*\/(browser|react-native)\//,
  /\/lru-cache\/dist\/.*(?<!\/node\/index\.min)\.js$/,
  /\/iconv-lite\/encodings\/tables\//,
  /\.d\.cts$/,
  /\/lru-cache\/dist\/commonjs\/.*\.d\.ts$/,
  /\/(graphql-sse|graphql-ws)\/umd\//,
  /\/qs\/dist\//,
  /\/usage-reporting-protobuf\/generated\/.*\.d\.ts$/,
  /\/loglevel\/(dist|demo)\//,
];

if (BUILDERS.every((command) => existsSync(`${root}node_modules/.bin/${command}`))) {
  removeHeaders();
  removeUnread();
  if (!process.argv.includes('--without-pages')) buildPages();
  // Otherwise renamed files would stay in the package.
  rmSync(`${root}lib`, { recursive: true, force: true });
  run('tsc', '-p', 'tsconfig.build.json');
  // The SDL of plugins, beside the code that reads it.
  for (const path of fs.globSync('src/plugins/*/*.graphql', { cwd: root }))
    cpSync(root + path, `${root}${path.replace('src', 'lib')}`);
  await checkSchema();
  await (await import('./bundle.mjs')).bundle(root);
  await stamp();
} else {
  console.error('Nothing is built: the development dependencies are not installed.');
}

/** Throws if the SDL, with all parts that settings may add, isn't valid: the built program doesn't validate it. */
async function checkSchema() {
  const { openSchema } = await import('../lib/gateway/open-schema.js');
  await openSchema();
  const parts = [];
  // The module that reads an SDL exports it with its resolvers.
  for (const path of fs.globSync('lib/plugins/*/*.js', { cwd: root })) {
    if (!readFileSync(root + path, 'utf8').includes('readPart(')) continue;
    const { partOver, ...exported } = await import(`../${path}`);
    // Nothing is resolved, so what a part resolves by may be missing.
    parts.push(partOver?.() ?? Object.values(exported).find((part) => part?.sdl));
  }
  await openSchema(parts);
}

/**
 * Writes the commit of the build. `COMMIT` gives it for a build without a repository, such as that of an image. There is no
 * timestamp, so that the build is reproducible.
 */
async function stamp() {
  const { commitHere } = await import('../lib/shared/own-version.js');
  const commit = process.env.COMMIT || commitHere();
  writeFileSync(`${root}lib/build.json`, `${JSON.stringify({ commit })}\n`);
}

/** Removes Node's headers, which only native add-ons need: 67 MB. */
function removeHeaders() {
  const { optionalDependencies } = read(`${root}scripts/node/package.json`);
  for (const name of Object.keys(optionalDependencies)) {
    rmSync(`${root}node_modules/${name}/include`, { recursive: true, force: true });
  }
}

/** Removes unused files from bundled dependencies, which are a third of our package. */
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
    run('vite', 'build', 'clients/graphiql');
    run('vite', 'build', 'clients/graphiql', '--config', 'clients/graphiql/vite.pictures.ts');
    run('vite', 'build', 'clients/graphiql', '--config', 'clients/graphiql/vite.page.ts');
  } finally {
    if (!isKept) rmSync(MODULES, { recursive: true, force: true });
  }
}

/** True if the installed packages have the versions of the lock file. */
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

/** Runs a command. npm has put those of the packages first on the path. */
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
