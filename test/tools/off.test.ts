import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { trustedFile } from './documents.ts';

const run = promisify(execFile);
const file = trustedFile();
afterAll(() => file.remove());

/** Starts and stops the program in a process of its own, and prints which of these packages and files of plugins it has loaded. */
const SCRIPT = `
  import { registerHooks } from 'node:module';
  const seen = new Set();
  registerHooks({
    resolve(specifier, context, next) {
      const found = /^(@modelcontextprotocol\\/\\w+|apache-arrow|fastify|@resvg|linkedom)|(?<=^\\.\\/)(address-route|exchange|mcp-route)\\.ts$/.exec(specifier);
      const isOfPlugin = !specifier.startsWith('.') || /\\/src\\/plugins\\//.test(context.parentURL);
      if (found !== null && isOfPlugin) seen.add(found[0]);
      return next(specifier, context);
    },
  });
  const { openProgram } = await import('./test/support/program.ts');
  const program = await openProgram({ env: JSON.parse(process.argv[1]) });
  await program.ask('{ countries { code } }').catch(() => {});
  await program[Symbol.asyncDispose]();
  console.log(JSON.stringify([...seen].sort()));
`;

const named = join(file.folder, 'public.json');
writeFileSync(named, JSON.stringify({ card: { document: 'Card', key: 'page' } }));
const ISSUING = { COUNTRY_DATA_KEY: 'demo-team', CACHE_URL: 'memory:' };

it.for([
  [{ MCP: 'off', ...ISSUING }, ['exchange.ts', 'fastify']],
  [{ MCP: 'on' }, ['@modelcontextprotocol/core', '@modelcontextprotocol/server', 'fastify', 'mcp-route.ts']],
  [{ ...ISSUING, PUBLIC_DOCUMENTS: named }, ['address-route.ts', 'exchange.ts', 'fastify']],
] as const)('a program with %j loads no more than it needs', async ([settings, loaded]) => {
  const env = JSON.stringify({ ...settings, TRUSTED_DOCUMENTS: file.path });
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', SCRIPT, env]);
  expect(JSON.parse(stdout)).toEqual(loaded);
});
