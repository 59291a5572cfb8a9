import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { trustedFile } from './documents.ts';

const run = promisify(execFile);
const file = trustedFile();
afterAll(() => file.remove());

/** Starts and stops the program in a process of its own, and prints which of these packages it has loaded. */
const SCRIPT = `
  import { registerHooks } from 'node:module';
  const seen = new Set();
  registerHooks({
    resolve(specifier, context, next) {
      const found = /^(@modelcontextprotocol\\/\\w+|apache-arrow|fastify)/.exec(specifier);
      if (found !== null) seen.add(found[0]);
      return next(specifier, context);
    },
  });
  const { openProgram } = await import('./test/support/program.ts');
  const program = await openProgram({ env: JSON.parse(process.argv[1]) });
  await program.ask('{ countries { code } }').catch(() => {});
  await program[Symbol.asyncDispose]();
  console.log(JSON.stringify([...seen].sort()));
`;

it.for([
  ['off', ['fastify']],
  ['on', ['@modelcontextprotocol/core', '@modelcontextprotocol/server', 'fastify']],
] as const)('MCP=%s loads no more than it needs', async ([mcp, loaded]) => {
  const env = JSON.stringify({ MCP: mcp, TRUSTED_DOCUMENTS: file.path });
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', SCRIPT, env]);
  expect(JSON.parse(stdout)).toEqual(loaded);
});
