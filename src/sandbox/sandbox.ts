import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Access, type KeyName, keys, type PlanLimits } from './access.ts';
import { Faults } from './faults.ts';
import { Query, Refused } from './query.ts';
import { type LoggedRequest, RequestLog } from './request-log.ts';
import { type Answer, type Habits, type Route, routeOf } from './route.ts';
import { routes } from './routes.ts';

/** Behaviour of a sandbox on points that the specification leaves open. */
export interface SandboxOptions extends Partial<Omit<Habits, 'runs'>> {
  /** Milliseconds since 1970; moves the minute and month windows, never the figures. */
  now?: () => number;
  /**
   * `data`: under `data`, with `meta` if the route has one. `bare`: the array or object itself, without meta.
   * `other`: an array under `results`, an object under `result`, with meta.
   */
  wrap?: 'data' | 'bare' | 'other';
  /** The case of country codes in answers; both are read. */
  codeCase?: 'lower' | 'upper';
  /** Limits by plan, in place of the documented ones: `free`, `analyst`, `team`. */
  plans?: Record<string, PlanLimits>;
  /** Templates of routes that the service doesn't have: they are answered as any path is that leads nowhere. */
  absentRoutes?: readonly string[];
  /** Delay of every answer. */
  latencyMs?: number;
}

export interface Sandbox {
  /** Starts to listen, on 127.0.0.1 and a free port unless told, and gives the base address, without a slash. */
  listen(at?: { host?: string; port?: number }): Promise<{ url: string }>;
  /** Ends every connection at once, hanging ones too. */
  close(): Promise<void>;
  /** Puts the counters of all keys back to their start. */
  resetCounters(): void;
  /** Requests counted against the account of a key: the calls that it has been billed. */
  usage(key: KeyName): { minute: number; month: number };
  /** A source has run well just now: etl-status says so, and its rows are retrieved anew. Its figures stay as they are. */
  refresh(source: string): void;
  readonly keys: typeof keys;
  readonly faults: Faults;
  readonly log: RequestLog;
}

const HTML = '<!doctype html><html><body><h1>It works</h1></body></html>';

