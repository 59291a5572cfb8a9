import type { GraphQLSchema } from 'graphql';
import type { StoreOutage } from '../../src/cache/outage.ts';
import { readConfig } from '../../src/config/config.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import type { RunFile } from '../../src/gateway/gateway-parts.ts';
import { openSchema } from '../../src/gateway/open-schema.ts';
import type { OperationEvent } from '../../src/graphql/request/operation-events.ts';
import type { PluginDefinition } from '../../src/plugin/definition.ts';
import { plugins as all } from '../../src/plugins.ts';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createServer } from '../../src/server/server.ts';
import type { Bill } from '../../src/service/bill.ts';
import { type Clock, systemClock } from '../../src/shared/async/clock.ts';
import { heldTimers } from './held-timers.ts';

/** The API of the plugin for issued keys, which may be absent. */
interface IssuedApi {
  readonly desk: { create(terms: object): Promise<{ readonly key: string }> };
  readonly usage: { flush(): Promise<void> };
}

export interface GraphqlError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: string };
}

/** A response as a client reads it. The request's identifier in errors is checked and then removed. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly data: any;
  readonly errors: readonly GraphqlError[];
  readonly extensions: Readonly<Record<string, unknown>>;
  readonly upstream: {
    readonly calls: number;
    readonly byRoute: Readonly<Record<string, number>>;
    readonly shared: number;
    readonly cached: number;
    readonly naive: number;
    readonly stale?: Bill['stale'];
  };
}

export interface Asking {
  /** The bearer key; null sends none. By default, the team's, whose limits no test reaches. */
  readonly key?: string | null;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly onError?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface ProgramOptions {
  readonly sandbox?: SandboxOptions;
  /** Settings by their environment names. `CACHE_URL` is `none` by default, and a store may be as slow as the machine. */
  readonly env?: Readonly<Record<string, string>>;
  /** A clock of the test. Unless it has `after`, timers of a second or more wait until the test has them pass. */
  readonly clock?: Omit<Clock, 'after'> & Partial<Clock>;
  /** A service instead of the sandbox. */
  readonly upstreamUrl?: string;
  /** Instead of all plugins of the program. */
  readonly shipped?: readonly PluginDefinition[];
  /** Further plugins, after those of the program. */
  readonly plugins?: readonly PluginDefinition[];
  /** A schema instead of the program's. */
  readonly opened?: GraphQLSchema;
  /** The file that workers of one program share. */
  readonly runFile?: RunFile;
}

/** Schemas by their parts: building one takes longer than all the rest of a program. */
const schemas: { readonly made: Parameters<typeof openSchema>; readonly schema: Promise<GraphQLSchema> }[] =
  [];

const openOnce: typeof openSchema = (...[parts = [], subgraph = null]) => {
  const made = [parts, subgraph] as const;
  const cached = schemas.find(
    ({ made: [its = [], ...rest] }) =>
      its.length === parts.length && its.every((part, i) => part === parts[i]) && rest[0] === subgraph,
  );
  if (cached !== undefined) return cached.schema;
  const schema = openSchema(...made);
  // The schema of a subgraph is built for each program.
  if (subgraph === null) schemas.push({ made: [...made], schema });
  return schema;
};

/** The whole program over a new sandbox, on free ports. */
export async function openProgram({
  sandbox: options,
  env = {},
  clock,
  upstreamUrl,
  shipped = all,
  plugins: further = [],
  opened,
  runFile,
}: ProgramOptions = {}) {
  const plugins = [...shipped, ...further];
  const sandbox = createSandbox(options);
  const service = await sandbox.listen();
  const config = readConfig({ PORT: '0', CACHE_URL: 'none', CACHE_TIMEOUT_MS: '60000', ...env }, plugins);
  const timers = heldTimers();
  const operations: OperationEvent[] = [];
  const problems: unknown[] = [];
  const warnings: string[] = [];
  const metrics = createMetrics();
  const observer = {
    ...metrics,
    operation(event: OperationEvent) {
      operations.push(event);
      metrics.operation(event);
    },
    note() {},
    warn(words: string) {
      warnings.push(words);
    },
    outage(outage: StoreOutage) {
      problems.push(outage);
      metrics.outage?.(outage);
    },
    problem(error: unknown, where: string) {
      problems.push(error);
      metrics.problem(error, where);
    },
  };
  const gateway = await createGateway({
    config,
    plugins,
    upstreamUrl: upstreamUrl ?? service.url,
    runFile,
    observer,
    clock: { ...systemClock, after: timers.after, ...clock },
    openSchema: opened === undefined ? openOnce : async () => opened,
  });
  const server = createServer({
    config,
    gateway,
    metrics,
    log: observer as never,
    demoKeys: upstreamUrl === undefined ? sandbox.keys : null,
  });
  const { url, adminUrl } = await server.listen();

  return {
    url,
    /** The URL of `ADMIN_PORT`, if that is set. */
    adminUrl,
    sandbox,
    service,
    operations,
    problems,
    warnings,
    timers,
    /** Evicts cached values, as the program does if memory is low. */
    shrink: gateway.shrink,
    /** Issued keys, if the gateway issues any. */
    issued: gateway.plugins.api<IssuedApi>('issued-keys'),
    schema: gateway.schema,
    /** Sends an operation over HTTP, as a current client does. */
    async ask(
      query: string,
      { key = sandbox.keys.team, variables, onError, headers, signal }: Asking = {},
    ): Promise<Reply> {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/graphql-response+json, application/json;q=0.9',
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...headers,
        },
        body: JSON.stringify({ query, variables, onError }),
        ...(signal === undefined ? {} : { signal }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: as above
      const body = (await response.json()) as any;
      const requestId = response.headers.get('x-request-id');
      for (const { message, extensions } of body.errors ?? []) {
        if (requestId === null || extensions.requestId !== requestId)
          throw new Error(`The error doesn't name the request: ${message}`);
        delete extensions.requestId;
      }
      return {
        status: response.status,
        headers: response.headers,
        data: body.data,
        errors: body.errors ?? [],
        extensions: body.extensions,
        upstream: body.extensions?.upstream,
      };
    },
    /** The requests that reached the service since the previous call, as `METHOD target`. */
    requests(): string[] {
      const seen = sandbox.log.map(({ method, path, query }) => {
        const search = new URLSearchParams(query as never).toString().replaceAll('%2C', ',');
        return `${method} ${path}${search === '' ? '' : `?${search}`}`;
      });
      sandbox.log.clear();
      return seen;
    },
    drain: () => server.drain(),
    async [Symbol.asyncDispose]() {
      await server.drain();
      await sandbox.close();
    },
  };
}

export type Program = Awaited<ReturnType<typeof openProgram>>;
