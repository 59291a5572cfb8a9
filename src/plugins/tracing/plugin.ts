import { z } from 'zod';
import { definePlugin } from '../../plugin/index.ts';
import type { OtlpProtocol } from './tracing.ts';

type Given = Readonly<Record<string, string | undefined>>;

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;

const endpoint = z
  .string()
  .refine(
    (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
    'must be an http:// or https:// address',
  )
  .optional();

const protocol = z
  .enum(PROTOCOLS, 'must be http/protobuf or http/json: traces are not sent by gRPC')
  .optional();

const Checked = z.object({
  OTEL_TRACES_EXPORTER: z.literal('otlp', 'must be otlp or none').optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
});

const text = z.string().optional();

export const tracing = definePlugin({
  name: 'tracing',
  /** Variables of OpenTelemetry that switch traces on and give their destination; its own packages read the others. */
  settings: {
    OTEL_SDK_DISABLED: text,
    OTEL_TRACES_EXPORTER: text,
    OTEL_EXPORTER_OTLP_ENDPOINT: text,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: text,
    OTEL_EXPORTER_OTLP_PROTOCOL: text,
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: text,
  },
  errors(given) {
    if (isDisabled(given)) return [];
    const { error } = Checked.safeParse(given);
    return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
  },
  async open(settings, { problem, version }) {
    const asked = protocolIn(settings);
    if (asked === null) return null;
    const { openTracing } = await import('./tracing.ts');
    return openTracing(asked, version(), (error) => problem(error, 'tracing'));
  },
});

function isDisabled({ OTEL_SDK_DISABLED: isOff, OTEL_TRACES_EXPORTER: exporter }: Given): boolean {
  return isOff?.toLowerCase() === 'true' || exporter === 'none';
}

/** Null if traces are disabled, or have neither exporter nor address. */
function protocolIn(given: Given): OtlpProtocol | null {
  const { OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT } = given;
  const isOn = OTEL_TRACES_EXPORTER ?? OTEL_EXPORTER_OTLP_ENDPOINT ?? OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  if (isOn === undefined || isDisabled(given)) return null;
  const asked = given.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? given.OTEL_EXPORTER_OTLP_PROTOCOL;
  return asked === 'http/json' ? asked : 'http/protobuf';
}
