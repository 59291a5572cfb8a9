import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { tracing } from '../../../src/plugins/tracing/plugin.ts';
import { createSandbox } from '../../../src/sandbox/sandbox.ts';
import { openAlone } from '../../support/plugin-host.ts';
import { type Serving, SOURCES, startServing } from '../../support/serving.ts';

interface Resource {
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue: string } }[];
}

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number };
}

/** A receiver of traces as OTLP over HTTP. */
async function openReceiver() {
  const bodies: string[] = [];
  const types: unknown[] = [];
  const server = createServer(async (request, response) => {
    types.push(request.headers['content-type']);
    bodies.push(await text(request));
    response.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Versions that resources say they have. */
    versions: () =>
      bodies.flatMap((body) =>
        JSON.parse(body).resourceSpans.flatMap(({ resource }: { resource: Resource }) =>
          resource.attributes.flatMap(({ key, value }) =>
            key === 'service.version' ? value.stringValue : [],
          ),
        ),
      ),
    bodies,
    types,
    spans: (): Span[] =>
      bodies.flatMap((body) =>
        JSON.parse(body).resourceSpans.flatMap((resource: { scopeSpans: { spans: Span[] }[] }) =>
          resource.scopeSpans.flatMap(({ spans }) => spans),
        ),
      ),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A service that notes the headers of requests, in front of the sandbox. */
async function openService() {
  const sandbox = createSandbox();
  const { url } = await sandbox.listen();
  const asked: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  const server = createServer(async ({ url: path = '', headers }, response) => {
    asked.push({ path, headers });
    const { authorization = '' } = headers;
    const answer = await fetch(`${url}${path}`, { headers: { authorization } });
    const type = answer.headers.get('content-type') ?? '';
    response.writeHead(answer.status, { 'content-type': type }).end(await answer.text());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await sandbox.close();
    },
  };
}

const KEY = 'demo-team';

async function ask({ url }: Serving, query: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}`, ...headers },
    body: JSON.stringify({ query }),
  });
  const {
    data,
    errors = [],
    extensions,
  } = (await response.json()) as {
    data: unknown;
    errors?: readonly unknown[];
    extensions: { upstream: { calls: number; shared: number } };
  };
  expect(errors).toEqual([]);
  return { data, upstream: extensions.upstream };
}

/** Ends the program, which sends the traces that are left. */
async function stop({ child }: Serving): Promise<void> {
  child.kill('SIGTERM');
  expect((await once(child, 'exit'))[0]).toBe(0);
}

const valuesOf = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** Those of a client. */
const [TRACE_ID, SPAN_ID] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
const TRACEPARENT = `00-${TRACE_ID}-${SPAN_ID}-01`;

const figureOf = (name: string, code: string) =>
  `query ${name} { country(code: "${code}") { observation(metricKey: "population_total") { value } } }`;

describe('traces', () => {
  it('traces show a batch once, linked with all operations that share it', { timeout: 30_000 }, async () => {
    await using receiver = await openReceiver();
    await using service = await openService();
    const program = await startServing({
      env: {
        COUNTRY_DATA_URL: service.url,
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        BATCH_WINDOW_MS: '200',
        LOG_LEVEL: 'silent',
        GRAPHIQL: 'off',
      },
    });
    const asked = await Promise.all([
      ask(program, figureOf('One', 'KE'), { traceparent: TRACEPARENT }),
      ask(program, figureOf('Two', 'NG')),
      ask(program, figureOf('Three', 'GH')),
    ]);
    await stop(program);
    expect(asked.reduce((sum, { upstream }) => sum + upstream.calls, 0)).toBe(1);
    expect(service.asked).toHaveLength(1);

    const spans = receiver.spans();
    const operations = spans.filter(({ name }) => name === 'query');
    expect(operations.map((span) => valuesOf(span)['graphql.operation.name']).toSorted()).toEqual([
      'One',
      'Three',
      'Two',
    ]);
    const one = operations.find((span) => valuesOf(span)['graphql.operation.name'] === 'One');
    expect([one?.traceId, one?.parentSpanId]).toEqual([TRACE_ID, SPAN_ID]);

    const batches = spans.filter(({ name }) => name === 'batch');
    expect(batches).toHaveLength(1);
    const [batch] = batches as [Span];
    expect(batch.links?.map((link) => link.spanId).toSorted()).toEqual(
      operations.map((span) => span.spanId).toSorted(),
    );
    for (const { links } of operations) expect(links?.map((link) => link.spanId)).toEqual([batch.spanId]);
    expect(valuesOf(batch)).toEqual({
      'country_graph.batch.operations': 3,
      'country_graph.batch.demands': 3,
    });

    const call = spans.find(
      ({ parentSpanId, name }) => parentSpanId === batch.spanId && name === 'upstream call',
    );
    const [attempt] = spans.filter(({ parentSpanId }) => parentSpanId === call?.spanId) as [Span];
    expect([attempt.name, valuesOf(attempt)]).toEqual([
      'GET /v1/data',
      { 'http.request.method': 'GET', 'url.template': '/v1/data', 'http.response.status_code': 200 },
    ]);
    expect([...new Set(receiver.versions())]).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+\+[\w.]+$/)]);
    expect(service.asked[0]?.headers.traceparent).toBe(`00-${attempt.traceId}-${attempt.spanId}-01`);
    expect(
      spans.filter(({ name, parentSpanId }) => name === 'decode' && parentSpanId === batch.spanId),
    ).toHaveLength(1);
    expect(receiver.bodies.join('')).not.toContain(KEY);
    expect(receiver.bodies.join('')).toContain('"country-graph"');
  });

  it('traces pass on what the W3C allows of a client, whatever it sends', { timeout: 30_000 }, async () => {
    await using receiver = await openReceiver();
    await using service = await openService();
    const program = await startServing({
      env: {
        COUNTRY_DATA_URL: service.url,
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        CACHE_URL: 'none',
        GRAPHIQL: 'off',
      },
    });
    const members = (count: number, length: number) =>
      Array.from({ length: count }, (_, i) => `k${i}=${'v'.repeat(length)}`).join(',');
    const sent = [
      { traceparent: TRACEPARENT, tracestate: 'a=1,b=2' },
      { traceparent: TRACEPARENT, tracestate: members(40, 1) },
      { traceparent: TRACEPARENT, tracestate: members(20, 100) },
      { traceparent: TRACEPARENT, tracestate: members(1, 4_000) },
      { traceparent: TRACEPARENT, tracestate: 'a=\u00e9,=,,B=1,c=\t,d@=1,e=1=2' },
      { traceparent: 'x'.repeat(4_000), tracestate: members(1, 4_000) },
      { traceparent: `${TRACEPARENT}, ${TRACEPARENT}`, baggage: members(40, 100) },
    ];
    for (const headers of sent) await ask(program, figureOf('One', 'KE'), headers);
    await stop(program);
    expect(service.asked).toHaveLength(sent.length);
    for (const [i, { headers }] of service.asked.entries()) {
      const { traceparent, tracestate = '', baggage } = headers;
      expect([i, traceparent, baggage]).toEqual([
        i,
        expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
        undefined,
      ]);
      expect([i, traceparent?.includes(TRACE_ID)]).toEqual([i, i < 5]);
      const passed = String(tracestate);
      expect([i, passed.length <= 512, passed.split(',').length <= 32]).toEqual([i, true, true]);
    }
    expect(service.asked[0]?.headers.tracestate).toBe('a=1,b=2');
  });

  it('traces are neither made nor loaded where nothing asks for them', { timeout: 30_000 }, async () => {
    await using receiver = await openReceiver();
    await using service = await openService();
    for (const env of [
      {},
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_SDK_DISABLED: 'true',
      },
    ]) {
      const program = await startServing({
        bin: SOURCES,
        // A loader's hook that names the modules of it that are loaded.
        nodeArgs: ['--import', `data:text/javascript,${encodeURIComponent(WATCHING)}`],
        isLogKept: true,
        env: { COUNTRY_DATA_URL: service.url, LOG_LEVEL: 'silent', GRAPHIQL: 'off', ...env },
      });
      await ask(program, figureOf('One', 'KE'), {
        traceparent: TRACEPARENT,
      });
      await stop(program);
      expect(program.errors()).toBe('watching\n');
    }
    expect(service.asked.map(({ headers }) => headers.traceparent)).toEqual([undefined, undefined]);
    expect(receiver.bodies).toEqual([]);
  });
});

/** The metrics have the interface of OpenTelemetry loaded, which does nothing by itself. */
const WATCHING = `
  import { registerHooks } from 'node:module';
  import { writeSync } from 'node:fs';
  writeSync(2, 'watching\\n');
  registerHooks({
    resolve(specifier, context, next) {
      if (/^@opentelemetry\\/(?!api$)|\\/tracing\\.ts$/.test(specifier)) writeSync(2, specifier + '\\n');
      return next(specifier, context);
    },
  });
`;

describe('the protocol of traces', () => {
  it.for([
    [{}, 'application/x-protobuf'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }, 'application/x-protobuf'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, 'application/json'],
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf' },
      'application/x-protobuf',
    ],
  ] as const)('the protocol of traces with %j is %s', async ([env, type]) => {
    await using receiver = await openReceiver();
    const program = await startServing({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env } });
    await ask(program, figureOf('Named', 'KE'));
    await stop(program);
    expect(new Set(receiver.types)).toEqual(new Set([type]));
    const sent = receiver.bodies.join('');
    for (const word of ['graphql.operation.type', 'Named', 'upstream call', 'country-graph'])
      expect(sent).toContain(word);
  });
});

describe('whether traces are sent', () => {
  const address = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  it.for([
    [{}, false],
    [address, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }, true],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
    [{ ...address, OTEL_TRACES_EXPORTER: 'none' }, false],
    [{ ...address, OTEL_SDK_DISABLED: 'true' }, false],
    [{ ...address, OTEL_SDK_DISABLED: 'false' }, true],
    [{ ...address, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
  ] as const)('whether traces are sent with %j: %s', async ([env, expected]) => {
    const opened = await openAlone([tracing], env);
    expect(opened.all).toHaveLength(expected ? 1 : 0);
    await opened.close();
  });
});
