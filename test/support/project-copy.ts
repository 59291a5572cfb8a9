import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const COPIED = [
  'bench',
  'bin',
  'clients/client',
  'clients/graphiql',
  'codegen.ts',
  'docs',
  'package.json',
  'schema',
  'scripts',
  'src',
  'test',
  'tsconfig.json',
  'vitest.config.ts',
];

const isOurs = (path: string) => !path.includes('/node_modules');

/** A copy of the project that tests may change. */
export async function copyProject() {
  const from = process.cwd();
  const root = await mkdtemp(join(tmpdir(), 'country-graph-copy-'));
  for (const path of COPIED)
    await cp(join(from, path), join(root, path), { recursive: true, filter: isOurs });
  for (const path of ['node_modules', 'dist']) await symlink(join(from, path), join(root, path));
  const bin = join(root, 'node_modules/.bin');
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, NO_COLOR: '1' };

  return {
    read: (file: string) => readFile(join(root, file), 'utf8'),
    async write(file: string, text: string) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), text);
    },
    /** Replaces a text that occurs exactly once in a file. */
    async edit(file: string, before: string, after: string) {
      const parts = (await readFile(join(root, file), 'utf8')).split(before);
      if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${before}`);
      await writeFile(join(root, file), parts.join(after));
    },
    /** Runs a command of the copy. Returns its output. */
    async run(
      command: string,
      args: readonly string[] = [],
      settings: Readonly<Record<string, string>> = {},
    ) {
      const options = { cwd: root, env: { ...env, ...settings }, maxBuffer: 2 ** 26 };
      const { stdout } = await promisify(execFile)(join(bin, command), args, options);
      return stdout;
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

export type ProjectCopy = Awaited<ReturnType<typeof copyProject>>;
