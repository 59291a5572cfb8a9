import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtempDisposable, symlink, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';

/** Keeps the compiled code of libraries for the next program. */
const COMPILE_CACHE = join(tmpdir(), 'country-graph-compiled');

const running: { kill(): void }[] = [];
afterEach(() => {
  for (const one of running.splice(0)) one.kill();
});

/** The real program in a process of its own, listening on a free port. */
function start(
  args: readonly string[],
  env: Record<string, string> = {},
  command = process.execPath,
  cwd = process.cwd(),
) {
  const child: ChildProcess = spawn(command, args, {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      PORT: '0',
      ...env,
    },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => {
    text.stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    text.stderr += chunk;
  });
  const exited = once(child, 'close').then(([code, signal]) => code ?? signal);
  const signal = (name: NodeJS.Signals) => process.kill(-(child.pid ?? 0), name);
  running.push({
    kill() {
      try {
        signal('SIGKILL');
      } catch {
        // Nobody of its group is left.
      }
    },
  });

  /** The first match in the program's output, as soon as it is there. */
  const printed = async (pattern: RegExp, where: 'stdout' | 'stderr' = 'stdout'): Promise<string> => {
    for (;;) {
      const match = text[where].match(pattern);
      if (match) return match[1] ?? match[0];
      const ended = await Promise.race([
        exited.then(() => true),
        once(child[where] ?? child, 'data').then(() => false),
      ]);
      if (ended && !pattern.test(text[where])) throw new Error(`It ended without ${pattern}: ${text.stderr}`);
    }
  };
  return { child, text, exited, printed, signal };
}

const SERVE = ['bin/country-graph.cjs', 'serve'];
const ADDRESS = /http:\/\/\S+\/graphql(?=\n)/;

/** A service that leaves its answers to the test. */
async function heldService() {
  const { promise: asked, resolve } = Promise.withResolvers<ServerResponse>();
  const service = createServer((_request, response) => resolve(response)).listen(0, '127.0.0.1');
  await once(service, 'listening');
  running.push({
    kill: () => {
      service.closeAllConnections();
      service.close();
    },
  });
  const { port } = service.address() as AddressInfo;
  const answer = async () => {
    (await asked).setHeader('content-type', 'application/json').end('{"status":"ok"}');
  };
  return { url: `http://127.0.0.1:${port}`, asked, answer };
}

const ask = async (url: string, query = '{ health { status } }') => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer anything' },
    body: JSON.stringify({ query }),
  });
  return [response.status, ((await response.json()) as { data?: unknown }).data];
};
const HEALTHY = [200, { health: { status: 'ok' } }];

