import {
  type Context,
  DiagLogLevel,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import {
  type AttemptWatcher,
  type CallStage,
  errorNameOf,
  excerpt,
  type GatewayResponse,
  type HandleOperation,
  type OutgoingCall,
  type Plugin,
  type Trace,
} from '../../plugin/index.ts';

export type OtlpProtocol = 'http/protobuf' | 'http/json';

/**
 * Sends OpenTelemetry traces as OTLP over HTTP, configured by its own environment variables. Contexts are passed as
 * arguments, so there is no need to track asynchronous calls.
 */
export async function openTracing(
  protocol: OtlpProtocol,
  version: string,
  onError: (error: Error) => void,
): Promise<Plugin> {
  const report = (message: string) => onError(new Error(excerpt(message)));
  const ignore = () => {};
  diag.setLogger(
    { error: report, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    DiagLogLevel.ERROR,
  );
  const named = resourceFromAttributes({ 'service.name': 'country-graph', 'service.version': version });
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(await createExporter(protocol))],
  });
  const means = {
    tracer: provider.getTracer('country-graph', version),
    propagator: new W3CTraceContextPropagator(),
  };
  return {
    operation: (next) => tracedOperationsStage(next, means),
    call: tracedCalls,
    attempt: tracedAttempt,
    close: () => provider.shutdown(),
  };
}

async function createExporter(protocol: OtlpProtocol): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
}

interface Means {
  readonly tracer: Tracer;
  readonly propagator: W3CTraceContextPropagator;
}

class SpanTrace implements Trace {
  readonly span: Span;
  readonly #context: Context;
  readonly #means: Means;
  begun = 0;

  constructor(span: Span, parent: Context, means: Means) {
    this.span = span;
    this.#context = trace.setSpan(parent, span);
    this.#means = means;
  }

  begin(name: string, attributes: Attributed = {}, isCall = false): Trace {
    this.begun += 1;
    const kind = isCall ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const span = this.#means.tracer.startSpan(name, { kind, attributes: copied(attributes) }, this.#context);
    return new SpanTrace(span, this.#context, this.#means);
  }

  set(attributes: Attributed): void {
    this.span.setAttributes(copied(attributes));
    // By OpenTelemetry's convention: the name of an operation is the client's, and may be any.
    const { 'graphql.operation.type': type } = attributes;
    if (type !== undefined) this.span.updateName(String(type));
  }

  link(other: Trace): void {
    if (!(other instanceof SpanTrace)) return;
    this.span.addLink({ context: other.span.spanContext() });
    other.span.addLink({ context: this.span.spanContext() });
  }

  headers(): Readonly<Record<string, string>> {
    const carrier: Record<string, string> = {};
    this.#means.propagator.inject(this.#context, carrier, defaultTextMapSetter);
    return carrier;
  }

  end(error?: string): void {
    if (error !== undefined) {
      this.span.setAttribute('error.type', error);
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end();
  }
}

type Attributed = Parameters<Trace['set']>[0];

/** OpenTelemetry wants mutable lists. */
function copied(attributes: Attributed): Record<string, string | number | boolean | string[]> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]),
  );
}

/** A span for each operation, which continues the client's trace if there is one. */
function tracedOperationsStage(next: HandleOperation, means: Means): HandleOperation {
  return (operation) => {
    const { headers } = operation.request;
    const from = means.propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
    // Renamed once the operation is read.
    const span = means.tracer.startSpan('GraphQL Operation', { kind: SpanKind.SERVER }, from);
    const trace = new SpanTrace(span, from, means);
    const end = (response: GatewayResponse) => {
      trace.set({ 'http.response.status_code': response.status });
      trace.end(response.status >= 500 ? String(response.status) : undefined);
      return response;
    };
    // An answer in parts ends with the last of them.
    const endsWith = (response: GatewayResponse) => {
      operation.onceOver(() => end(response));
      return response;
    };
    const fail = (error: unknown): never => {
      trace.end(errorNameOf(error));
      throw error;
    };
    try {
      const response = next(operation.traced(trace));
      return response instanceof Promise ? response.then(endsWith, fail) : end(response);
    } catch (error) {
      return fail(error);
    }
  };
}

/** A span for each call, with all its attempts and waits. */
const tracedCalls: CallStage = (call, next) => {
  const trace = call.trace?.begin('upstream call', { 'url.template': call.route });
  return trace === undefined ? next() : ended(trace, next({ trace }));
};

/** A span for each request that is sent, announced to the service. */
function tracedAttempt({
  route,
  trace: parent,
}: Pick<OutgoingCall, 'route' | 'trace'>): AttemptWatcher | null {
  if (parent === undefined) return null;
  const resent = parent.begun > 0 ? { 'http.request.resend_count': parent.begun } : {};
  const attributes = { 'http.request.method': 'GET', 'url.template': route, ...resent };
  const trace = parent.begin(`GET ${route}`, attributes, true);
  return {
    headers: trace.headers(),
    onStatus: (status) => trace.set({ 'http.response.status_code': status }),
    onEnd: (error) => trace.end(error),
  };
}

async function ended<Result>(trace: Trace, work: Promise<Result>): Promise<Result> {
  try {
    const result = await work;
    trace.end();
    return result;
  } catch (error) {
    trace.end(errorNameOf(error));
    throw error;
  }
}
