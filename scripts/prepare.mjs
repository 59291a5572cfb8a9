/**
 * `npm run prepare`, which npm runs by itself after `npm ci` in a checkout, and before `npm pack`: builds GraphiQL's pages,
 * and the JavaScript and types of the package. Plain JavaScript, since after `npm ci --omit=dev` the Node at hand may be
 * one that reads no TypeScript.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const BUILDS = [
  ['vite', 'build', 'src/graphiql'],
  ['tsc', '-p', 'tsconfig.build.json'],
];

const isThere = ([command]) => existsSync(`${root}node_modules/.bin/${command}`);

if (BUILDS.every(isThere)) {
  // A file that was renamed would stay in the package.
  rmSync(`${root}lib`, { recursive: true, force: true });
  for (const [command, ...args] of BUILDS) {
    // npm has put the commands of the packages first on the path.
    const { status, error } = spawnSync(command, args, {
      cwd: root,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    });
    if (error) throw error;
    if (status !== 0) process.exit(status ?? 1);
  }
} else {
  console.error('Nothing is built: that takes the development dependencies, which are not installed.');
}
