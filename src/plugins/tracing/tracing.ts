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
  type Tracer as SpanTracer,
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
import type { OtlpProtocol } from '../../config/config.ts';
import type { Send } from '../../service/call.ts';
import { faultIn, type Trace, type Tracer } from '../../service/trace.ts';
import { excerpt } from '../../shared/errors.ts';

/**
 * Opens traces by OpenTelemetry, sent as OTLP over HTTP. Its own environment variables give the destination and the
 * rate. Contexts are handed on as arguments, so that nothing has to follow asynchronous calls.
 * @param onFault called with the fault that keeps traces from being sent
 */
export async function createTracer(
  version: string,
  protocol: OtlpProtocol,
  onFault: (fault: Error) => void,
): Promise<Tracer> {
  const tell = (message: string) => onFault(new Error(excerpt(message)));
  const ignore = () => {};
  diag.setLogger(
    { error: tell, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    DiagLogLevel.ERROR,
  );
  const named = resourceFromAttributes({ 'service.name': 'country-graph', 'service.version': version });
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(await createExporter(protocol))],
  });
  const tracer = provider.getTracer('country-graph', version);
  const propagator = new W3CTraceContextPropagator();
  return {
    begin(name, headers) {
      const from = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER }, from);
      return new SpanTrace(span, from, { tracer, propagator });
    },
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
  readonly tracer: SpanTracer;
  readonly propagator: W3CTraceContextPropagator;
}

class SpanTrace implements Trace {
  readonly span: Span;
  readonly #context: Context;
  readonly #means: Means;
  #begun = 0;

  constructor(span: Span, parent: Context, means: Means) {
    this.span = span;
    this.#context = trace.setSpan(parent, span);
    this.#means = means;
  }

  get begun(): number {
    return this.#begun;
  }

  begin(name: string, attributes: Attributed = {}, isCall = false): Trace {
    this.#begun += 1;
    const kind = isCall ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const span = this.#means.tracer.startSpan(name, { kind, attributes: copied(attributes) }, this.#context);
    return new SpanTrace(span, this.#context, this.#means);
  }

  set(attributes: Attributed): void {
    this.span.setAttributes(copied(attributes));
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

  end(fault?: string): void {
    if (fault !== undefined) {
      this.span.setAttribute('error.type', fault);
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end();
  }
}

/** Copies lists: OpenTelemetry's may be changed. */
type Attributed = Parameters<Trace['set']>[0];

function copied(attributes: Attributed): Record<string, string | number | boolean | string[]> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]),
  );
}

/** Makes a span for each call with all its attempts and waits; around the ring that tries again. */
export function tracedCalls(next: Send): Send {
  return (call, sending) => {
    const trace = sending.trace?.begin('upstream call', { 'url.template': call.route });
    return trace === undefined ? next(call, sending) : ended(trace, next(call, { ...sending, trace }));
  };
}

/** Makes a span for each request that is sent, which the service is told of; within the ring that bills them. */
export function tracedAttempts(next: Send): Send {
  return (call, sending) => {
    const { trace: parent } = sending;
    if (parent === undefined) return next(call, sending);
    const attempt = parent.begun;
    const trace = parent.begin(
      `GET ${call.route}`,
      {
        'http.request.method': 'GET',
        'url.template': call.route,
        ...(attempt > 0 ? { 'http.request.resend_count': attempt } : {}),
      },
      true,
    );
    const headers = { ...sending.headers, ...trace.headers() };
    const onStatus = (status: number) => trace.set({ 'http.response.status_code': status });
    return ended(trace, next(call, { ...sending, trace, headers, onStatus }));
  };
}

async function ended<Result>(trace: Trace, work: Promise<Result>): Promise<Result> {
  try {
    const result = await work;
    trace.end();
    return result;
  } catch (error) {
    trace.end(faultIn(error));
    throw error;
  }
}
