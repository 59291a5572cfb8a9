import { z } from 'zod';

const OTLP_PROTOCOLS = ['http/protobuf', 'http/json'] as const;

/** The protocol in which traces are sent over HTTP. */
export type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];

type Env = Readonly<Record<string, string | undefined>>;

/** Variables of OpenTelemetry that switch traces on and give their destination; its own packages read the others. */
const TracingEnvironment = z.object({
  OTEL_TRACES_EXPORTER: z.enum(['otlp', ''], 'must be otlp or none').optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint(),
  OTEL_EXPORTER_OTLP_PROTOCOL: otlpProtocol(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: otlpProtocol(),
});

function endpoint() {
  const isSendable = (text: string) => text === '' || /^https?:$/.test(URL.parse(text)?.protocol ?? '');
  return z.string().refine(isSendable, 'must be an http:// or https:// address').optional();
}

function otlpProtocol() {
  const fault = 'must be http/protobuf or http/json: traces are not sent by gRPC';
  return z.enum([...OTLP_PROTOCOLS, ''], fault).optional();
}

function isDisabled(env: Env): boolean {
  return env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none';
}

/** Names all faults of the variables, a line each; none if all of it is disabled. */
export function tracingFaults(env: Env): readonly string[] {
  if (isDisabled(env)) return [];
  const { error } = TracingEnvironment.safeParse(env);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

/** Tells if traces are sent: an address is given for them, or the exporter is named, unless all of it is disabled. */
export function isTracingOn(env: Env = process.env): boolean {
  if (isDisabled(env)) return false;
  const { OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT } = env;
  return Boolean(OTEL_TRACES_EXPORTER || OTEL_EXPORTER_OTLP_ENDPOINT || OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);
}

/** Returns the protocol that is asked for, else OpenTelemetry's own default. */
export function otlpProtocolIn(env: Env = process.env): OtlpProtocol {
  const asked = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL;
  return asked === 'http/json' ? asked : 'http/protobuf';
}
