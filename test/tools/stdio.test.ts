import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client as NewClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { openProgram, type Program } from '../support/program.ts';
import { trustedFile } from './documents.ts';

const file = trustedFile();
let program: Program;
beforeAll(async () => {
  program = await openProgram();
});
afterAll(async () => {
  file.remove();
  await program[Symbol.asyncDispose]();
});

const COMMAND = ['bin/country-graph.cjs', 'mcp'];

/** The SDK's own client, of a program that it has started. */
async function started(env: Record<string, string>, args: readonly string[] = []) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...COMMAND, ...args],
    env: { PATH: process.env.PATH ?? '', TRUSTED_DOCUMENTS: file.path, LOG_LEVEL: 'trace', ...env },
    stderr: 'pipe',
  });
  const log = text(transport.stderr as never);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return { client, log };
}

/** The SDK's client of the revision of 2026. */
async function startedModern(env: Record<string, string>) {
  const client = new NewClient(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(
    new NewTransport({
      command: process.execPath,
      args: COMMAND,
      env: { PATH: process.env.PATH ?? '', TRUSTED_DOCUMENTS: file.path, ...env },
      stderr: 'ignore',
    }),
  );
  return client;
}

const overService = () => ({ COUNTRY_DATA_URL: program.service.url, CACHE_URL: 'none' });

describe('country-graph mcp', () => {
  it.for(['the environment', 'a file'])(
    'country-graph mcp serves tools under the key of %s, and logs none of it',
    async (from) => {
      const key = program.sandbox.keys.team;
      const keyFile = join(file.folder, 'key');
      writeFileSync(keyFile, `${key}\n`);
      const given = from === 'a file' ? [] : [['COUNTRY_GRAPH_KEY', key] as const];
      const args = from === 'a file' ? ['--key-file', keyFile] : [];
      const { client, log } = await started({ ...overService(), ...Object.fromEntries(given) }, args);
      program.requests();
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual([
        ...['Card', 'Ranked', 'Catalogue', 'Governments'],
        ...['search', 'price'],
      ]);
      expect(tools[0]?.description).toMatch(/Costs 2 call\(s\)/);
      expect(program.requests()).toEqual([]);
      const { structuredContent, isError } = await client.callTool({
        name: 'Card',
        arguments: { code: 'KE' },
      });
      expect(isError).toBeUndefined();
      expect(structuredContent).toMatchObject({
        data: { country: { capital: 'Nairobi' } },
        upstream: { calls: 2 },
      });
      expect(program.requests()).toHaveLength(2);
      await client.close();
      const lines = await log;
      expect(lines).toContain('"msg":"operation"');
      expect(lines).not.toContain(key);
    },
  );

  it.for(['2025', '2026-07-28'])('country-graph mcp keeps a session of %s within its budget', async (era) => {
    const env = { ...overService(), MCP_BUDGET: '2', COUNTRY_GRAPH_KEY: program.sandbox.keys.team };
    const client = era === '2025' ? (await started(env)).client : await startedModern(env);
    program.requests();
    expect((await client.listTools()).tools[0]?.description).toMatch(/Costs 2 call\(s\)/);
    const call = (code: string) => client.callTool({ name: 'Card', arguments: { code } });
    expect(await call('KE')).toMatchObject({
      structuredContent: { upstream: { calls: 2 } },
      _meta: { 'country-graph/budget': { limit: 2, spent: 2, resetsAt: null } },
    });
    expect(await call('NG')).toMatchObject({
      isError: true,
      structuredContent: { errors: [{ code: 'OPERATION_TOO_EXPENSIVE', planned: 2, limit: 0 }] },
    });
    expect(program.requests()).toHaveLength(2);
    await client.close();
  });

  it('country-graph mcp tells what is refused: too dear, wrong key, bad variables', async () => {
    const env = { ...overService(), MAX_UPSTREAM_CALLS: '2', COUNTRY_GRAPH_KEY: 'wrong-key-7423' };
    const { client, log } = await started(env);
    program.requests();
    for (const [name, given, code, calls] of [
      ['Governments', { codes: ['KE', 'NG', 'ZA'] }, 'OPERATION_TOO_EXPENSIVE', 0],
      ['Card', { code: 'Kenya' }, 'BAD_USER_INPUT', 0],
      ['Catalogue', {}, 'UNAUTHENTICATED', 1],
    ] as const) {
      const { structuredContent, isError } = await client.callTool({ name, arguments: given });
      expect([isError, structuredContent]).toMatchObject([true, { errors: [{ code }] }]);
      expect(program.requests()).toHaveLength(calls);
    }
    await client.close();
    expect(await log).not.toContain('wrong-key-7423');
  });

  it('country-graph mcp answers what was asked before its input ended, over the sandbox where no service is named', async () => {
    const messages = [
      {
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: '2025-06-18',
          capabilities: {},
          clientInfo: { name: 'test', version: '1' },
        },
      },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name: 'Card', arguments: { code: 'NG' } } },
    ];
    const input = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
    const { stdout, stderr, code } = await runCommand(['mcp'], {
      env: { TRUSTED_DOCUMENTS: file.path },
      input,
    });
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.map(({ id }) => id)).toEqual([1, 2]);
    expect(answers[1].result.structuredContent.data.country.capital).toBe('Abuja');
    expect(stderr).toContain('all figures are synthetic');
    expect(code).toBe(0);
  });

  it.for([
    [{}, [], '', 2, /^TRUSTED_DOCUMENTS: must name the file/],
    [
      { TRUSTED_DOCUMENTS: file.path, COUNTRY_DATA_URL: 'http://127.0.0.1:9' },
      [],
      '',
      1,
      /^There is no key: /,
    ],
    [{ TRUSTED_DOCUMENTS: file.path }, ['--key-file', '/nowhere'], '', 1, /^--key-file: .*ENOENT/],
    [
      { TRUSTED_DOCUMENTS: file.path, COUNTRY_GRAPH_KEY: 'Bearer x' },
      [],
      '',
      1,
      /^The key has to be .* without blanks/,
    ],
    [{ TRUSTED_DOCUMENTS: file.path, MAX_BODY_BYTES: '1000' }, [], 'x'.repeat(2_000), 1, /MAX_BODY_BYTES/],
  ] as const)(
    'country-graph mcp says what is wrong with %j %j',
    async ([env, args, input, exitCode, words]) => {
      const { stdout, stderr, code } = await runCommand(['mcp', ...args], { env, input });
      const said = stderr.split('\n').filter((line) => !line.startsWith('{'));
      expect([stdout, code, said[0]]).toEqual(['', exitCode, expect.stringMatching(words)]);
      expect(stderr).not.toContain('    at ');
    },
  );
});