/** The REST service in miniature: real HTTP, synthetic figures. */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const { now = Date.now, wrap = 'data', codeCase = 'lower', latencyMs = 0, absentRoutes = [] } = options;
  const there = routes.filter(({ template }) => !absentRoutes.includes(template));
  const runs = new Map<string, string>();
  const habits: Habits = {
    runs,
    extras: options.extras ?? 'honour',
    unknown: options.unknown ?? 'empty',
    government: options.government ?? 'offices',
    maxRows: options.maxRows ?? 1_000,
    defaultRows: options.defaultRows ?? 100,
  };
  const access = new Access(now, options.plans);
  const faults = new Faults();
  const log = new RequestLog();

  const server = createServer((request, response) => {
    // A client that leaves while its reply waits or drips ends the work for it, and nothing else.
    serve(request, response).catch(() => response.destroy());
  });
  // Longer than any client keeps its own: a reset must be a fault somebody set.
  server.keepAliveTimeout = 120_000;
  server.on('clientError', (_error, socket) => socket.destroy());

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://sandbox');
    const query = Object.fromEntries(url.searchParams);
    const found = routeOf(there, url.pathname);
    const entry: LoggedRequest = {
      method: request.method ?? 'GET',
      path: url.pathname,
      route: found?.route.template ?? null,
      query,
      key: access.nameOf(request.headers.authorization),
      conditional: request.headers['if-none-match'] !== undefined,
      receivedAt: now(),
      status: null,
      aborted: false,
    };
    log.record(entry);
    const gone = new AbortController();
    let dropped = false;
    response.on('close', () => {
      entry.aborted = !response.writableFinished && !dropped;
      gone.abort();
    });
    const drop = () => {
      dropped = true;
      request.socket.destroy();
    };
    const reply = (status: number, body: string, headers: Record<string, string> = {}) => {
      entry.status = status;
      response.writeHead(status, {
        ...(status === 304
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...headers,
      });
      response.end(status === 304 ? undefined : body);
    };
    const refuse = (status: number, detail: string, headers?: Record<string, string>) =>
      reply(status, JSON.stringify({ detail }), headers);

    request.resume();
    if (!found) return refuse(404, 'Not Found');
    if (request.method !== 'GET') return refuse(405, 'Method Not Allowed', { allow: 'GET' });
    const { route, code } = found;
    if (!route.isPublic) {
      const refusal = access.admit(request.headers.authorization);
      if (refusal) {
        const challenge = refusal.status === 401 ? { 'www-authenticate': 'Bearer' } : undefined;
        return refuse(refusal.status, refusal.detail, challenge);
      }
    }

    const { delayMs, pauses, fault } = faults.meet(route.template, query);
    if (delayMs + latencyMs > 0) await pause(delayMs + latencyMs, undefined, { signal: gone.signal });
    if (pauses.length > 0) await Promise.all(pauses);
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'reset') return drop();
    if (fault?.kind === 'garbage') return reply(200, HTML);
    if (fault?.kind === 'status') {
      const { status, body = { detail: `fault: status ${status}` } } = fault;
      if (typeof body === 'string') return reply(status, body, { 'content-type': 'text/plain' });
      return reply(status, JSON.stringify(body));
    }

    let body: string;
    try {
      body = bodyOf(route, query, code);
    } catch (error) {
      if (error instanceof Refused) return reply(error.status, JSON.stringify(error.body));
      return refuse(500, 'Internal Server Error');
    }
    if (fault?.kind === 'shape') body = JSON.stringify(fault.patch(JSON.parse(body))) ?? '';

    const headers: Record<string, string> = {};
    if (route.cacheable) {
      headers.etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
      headers['cache-control'] = 'private, max-age=300';
      if (isHeld(request.headers['if-none-match'], headers.etag)) return reply(304, '', headers);
    }
    if (fault?.kind !== 'cut' && fault?.kind !== 'drip') return reply(200, body, headers);

    const bytes = Buffer.from(body);
    entry.status = 200;
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': bytes.length,
      ...headers,
    });
    if (fault.kind === 'cut') {
      response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), drop);
      return;
    }
    response.flushHeaders();
    const size = fault.bytes ?? 64;
    for (let sent = 0; sent < bytes.length; sent += size) {
      await pause(fault.ms, undefined, { signal: gone.signal });
      response.write(bytes.subarray(sent, sent + size));
    }
    response.end();
  }

  function bodyOf(route: Route, values: Readonly<Record<string, string>>, code: string): string {
    const query = new Query(values, route.parameters ?? [], route.undocumented ?? [], habits.extras);
    const answer = route.answer(query, habits, code);
    const body = route.plain ? answer.data : wrapped(answer);
    return JSON.stringify(body, codeCase === 'upper' ? upperCodes : undefined);
  }

  function wrapped({ data, meta }: Answer): unknown {
    if (wrap === 'bare') return data;
    const name = wrap === 'data' ? 'data' : Array.isArray(data) ? 'results' : 'result';
    return { [name]: data, ...(meta && { meta }) };
  }

  return {
    listen({ host = '127.0.0.1', port = 0 } = {}) {
      return new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          const name = host.includes(':') ? `[${host}]` : host;
          resolve({ url: `http://${name}:${(server.address() as AddressInfo).port}` });
        });
      });
    },
    close() {
      return new Promise((resolve) => {
        // Ignores an error: it only says that it wasn't listening.
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
    resetCounters: () => access.reset(),
    usage: (key) => access.usageOf(key),
    refresh: (source) => void runs.set(source, new Date(now()).toISOString()),
    keys,
    faults,
    log,
  };
}

const CODE_MEMBERS = new Set([
  'country_code',
  'reporter_country_code',
  'partner_country_code',
  'id',
  'country_codes',
  'borders',
]);

/** A JSON replacer that writes country codes in upper case at any depth. */
function upperCodes(this: unknown, name: string, value: unknown): unknown {
  if (CODE_MEMBERS.has(name)) {
    if (typeof value === 'string') return value.toUpperCase();
    if (Array.isArray(value)) return value.map((code) => String(code).toUpperCase());
  }
  // `code` also names languages and currencies; beside a region it is a country's.
  if (name === 'code' && typeof value === 'string' && Object.hasOwn(this as object, 'region')) {
    return value.toUpperCase();
  }
  return value;
}

/** True if `If-None-Match` names the tag; by the weak comparison, as RFC 9110 wants it for this header. */
function isHeld(header: string | undefined, etag: string): boolean {
  return (header ?? '').split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
}
