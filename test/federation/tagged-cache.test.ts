import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { fileIn } from '../support/markdown.ts';
import { openTimedProgram } from '../support/timed-program.ts';
import { answering } from './products.ts';
import { answerOf, postOf } from './routers.ts';

const FEDERATION = fileURLToPath(new URL('../../docs/federation.md', import.meta.url));
const INSTALLED = fileURLToPath(new URL('node_modules', import.meta.url));
const PURGE_KEY = 'a key for purges';

/** Hive Gateway, by the file of the document, in a process of its own. */
async function startRouter(supergraphSdl: string, port: number) {
  const folder = await mkdtemp(join(tmpdir(), 'country-graph-tagged-'));
  await writeFile(join(folder, 'router.ts'), fileIn(await readFile(FEDERATION, 'utf8'), 'router.ts'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'supergraph.graphql'), supergraphSdl);
  await symlink(INSTALLED, join(folder, 'node_modules'));
  const child = spawn(process.execPath, ['router.ts'], {
    cwd: folder,
    env: { PATH: process.env.PATH, PORT: String(port), PURGE_KEY },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  await answering(`${url}/graphql`);
  return {
    ask: (query: string, key: string) => answerOf(fetch(`${url}/graphql`, postOf(query, `Bearer ${key}`))),
    /** Returns the status. */
    async purge(tags: readonly string[], key: string): Promise<number> {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
      const body = JSON.stringify({ tags });
      return (await fetch(`${url}/purge`, { method: 'POST', headers, body })).status;
    },
    async [Symbol.asyncDispose]() {
      const exit = once(child, 'exit');
      child.kill();
      await exit;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const figure = (key: string) =>
  `{ country(code: "KE") { observation(metricKey: "${key}") { value source { key } } } }`;
const CHANGED = figure('population_total');
const UNCHANGED = [figure('idps_total'), '{ countries { code name } }'];
const ALL = [CHANGED, ...UNCHANGED];

async function open() {
  const opened = new AsyncDisposableStack();
  const port = await freePort();
  const program = opened.use(
    await openTimedProgram({
      // Behind the last runs of the sandbox's sources.
      startMs: Date.parse('2026-11-10T12:00:30Z'),
      env: { CACHE_TAGS: 'Cache-Tag', PURGE_URL: `http://127.0.0.1:${port}/purge`, PURGE_KEY },
    }),
  );
  const sdl = await (await fetch(new URL('/schema.graphql', program.url))).text();
  const { supergraphSdl = '' } = composeServices([
    { name: 'country-graph', typeDefs: parse(sdl), url: program.url },
  ]);
  const router = opened.use(await startRouter(supergraphSdl, port));
  program.operations.length = 0;
  return {
    program,
    router,
    /** Asks the router; returns the data, the operations that this gateway had to answer, and its calls. */
    async ask(query: string, key: string = program.sandbox.keys.team) {
      const { data, errors } = await router.ask(query, key);
      expect(errors).toBeUndefined();
      return { data, operations: program.operations.splice(0).length, calls: program.requests().length };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

describe('Hive Gateway with its response cache, as the document has it', () => {
  it('a response cache of Hive Gateway drops by our tags what has read a source that has run again, and only that', async () => {
    await using scene = await open();
    const { program, ask } = scene;
    const costsOf = async (queries: readonly string[]) => {
      const costs = [];
      for (const query of queries) {
        const { operations, calls } = await ask(query);
        costs.push({ operations, calls });
      }
      return costs;
    };
    const none = { operations: 0, calls: 0 };
    await program.ask('{ sources { key } }');
    program.pass(200);
    // By the catalogue the gateway knows which figures a source may bring.
    await program.ask('{ indicators { key } }');
    program.operations.length = 0;
    program.requests();
    expect(await costsOf(ALL)).toEqual(ALL.map(() => ({ operations: 1, calls: 1 })));
    expect(await costsOf(ALL)).toEqual(ALL.map(() => none));
    const { data } = await ask(CHANGED);

    // What is cached, here and there, would hold for another three minutes.
    program.pass(101);
    program.sandbox.refresh(data.country.observation.source.key);
    const seen = await program.ask('{ sources { key } }');
    expect(seen.upstream.calls).toBe(1);
    program.operations.length = 0;
    program.requests();
    await expect.poll(() => costsOf([CHANGED])).toEqual([{ operations: 1, calls: 1 }]);
    expect(await costsOf(ALL)).toEqual(ALL.map(() => none));
    const { upstream } = await program.ask(UNCHANGED[0] ?? '');
    expect(upstream.calls).toBe(0);
    expect(program.problems).toEqual([]);
  });

  it('a response cache of Hive Gateway drops a list by its tag, for whoever has the key for that, and keeps keys apart', async () => {
    await using scene = await open();
    const { router, ask } = scene;
    const list = '{ countries { code name } }';
    expect([(await ask(list)).operations, (await ask(list)).operations]).toEqual([1, 0]);
    expect(await router.purge(['countries'], 'another')).toBe(401);
    expect(await router.purge(['indicators', 'source-world_bank_wdi'], PURGE_KEY)).toBe(204);
    expect((await ask(list)).operations).toBe(0);
    const { operations, calls } = await ask(list, scene.program.sandbox.keys.analyst);
    expect([operations, calls]).toEqual([1, 1]);
    expect(await router.purge(['countries'], PURGE_KEY)).toBe(204);
    const asked = [(await ask(list)).operations, (await ask(list)).operations];
    expect(asked).toEqual([1, 0]);
  });
});
