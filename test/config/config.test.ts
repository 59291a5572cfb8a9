import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { remarksOf } from '../../src/cli/strange-settings.ts';
import { ConfigError, readConfig, settingNamesOf } from '../../src/config/config.ts';
import {
  autoWorkers,
  cacheBounds,
  heapGrowthFlagIn,
  processBudgetMb,
  remarkOnBudget,
  startOf,
  waitingBounds,
} from '../../src/config/memory-budget.ts';
import { plugins } from '../../src/plugins.ts';

/** Each setting, and values that it may not have. */
const WRONG: Readonly<Record<string, readonly string[]>> = {
  COUNTRY_DATA_URL: [
    'data.example',
    'ftp://data.example',
    'http://',
    'http://data.example/?',
    'http://data.example/v1?key=1',
    'http://data.example#top',
    'http://data.example:0',
    'http://user:hidden@data.example',
    'http://user@data.example',
    'http://data.example:99999',
    'http://data.example:abc',
  ],
  PORT: ['-1', '65536', '80.5', '4000x', '0x10', ' '],
  ADMIN_PORT: ['-1', '65536', 'x', '4000'],
  MEMORY_MB: ['much', '0', '1e3'],
  WORKERS: ['0', '65', '1.5', 'all', '-1'],
  CACHE_URL: [
    'disk',
    'sqlite:',
    'sqlite: ',
    'sqlite:/',
    'sqlite:/nowhere/at-all/cache.db',
    'redis://',
    'redis://:6379',
    'redis://localhost:abc',
    'redis://localhost:99999999',
    'redis://localhost:0',
    'redis://local host',
    'redis://localhost/first',
    'redis://user:%zz@localhost',
    'rediss://[::1',
    'http://cache.example',
  ],
  CACHE_TTL_SECONDS: ['-1', '1.5', 'soon'],
  STALE_IF_ERROR_SECONDS: ['-1', 'a day'],
  AUTH_TTL_SECONDS: ['-1', '∞'],
  BATCH_WINDOW_MS: ['-1', '2ms'],
  BATCH_HOLD_MS: ['-1', 'x'],
  BATCH_OVERFETCH_ROWS: ['-1', 'x'],
  CODES_PER_CALL: ['0', 'x'],
  UPSTREAM_TIMEOUT_MS: ['0', '10s'],
  UPSTREAM_RETRIES: ['-1', 'two'],
  OPERATION_TIMEOUT_MS: ['0', '30s', '3600001'],
  RATE_LIMIT_WAIT_MS: ['-1', 'x'],
  MAX_CONCURRENT_OPERATIONS: ['0', '100001', 'all'],
  SUBSCRIPTIONS: ['yes', '1', 'true'],
  SUBSCRIPTIONS_POLL_SECONDS: ['0', '86401', '1m'],
  MAX_SUBSCRIPTIONS: ['0', '100001', 'all'],
  MAX_UPSTREAM_CALLS: ['0', '1e3'],
  PUBLIC_URL: ['figures.example', 'https://figures.example/?a', 'ftp://figures.example'],
  MAX_DEPTH: ['0', 'x'],
  MAX_ALIASES: ['-1', 'x'],
  MAX_ROOT_FIELDS: ['0', 'x'],
  MAX_TOKENS: ['0', 'x'],
  MAX_LIST_ITEMS: ['0', 'x'],
  CACHE_TAGS: ['etag', 'Cache-Tag;apollo'],
  PUBLIC_ANSWERS: ['yes', 'public', 'on'],
  PURGE_URL: ['ftp://cdn.example', 'cdn', 'https://user:hidden@cdn.example'],
  MAX_BATCHED_OPERATIONS: ['-1', '1001', 'off'],
  MAX_BODY_BYTES: ['0', '1MiB'],
  MAX_ANSWER_BYTES: ['0', '1023', '64MiB'],
  DRAIN_DELAY_MS: ['-1', '5s'],
  DRAIN_TIMEOUT_MS: ['-1', 'x'],
  SUBGRAPH: ['true', 'ON', '1'],
  SUBGRAPH_ISO3: ['true'],
  SUBGRAPH_NODE: ['true'],
  SUBGRAPH_OMIT: ['node health', 'no-de'],
  SUBGRAPH_PREFIX: ['CG', '_', '1_', 'C-G_', 'C_G_'],
  INTROSPECTION: ['true', 'ON', '1'],
  GRAPHIQL: ['yes', 'Off'],
  CORS_ORIGINS: [
    'app.example',
    'https://app.example, nonsense',
    'null',
    'https://app.example/page',
    'https://a.example?b',
  ],
  LOG_LEVEL: ['verbose', 'INFO'],
  OTEL_TRACES_EXPORTER: ['zipkin'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['collector', 'http://collector:99999', 'ftp://collector'],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ['grpc://collector:4317'],
  OTEL_EXPORTER_OTLP_PROTOCOL: ['grpc'],
};

/** Keeps the samples of the sandbox away, with their settings. */
const SERVICE = { COUNTRY_DATA_URL: 'http://service.invalid' };

const faultOf = (env: Record<string, string>): string => {
  try {
    readConfig(env, plugins);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  return '';
};

describe('settings', () => {
  it('settings have defaults', () => {
    expect(readConfig({}, plugins)).toMatchObject({
      countryDataUrl: undefined,
      host: '127.0.0.1',
      port: 4000,
      cacheUrl: 'memory:',
      cacheTtlSeconds: 300,
      staleIfErrorSeconds: 86_400,
      authTtlSeconds: 300,
      batchWindowMs: 2,
      upstreamTimeoutMs: 10_000,
      upstreamRetries: 2,
      operationTimeoutMs: 30_000,
      rateLimitWaitMs: 0,
      maxConcurrentOperations: 512,
      maxUpstreamCalls: 60,
      maxDepth: 12,
      maxAliases: 200,
      maxListItems: 1000,
      maxBodyBytes: 1024 * 1024,
      drainDelayMs: 0,
      drainTimeoutMs: 10_000,
      introspection: true,
      corsOrigins: [],
      logLevel: 'info',
      plugins: { batches: { MAX_BATCHED_OPERATIONS: 10 }, graphiql: { GRAPHIQL: true } },
    });
  });

  it('settings of a plugin that is not there are none', () => {
    expect(settingNamesOf(plugins)).toContain('GRAPHIQL');
    expect(settingNamesOf([])).not.toContain('GRAPHIQL');
    expect(readConfig({ GRAPHIQL: 'perhaps' }).plugins).toEqual({});
  });

  describe('of memory', () => {
    const GB = 1_000_000_000;
    const free = { limitBytes: null, totalBytes: 24 * GB };

    it.each<
      [string, Record<string, string>, typeof free | { limitBytes: number; totalBytes: number }, number]
    >([
      ['is 1,024 MB for a process of a large machine', {}, free, 1_024],
      ['is as much for each worker', { WORKERS: '4' }, free, 4_096],
      ['is a quarter of a small machine', {}, { limitBytes: null, totalBytes: 2 * GB }, 500],
      ['is most of what a container may take', {}, { limitBytes: 0.8 * GB, totalBytes: 24 * GB }, 720],
      ['is what is given', { MEMORY_MB: '600' }, { limitBytes: 0.8 * GB, totalBytes: 24 * GB }, 600],
    ])('settings of memory follow from the budget: %s', (_, env, machine, memoryMb) => {
      expect(readConfig(env, plugins, machine).memoryMb).toBe(memoryMb);
    });

    it.each([256, 512, 1_024, 4_096])(
      'settings of memory have others follow from %d MB, which they leave most of',
      (mb) => {
        const config = readConfig({ MEMORY_MB: String(mb) }, plugins, free);
        const held = config.cacheMaxBytes + config.answersMaxBytes;
        expect(held).toBeGreaterThan(0.05 * mb * 1e6);
        const { operationBytes, bodyBytes } = cacheBounds(config);
        expect(held + operationBytes + bodyBytes).toBeLessThan(0.45 * mb * 1e6);
        expect(waitingBounds(config).maxInAll).toBeLessThan(0.2 * mb * 1e6);
        expect(config.maxAnswerBytes).toBeLessThan(0.1 * mb * 1e6);
      },
    );

    it('settings of memory give way to those that are given', () => {
      const given = { CACHE_MAX_BYTES: '50000000', ANSWERS_MAX_BYTES: '0', MAX_ANSWER_BYTES: '5000000' };
      expect(readConfig({ MEMORY_MB: '512', ...given }, plugins, free)).toMatchObject({
        cacheMaxBytes: 50_000_000,
        answersMaxBytes: 0,
        maxAnswerBytes: 5_000_000,
      });
    });

    it('settings of memory are refused where a budget that is given has no room for them', () => {
      expect(faultOf({ MEMORY_MB: '100' })).toContain(
        'MEMORY_MB: must be 192 or more with WORKERS=1 (got "100")',
      );
      const pictures = {
        PUBLIC_DOCUMENTS: 'p.json',
        TRUSTED_DOCUMENTS: 't.json',
        COUNTRY_DATA_KEY: 'demo-team',
        CACHE_URL: 'sqlite:f.db',
      };
      expect(faultOf({ MEMORY_MB: '255', ...pictures })).toContain(
        'MEMORY_MB: must be 256 or more with WORKERS=1 and PUBLIC_DOCUMENTS (got "255")',
      );
      expect(faultOf({ MEMORY_MB: '500', WORKERS: '4' })).toContain('MEMORY_MB: must be 864 or more');
      expect(faultOf({ MEMORY_MB: '256', CACHE_MAX_BYTES: '134217728' })).toMatch(
        /MEMORY_MB: lacks \d+ MB for CACHE_MAX_BYTES and ANSWERS_MAX_BYTES \(got "256"\)/,
      );
    });

    it('settings of memory are remarked on where nobody has given the budget', () => {
      expect(remarkOnBudget(readConfig({}, plugins, free))).toBeNull();
      const small = readConfig({ WORKERS: '4' }, plugins, { limitBytes: 0.5 * GB, totalBytes: 24 * GB });
      expect(remarkOnBudget(small)).toBe(
        'The program may take 450 MB (MEMORY_MB), which must be 864 or more with WORKERS=4',
      );
      expect(remarkOnBudget(readConfig({ CACHE_MAX_BYTES: '2000000000' }, plugins, free))).toMatch(
        /lacks \d+ MB/,
      );
    });

    it('settings of memory are shared by the processes of a program', () => {
      const config = readConfig({ WORKERS: '4' }, plugins, free);
      const rest = config.memoryMb - 4 * processBudgetMb(config);
      // A process that supervises, and the file that the workers share.
      expect(rest).toBeGreaterThan(80 + config.cacheMaxBytes / 2 / 1e6);
      expect(rest).toBeLessThan(100 + config.cacheMaxBytes / 2 / 1e6);
    });

    it('settings of memory bound the garbage of the heap, so that full caches and it fit the budget', () => {
      expect(heapGrowthFlagIn({ MEMORY_MB: '256' })).toBe('--heap-growing-percent=20');
      expect(heapGrowthFlagIn({ MEMORY_MB: '1024' })).toBe('--heap-growing-percent=48');
      expect(heapGrowthFlagIn({ MEMORY_MB: '2048', WORKERS: '2' })).toBe('--heap-growing-percent=48');
    });

    it('settings of memory are told to the engine before the program is loaded, where the budget is small', () => {
      const started = ['--max-semi-space-size=64'];
      expect(startOf({}, started, free)).toBeNull();
      expect(startOf({}, [], free)).toBeNull();
      expect(startOf({ MEMORY_MB: '256' }, started)?.flags).toEqual([
        '--max-semi-space-size=4',
        '--initial-old-space-size=0',
      ]);
      expect(startOf({ MEMORY_MB: '256' }, [...started, '--max-semi-space-size=4'])).toBeNull();
      expect(startOf({ MEMORY_MB: '256', NODE_OPTIONS: '--max-semi-space-size=4' }, [])).toBeNull();
      expect(startOf({}, started, { limitBytes: 0.8 * GB, totalBytes: 24 * GB })).toEqual({
        flags: ['--max-semi-space-size=16', '--initial-old-space-size=161'],
        env: { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' },
      });
      expect(startOf({ WORKERS: '2' }, started, free)).toBeNull();
      expect([autoWorkers(8), autoWorkers(128)]).toEqual([8, 64]);
      expect(startOf({ WORKERS: '4', MEMORY_MB: '2000' }, started)?.flags).toEqual([
        '--max-semi-space-size=16',
        '--initial-old-space-size=93',
      ]);
    });
  });

  it('settings take the default for an empty variable', () => {
    const names = Object.keys(WRONG).filter((name) => name !== 'COUNTRY_DATA_URL');
    const empty = Object.fromEntries(names.map((name) => [name, '']));
    expect(readConfig(empty, plugins)).toEqual(readConfig({}, plugins));
  });

  it('settings take no synthetic figures for an address that is empty', () => {
    expect(() => readConfig({ COUNTRY_DATA_URL: '', PORT: 'x' })).toThrow(
      /2 error.*\n {2}COUNTRY_DATA_URL: is empty; .*\n {2}PORT: /,
    );
  });

  it('settings are read', () => {
    expect(
      readConfig({
        COUNTRY_DATA_URL: 'https://data.example/base/',
        HOST: '::',
        PORT: '0',
        CACHE_URL: 'rediss://user:secret@cache.example:6379/1',
        BATCH_WINDOW_MS: '0',
        INTROSPECTION: 'off',
        CORS_ORIGINS: 'https://App.example/, http://localhost:3000',
      }),
    ).toMatchObject({
      countryDataUrl: 'https://data.example/base',
      host: '::',
      port: 0,
      cacheUrl: 'rediss://user:secret@cache.example:6379/1',
      batchWindowMs: 0,
      introspection: false,
      corsOrigins: ['https://app.example', 'http://localhost:3000'],
    });
  });

  it('settings cannot be changed afterwards', () => {
    expect(Object.isFrozen(readConfig({}))).toBe(true);
  });

  it.for(Object.entries(WRONG).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    'the setting %s may not be %j',
    ([name, value]) => {
      expect(faultOf({ [name]: value })).toMatch(
        new RegExp(`^The settings have 1 error\\(s\\):\\n  ${name}: .+$`),
      );
    },
  );

  it('settings are all named in one message where they are wrong', () => {
    const message = faultOf(
      Object.fromEntries(Object.entries(WRONG).map(([name, [value]]) => [name, value ?? ''])),
    );
    for (const name of Object.keys(WRONG)) expect(message).toContain(`\n  ${name}: `);
  });

  it('settings of issued keys fit together, and keep secrets to themselves', () => {
    const key = { COUNTRY_DATA_KEY: 'demo-team' };
    expect(readConfig(key, plugins).plugins['issued-keys']).toMatchObject(key);
    expect(faultOf({ ...key, CACHE_URL: 'none' })).toContain('COUNTRY_DATA_KEY: issued keys need a store');
    expect(faultOf({ ...key, WORKERS: '2' })).toContain('COUNTRY_DATA_KEY: workers share issued keys');
    expect(faultOf({ ...key, SUBGRAPH_PREFIX: 'CG_' })).toContain('no SUBGRAPH_PREFIX');
    const tools = { MCP: 'on', TRUSTED_DOCUMENTS: 'documents.json', MCP_BUDGET: '5' };
    expect(faultOf({ ...tools, WORKERS: '2' })).toContain('MCP_BUDGET: workers share it');
    expect(faultOf({ ...tools, MCP_KEY: 'models' })).toContain('MCP_KEY: names an issued key');
    expect(faultOf({ ...tools, MCP_KEY: 'a name', COUNTRY_DATA_KEY: 'demo-team' })).toContain(
      'MCP_KEY: must be',
    );
    expect(readConfig(tools, plugins).plugins['mcp-tools']).toMatchObject({ MCP_BUDGET: 5 });
    const open = { PUBLIC_DOCUMENTS: 'public.json' };
    for (const given of [open, { ...open, ...key }, { ...open, TRUSTED_DOCUMENTS: 'trusted.json' }])
      expect(faultOf(given)).toContain('PUBLIC_DOCUMENTS: needs TRUSTED_DOCUMENTS');
    expect(faultOf({ MCP: 'on', TRUSTED_DOCUMENTS: 'x', TRUSTED_DOCUMENTS_FOR: 'issued' })).toContain(
      'must be all',
    );
    expect(faultOf({ COUNTRY_DATA_KEY: 'a b c d e f', OPERATOR_KEY: 'short' })).not.toMatch(/a b c|short/);
    expect(readConfig({ TRUSTED_PROXIES: '10.0.0.0/8, ::1' }).trustedProxies).toEqual(['10.0.0.0/8', '::1']);
  });

  it('settings keep the password of an address, and the pepper, to themselves', () => {
    for (const name of ['CACHE_URL', 'COUNTRY_DATA_URL', 'PURGE_URL'])
      expect(faultOf({ [name]: 'http://user:hidden@some.example' })).not.toContain('hidden');
    expect(faultOf({ KEY_PEPPER: 'too-short' })).not.toContain('too-short');
  });

  it('settings that are secret may stand in files, of which a last newline is no part', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'country-graph-secrets-'));
    const fileOf = async (name: string, text: string) => {
      await writeFile(join(folder.path, name), text);
      return join(folder.path, name);
    };
    const pepper = await fileOf('pepper', ' a pepper of 24 letters \n\n');
    const cache = await fileOf('cache', 'redis://:hidden@cache.example\r\n');
    expect(readConfig({ KEY_PEPPER_FILE: pepper, CACHE_URL_FILE: cache })).toMatchObject({
      keyPepper: ' a pepper of 24 letters \n',
      cacheUrl: 'redis://:hidden@cache.example',
    });
    const empty = await fileOf('empty', '\n');
    const short = await fileOf('short', 'too-short\n');
    const wrong = await fileOf('wrong', 'http://user:hidden@cache.example\n');
    for (const [env, said] of [
      [
        { KEY_PEPPER_FILE: pepper, KEY_PEPPER: 'another pepper of ours' },
        /KEY_PEPPER: is given twice, by itself and by KEY_PEPPER_FILE/,
      ],
      [{ CACHE_URL_FILE: cache, CACHE_URL: 'memory:' }, /CACHE_URL: is given twice/],
      [{ KEY_PEPPER_FILE: join(folder.path, 'missing') }, /KEY_PEPPER_FILE: .*missing can't be read: ENOENT/],
      [{ KEY_PEPPER_FILE: folder.path }, /KEY_PEPPER_FILE: .* can't be read: EISDIR/],
      [{ CACHE_URL_FILE: empty }, /CACHE_URL_FILE: must name a file with something in it \(got ".*empty"\)/],
      [{ KEY_PEPPER_FILE: short }, /KEY_PEPPER: must have 16 characters or more \(got a secret\)/],
      [{ CACHE_URL_FILE: wrong }, /CACHE_URL: must be memory:.* \(got an address\)/],
    ] as const) {
      const message = faultOf(env);
      expect(message).toMatch(/^The settings have 1 error\(s\):\n/);
      expect(message).toMatch(said);
      expect(message).not.toMatch(/hidden|too-short|another pepper/);
    }
  });

  it('settings have another port for health and metrics than for the rest, unless any will do', () => {
    expect(faultOf({ PORT: '4001', ADMIN_PORT: '4001' })).toContain(
      'ADMIN_PORT: must be another port than PORT',
    );
    expect(faultOf({ ADMIN_PORT: '04000' })).toContain('ADMIN_PORT: must be another port than PORT');
    expect(readConfig({ PORT: '0', ADMIN_PORT: '0' })).toMatchObject({ port: 0, adminPort: 0 });
    expect(readConfig({ ADMIN_PORT: '9100' })).toMatchObject({ adminPort: 9100 });
  });

  it.for([
    { CACHE_URL: 'redis://localhost:99999999' },
    { CACHE_URL: `sqlite:${tmpdir()}` },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' },
    { HOST: '192.0.2.1', PORT: '0' },
    { PURGE_KEY: 'secret', ...SERVICE },
    { OPERATOR_KEY: 'an-operator-of-ours', ADMIN_PORT: '0', ...SERVICE },
    { OPERATOR_KEY: 'an-operator-of-ours', COUNTRY_DATA_KEY: 'demo-team' },
    { TRUSTED_DOCUMENTS_FOR: 'issued', ...SERVICE },
  ])('settings stop the program with one sentence and exit code 2: %j', async (env) => {
    const { code, stdout, stderr } = await run({ PATH: process.env.PATH ?? '', ...env });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(new RegExp(`^The settings have 1 error\\(s\\):\n  ${Object.keys(env)[0]}: .+\n$`));
  });

  it('settings that do nothing beside others are remarked on, if somebody has chosen them', () => {
    const remarksOn = (env: Record<string, string>) => remarksOf(plugins, env, readConfig(env, plugins));
    const long = 'is longer than OPERATION_TIMEOUT_MS';
    for (const [env, ...remarks] of [
      [{}],
      [{ OPERATION_TIMEOUT_MS: '1000', RATE_LIMIT_WAIT_MS: '1000', SUBSCRIPTIONS_POLL_SECONDS: '' }],
      [{ RATE_LIMIT_WAIT_MS: '60000' }, `RATE_LIMIT_WAIT_MS (60000) ${long} (30000)`],
      [{ OPERATION_TIMEOUT_MS: '5', UPSTREAM_TIMEOUT_MS: '6' }, `UPSTREAM_TIMEOUT_MS (6) ${long} (5)`],
      [{ CACHE_URL: 'none', CACHE_TTL_SECONDS: '0', STALE_IF_ERROR_SECONDS: '0' }],
      [{ CACHE_URL: 'none', CACHE_TTL_SECONDS: '60' }, 'CACHE_TTL_SECONDS does nothing with CACHE_URL=none'],
      [{ CORS_ORIGINS: '*, https://app.example' }, 'CORS_ORIGINS allows all origins'],
      [{ SUBSCRIPTIONS: 'on', MAX_SUBSCRIPTIONS: '5' }],
      [{ MAX_SUBSCRIPTIONS: '5' }, 'MAX_SUBSCRIPTIONS does nothing without SUBSCRIPTIONS=on'],
      [{ MCP_BUDGET: '5' }, 'MCP_BUDGET does nothing without MCP=on'],
    ] as const)
      expect(remarksOn(env)).toEqual(remarks.map((remark) => expect.stringContaining(remark)));
  });

  it('settings are checked though others are wrong', () => {
    const message = faultOf({
      PORT: '4000',
      ADMIN_PORT: '4000',
      MCP: 'on',
      LOG_LEVEL: 'loud',
      CACHE_URL: 'sqlite:/',
    });
    for (const name of ['ADMIN_PORT', 'MCP', 'LOG_LEVEL', 'CACHE_URL'])
      expect(message).toContain(`\n  ${name}: `);
    expect(message).toContain('4 error(s)');
  });

  it('settings stop the program with exit code 2 where they are wrong', async () => {
    const { code, stdout, stderr } = await run({ PORT: 'x', LOG_LEVEL: 'loud' });
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('PORT');
    expect(stderr).toContain('LOG_LEVEL');
  });
});

function run(env: Record<string, string>) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, ['bin/country-graph.cjs', 'serve'], { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}
