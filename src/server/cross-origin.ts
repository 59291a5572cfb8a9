import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { isAmong, patternOf } from '../config/origins.ts';
import { METHODS } from '../graphql/request/requests.ts';
import type { PluginHttp } from '../plugin/definition.ts';
import { excerpt } from '../shared/errors.ts';
import { refuse } from './graphql-route.ts';
import type { Log } from './log.ts';

/** Milliseconds between notes on origins that may not ask. */
const REPORT_INTERVAL_MS = 10_000;

const PREFLIGHT_MAX_AGE_SECONDS = 600;

/** Headers that pages of other origins may read, beside those that browsers always show. */
const EXPOSED_HEADERS = [
  'retry-after',
  'etag',
  'accept-query',
  'x-request-id',
  'x-snapshot',
  'ratelimit',
  'ratelimit-policy',
  'server-timing',
  'x-attribution',
  'x-upstream-bill',
  'x-graphql-errors',
  'x-graphql-warnings',
];

/** Lets pages of `CORS_ORIGINS` ask, and tells the operator of pages that may not. */
export function allowOrigins(
  app: FastifyInstance,
  { corsOrigins: origins }: Config,
  ofPlugins: readonly PluginHttp[],
  note: Log['note'],
): void {
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  app.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'OPTIONS') return done();
    const { origin, 'access-control-request-method': asked } = request.headers;
    if (asked === undefined || origin === undefined) return done();
    if (isAmong(origin, origins) || origins.includes('*')) return done();
    const message = `Pages of ${excerpt(origin)} may not ask here: CORS_ORIGINS doesn't list that origin.`;
    // The browser shows none of it to the page.
    const nowMs = performance.now();
    if (nowMs - reportedAtMs >= REPORT_INTERVAL_MS) {
      note(message);
      reportedAtMs = nowMs;
    }
    refuse(request, reply, 403, 'BAD_REQUEST', message);
  });
  if (origins.length === 0) return;
  app.register(cors, {
    origin: origins.map(patternOf),
    methods: [...METHODS.keys(), ...ofPlugins.flatMap(({ corsMethods = [] }) => corsMethods)],
    // All request headers are allowed, since clients and tracing libraries have headers of their own. No page sends a
    // key but one that has it.
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    strictPreflight: false,
  });
}