describe('serve', () => {
  it('country-graph serve runs over the embedded sandbox and prints one line with its address', async () => {
    const program = start(SERVE);
    const url = await program.printed(ADDRESS);
    expect(await ask(url)).toEqual(HEALTHY);
    const lines = program.text.stdout.trimEnd().split('\n');
    expect(lines.filter((line) => line.includes('/graphql'))).toEqual([lines.at(-1)]);
    for (const plan of ['free', 'analyst', 'team', 'forbidden', 'spent']) {
      expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^  ${plan} +\\S+$`)));
    }
    expect(lines[0]).toContain('synthetic');
    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
    for (const line of program.text.stderr.trimEnd().split('\n'))
      expect(() => JSON.parse(line)).not.toThrow();
  });

  it('country-graph serve keeps the engine from throwing its code away while nobody asks', async () => {
    const early = ['--trace-memory-reducer', '--gc-memory-reducer-start-delay-ms=300'];
    const program = start([...early, ...SERVE]);
    await program.printed(ADDRESS);
    // Starts without the file that tells the engine so.
    const without = start([...early, 'src/cli/main.ts', 'serve']);
    await without.printed(ADDRESS);
    await without.printed(/Memory reducer/);
    expect(program.text.stdout).not.toContain('Memory reducer');
  });

  it('country-graph serve tells the engine of a small budget before it is loaded, in the same process', async () => {
    const started = ['--max-semi-space-size=64', ...SERVE];
    for (const [MEMORY_MB, flags] of [
      ['256', '--max-semi-space-size=64 --max-semi-space-size=4 --initial-old-space-size=0'],
      ['1024', '--max-semi-space-size=64'],
    ] as const) {
      const program = start(started, { MEMORY_MB });
      const url = await program.printed(ADDRESS);
      expect(await ask(url)).toEqual(HEALTHY);
      const { stdout } = spawnSync('ps', ['-o', 'args=', '-p', String(program.child.pid)]);
      expect(String(stdout)).toMatch(new RegExp(` ${flags} \\S*bin/country-graph`));
      program.signal('SIGTERM');
      expect(await program.exited).toBe(0);
    }
  });

  it('country-graph serve runs over a service that it is told, and prints no keys then', async () => {
    const { url: COUNTRY_DATA_URL, answer } = await heldService();
    const program = start(SERVE, { COUNTRY_DATA_URL });
    const url = await program.printed(ADDRESS);
    void answer();
    expect(await ask(url)).toEqual(HEALTHY);
    expect(program.text.stdout.trimEnd().split('\n')).toHaveLength(1);
  });

  it('country-graph serve outlives a reference that fails while another one is refused', async () => {
    const program = start(SERVE);
    const url = await program.printed(ADDRESS);
    const references = '[{ __typename: "Country", code: "K" }, { __typename: "Nope" }]';
    expect(await ask(url, `{ _entities(representations: ${references}) { __typename } }`)).toEqual([
      200,
      { _entities: [null, null] },
    ]);
    expect(await ask(url)).toEqual(HEALTHY);
  });

  it.for(['SIGTERM', 'SIGINT'] as const)(
    'country-graph serve finishes what is in flight on %s, and exits with 0',
    async (name) => {
      const { url: COUNTRY_DATA_URL, asked, answer } = await heldService();
      const program = start(SERVE, { COUNTRY_DATA_URL });
      const url = await program.printed(ADDRESS);
      const inFlight = ask(url);
      await asked;
      program.signal(name);
      await program.printed(/draining/, 'stderr');
      await expect(fetch(url)).rejects.toThrow();
      await answer();
      expect(await inFlight).toEqual(HEALTHY);
      expect(await program.exited).toBe(0);
    },
  );

  const FAULTS = {
    unhandledRejection: 'void Promise.reject(new Error("nobody listens", { cause: "a test" }))',
    uncaughtException: 'setImmediate(() => { throw new Error("nobody listens", { cause: "a test" }) })',
  };
  it.for(Object.entries(FAULTS))(
    'country-graph serve logs a fault that nobody has caught, finishes what is in flight, and exits with 1: %s',
    async ([where, fault]) => {
      const { url: COUNTRY_DATA_URL, asked, answer } = await heldService();
      const onSignal = `process.on('SIGUSR2', () => { ${fault} })`;
      const program = start(['--import', `data:text/javascript,${onSignal}`, ...SERVE], { COUNTRY_DATA_URL });
      const inFlight = ask(await program.printed(ADDRESS));
      await asked;
      program.signal('SIGUSR2');
      const line = await program.printed(/^.*nobody listens.*$/m, 'stderr');
      await answer();
      expect(await inFlight).toEqual(HEALTHY);
      expect(await program.exited).toBe(1);
      expect(JSON.parse(line)).toMatchObject({
        level: 60,
        where,
        err: { type: 'Error', stack: expect.stringContaining('nobody listens') },
      });
    },
  );

  it('country-graph serve waits no longer than a few seconds after such a fault', async () => {
    const { url: COUNTRY_DATA_URL, asked } = await heldService();
    const onSignal = `process.on('SIGUSR2', () => { ${FAULTS.unhandledRejection} })`;
    const program = start(['--import', `data:text/javascript,${onSignal}`, ...SERVE], { COUNTRY_DATA_URL });
    const inFlight = ask(await program.printed(ADDRESS)).catch(() => 'cut');
    await asked;
    program.signal('SIGUSR2');
    expect(await program.exited).toBe(1);
    expect(await inFlight).toBe('cut');
  });

  it('country-graph serve exits at once with 1 on the second signal', async () => {
    const { url: COUNTRY_DATA_URL, asked } = await heldService();
    const program = start(SERVE, { COUNTRY_DATA_URL });
    const inFlight = ask(await program.printed(ADDRESS)).catch(() => 'cut');
    await asked;
    program.signal('SIGINT');
    await program.printed(/draining/, 'stderr');
    program.signal('SIGINT');
    expect(await program.exited).toBe(1);
    expect(await inFlight).toBe('cut');
  });

  it('country-graph serve exits at once on the second signal while it still takes requests', async () => {
    const program = start(SERVE, { DRAIN_DELAY_MS: '3600000' });
    const url = await program.printed(ADDRESS);
    program.signal('SIGTERM');
    await program.printed(/draining/, 'stderr');
    expect((await fetch(url.replace('graphql', 'health/ready'))).status).toBe(503);
    expect(await ask(url)).toEqual(HEALTHY);
    program.signal('SIGTERM');
    expect(await program.exited).toBe(1);
  });

  it('country-graph serve cuts what takes longer than a drain may, says so, and exits with 1', async () => {
    const { url: COUNTRY_DATA_URL, asked } = await heldService();
    const program = start(SERVE, { COUNTRY_DATA_URL, DRAIN_TIMEOUT_MS: '50' });
    const inFlight = ask(await program.printed(ADDRESS)).catch(() => 'cut');
    await asked;
    program.signal('SIGTERM');
    expect(await program.exited).toBe(1);
    expect(await inFlight).toBe('cut');
    expect(program.text.stderr).toContain('1 request(s) took longer than DRAIN_TIMEOUT_MS');
  });

  it('country-graph serve exits with 0 where all that is left is for clients to do, and says so', async () => {
    const program = start(SERVE, { DRAIN_TIMEOUT_MS: '500' });
    const url = await program.printed(ADDRESS);
    const authorization = `Bearer ${await program.printed(/^ {2}team +(\S+)$/m)}`;
    const rows = 'observations(latest: true) { id record }';
    // Longer than systems keep for a reader; and of the kind that is written while it is read.
    const long = {
      headers: {},
      body: JSON.stringify({ query: `{ a: ${rows} b: ${rows} }` }),
    };
    const table = { headers: { accept: 'text/csv' }, body: JSON.stringify({ query: `{ ${rows} }` }) };
    const json = { authorization, 'content-type': 'application/json' };
    for (const { body } of [table, long, long])
      await (await fetch(url, { method: 'POST', headers: json, body })).arrayBuffer();
    const open = () => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
      running.push({ kill: () => socket.destroy() });
      return socket;
    };
    const ask = async ({ headers, body }: typeof long | typeof table, isWhole = true) => {
      const given = { host: 'gateway', ...json, ...headers, 'content-length': String(body.length) };
      const head = Object.entries(given).map(([name, value]) => `${name}: ${value}\r\n`);
      const socket = open();
      socket.write(`POST /graphql HTTP/1.1\r\n${head.join('')}\r\n${isWhole ? body : body.slice(1)}`);
      if (isWhole) await once(socket, 'readable');
    };
    await Promise.all([...Array(19).fill(long), table].map((one) => ask(one)));
    await ask(long, false);
    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
    expect(program.text.stderr).toContain('client(s) did not take their answers, or send their requests');
  });

  it.for(['SIGTERM', 'SIGINT'] as const)(
    'country-graph serve drains under npm start too when the whole group gets %s',
    async (name) => {
      const { url: COUNTRY_DATA_URL, asked, answer } = await heldService();
      const program = start(['start'], { COUNTRY_DATA_URL }, 'npm');
      const inFlight = ask(await program.printed(ADDRESS));
      await asked;
      program.signal(name);
      await program.printed(/draining/, 'stderr');
      await answer();
      expect(await inFlight).toEqual(HEALTHY);
      expect(await program.exited).toBe(0);
    },
  );

  it('country-graph serve drains when npm alone is told', async () => {
    const program = start(['start'], {}, 'npm');
    await program.printed(ADDRESS);
    program.child.kill('SIGTERM');
    expect(await program.exited).toBe(0);
  });

  it.for([
    ['npx', 'SIGTERM', ['country-graph', 'serve']],
    ['npx', 'SIGKILL', ['country-graph', 'serve']],
    ['npm', 'SIGKILL', ['start']],
  ] as const)(
    'country-graph serve drains, and leaves its port, once %s has gone by a %s',
    async ([command, name, args]) => {
      const { url: COUNTRY_DATA_URL, asked, answer } = await heldService();
      await using folder = await mkdtempDisposable(join(tmpdir(), 'country-graph-npx-'));
      await writeFile(join(folder.path, 'package.json'), '{ "scripts": { "start": "country-graph serve" } }');
      await mkdir(join(folder.path, 'node_modules/.bin'), { recursive: true });
      await symlink(resolve('bin/country-graph.cjs'), join(folder.path, 'node_modules/.bin/country-graph'));
      const program = start(args, { COUNTRY_DATA_URL }, command, folder.path);
      const url = await program.printed(ADDRESS);
      const inFlight = ask(url);
      await asked;
      program.child.kill(name);
      await program.printed(/has gone: draining/, 'stderr');
      await answer();
      expect(await inFlight).toEqual(HEALTHY);
      await program.exited;
      await expect(fetch(url)).rejects.toThrow();
    },
  );

  it('country-graph serve goes on where it was given away on purpose, by a shell that has ended', async () => {
    const env = { npm_config_user_agent: 'npm/11', npm_lifecycle_event: 'start' };
    const background = `${process.execPath} ${SERVE.join(' ')} & sleep 0.01`;
    const program = start(['-c', background], env, 'sh');
    const url = await program.printed(ADDRESS);
    for (let seconds = 0; seconds < 2; seconds++) {
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      expect(await ask(url)).toEqual(HEALTHY);
    }
    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
  });

  it.for([
    ['stalls', (stderr: Readable) => stderr.pause()],
    ['has gone', (stderr: Readable) => stderr.destroy()],
  ] as const)('country-graph serve answers and ends although the reader of its log %s', async ([, treat]) => {
    const program = start(SERVE, { LOG_LEVEL: 'trace' });
    const stderr = program.child.stderr as Readable;
    treat(stderr.removeAllListeners('data'));
    const ended = once(program.child, 'exit');
    const url = await program.printed(ADDRESS);
    // Far more than a pipe holds.
    const name = 'n'.repeat(100);
    for (let i = 0; i < 20; i++) {
      const answers = Array.from({ length: 50 }, () => ask(url, `query ${name} { health { status } }`));
      expect(await Promise.all(answers)).toEqual(answers.map(() => HEALTHY));
    }
    program.signal('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it('country-graph serve says in one line that its port is taken, and exits with 1', async () => {
    const { url } = await heldService();
    const program = start(SERVE, { PORT: new URL(url).port });
    expect(await program.exited).toBe(1);
    expect(program.text.stderr).toMatch(/^Another program listens on port \d+ already\.[^\n]*\n$/);
    expect(program.text.stdout).toBe('');
  });

  it('country-graph serve names what looks like a setting and is none, and what is empty', async () => {
    const meant = {
      CACHE_TTL: 'CACHE_TTL_SECONDS',
      CACHE_TTL_SECOND: 'CACHE_TTL_SECONDS',
      COUNTRY_DATA_ULR: 'COUNTRY_DATA_URL',
      MAX_DEPHT: 'MAX_DEPTH',
      AUTH_TTL: 'AUTH_TTL_SECONDS',
      cache_url: 'CACHE_URL',
      UPSTREAM_TIMEOUT: 'UPSTREAM_TIMEOUT_MS',
      KEY_PEPPER_FIEL: 'KEY_PEPPER_FILE',
      RATE_LIMIT: 'RATE_LIMIT_WAIT_MS',
    };
    const others = {
      HOSTNAME: 'x',
      LOG_FORMAT: 'x',
      NODE_ENV: 'production',
      npm_package_version: '1',
      OTEL_SERVICE_NAME: 'x',
      COUNTRY_GRAPH_KEY: 'x',
      COUNTRY_GRAPH_PORT_80_TCP_ADDR: '10.0.0.1',
      CACHE_SERVICE_HOST: '10.0.0.1',
      CACHE_PORT: 'tcp://10.0.0.1:6379',
      SOURCE_DATE_EPOCH: '1',
      LC_MESSAGES: 'C',
      SSH_AUTH_SOCK: 'x',
    };
    const set = Object.fromEntries(Object.keys(meant).map((name) => [name, 'secret-word']));
    const program = start(SERVE, { ...others, ...set, MAX_CLIENTS: '4', CORS_ORIGINS: '' });
    await program.printed(ADDRESS);
    const told = (await program.printed(/^(?:.*\n)*.* takes requests"/, 'stderr')).split('\n').slice(0, -1);
    const lines = told.map((line) => JSON.parse(line));
    expect(new Set(lines.map(({ level }) => level))).toEqual(new Set([40]));
    const all = lines.map(({ msg }) => msg);
    expect(all).toHaveLength(Object.keys(meant).length + 2);
    for (const [name, ours] of Object.entries(meant))
      expect(all).toContain(`${name} is no setting, and does nothing: did you mean ${ours}?`);
    const [prefixed] = all.filter((line) => line.startsWith('MAX_CLIENTS '));
    expect(prefixed).toMatch(
      /^MAX_CLIENTS is no setting, and does nothing: there is MAX_CONCURRENT_OPERATIONS, /,
    );
    expect(all).toContain('CORS_ORIGINS is empty, and so counts as unset');
    expect(program.text.stderr).not.toContain('secret-word');
    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
  });

  it('country-graph serve never logs a key', async () => {
    const program = start(SERVE, { LOG_LEVEL: 'trace' });
    const url = await program.printed(ADDRESS);
    const key = await program.printed(/^ {2}team +(\S+)$/m);
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ operationName: 'Names', query: 'query Names { countries { name } }' }),
    });
    await response.text();
    program.signal('SIGTERM');
    await program.exited;
    expect(program.text.stderr).toContain('"name":"Names"');
    expect(program.text.stderr).not.toContain(key);
  });
});

describe('the other commands', () => {
  it('country-graph sandbox runs the service alone', async () => {
    const program = start(['bin/country-graph.cjs', 'sandbox', '--port', '0']);
    const url = await program.printed(/http:\/\/127\.0\.0\.1:\d+/);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
  });

  it('country-graph sandbox refuses what is no port', async () => {
    const program = start(['bin/country-graph.cjs', 'sandbox', '--port', 'x']);
    expect(await program.exited).toBe(1);
    expect(program.text.stderr).toContain('from 0 to 65535');
  });

  it('country-graph schema prints the SDL that the server shows', async () => {
    const server = start(SERVE);
    const { origin } = new URL(await server.printed(ADDRESS));
    const program = start(['bin/country-graph.cjs', 'schema']);
    expect(await program.exited).toBe(0);
    expect(program.text.stdout).toBe(await (await fetch(`${origin}/schema.graphql`)).text());
  });
});
