import { readFileSync } from 'node:fs';
import { type ChildOptions, type Listening, startListening } from './child.ts';
import type { Row } from './rows.ts';

/** What takes part in the race. */
export interface Server {
  readonly name: string;
  /** `floor` is no gateway: what the work costs without GraphQL, or without any work. */
  readonly kind: 'ours' | 'peer' | 'floor';
  /** Mode of ours. */
  readonly mode?: Mode;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Letters of the rows that it can answer; all unless told. */
  readonly rows?: string;
  /** A key of its own for each connection. */
  readonly keyEach?: true;
  /** Asks in the shape of the service, not in ours. */
  readonly isMesh?: true;
}

export type Mode = 'cold' | 'cold-keys' | 'warm' | 'repeated';

/** Arguments of Node with which `npm start` runs the gateway. */
export const START_ARGS: readonly string[] = startArgs();

function startArgs(): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const [exec, node, ...args] = scripts.start.split(' ');
  if (exec !== 'exec' || node !== 'node') throw new Error(`npm start runs no Node: ${scripts.start}`);
  return args;
}

/** Just as a user starts it, but for what the mode says. */
const ours = (mode: Mode, name: string, env: Readonly<Record<string, string>>): Server => ({
  name: `ours, ${name}`,
  kind: 'ours',
  mode,
  args: START_ARGS,
  env: { LOG_LEVEL: 'warn', GRAPHIQL: 'off', ...env },
});

const peer = (name: string, file: string): Server => ({
  name,
  kind: 'peer',
  args: [`bench/peers/${file}.ts`],
});

const floor = (name: string): Server => ({
  ...peer(name, name),
  kind: 'floor',
  rows: 'c',
});

export const OURS_COLD = ours('cold', 'cold', { CACHE_URL: 'none' });
export const OURS_COLD_KEYS: Server = {
  ...ours('cold-keys', 'cold, a key each', { CACHE_URL: 'none' }),
  keyEach: true,
};
export const OURS_WARM = ours('warm', 'warm', { ANSWERS_MAX_BYTES: '0' });
/** With the settings that it comes with. */
export const OURS_DEFAULT = ours('repeated', 'repeated', {});
export const MERCURIUS = peer('mercurius-jit', 'mercurius-jit');
export const BARE_PROXY = floor('bare-proxy');
export const STATIC_BYTES = floor('static-bytes');

export const SERVERS: readonly Server[] = [
  OURS_COLD,
  OURS_COLD_KEYS,
  OURS_WARM,
  OURS_DEFAULT,
  MERCURIUS,
  peer('yoga-dataloader', 'yoga-dataloader'),
  peer('apollo-dataloader', 'apollo-dataloader'),
  peer('apollo-naive', 'apollo-naive'),
  { ...peer('mesh', 'mesh'), isMesh: true },
  BARE_PROXY,
  STATIC_BYTES,
];

export interface Running {
  readonly server: Server;
  readonly child: Listening;
}

export async function startServer(
  server: Server,
  upstreamUrl: string,
  more: {
    readonly env?: Readonly<Record<string, string>>;
    readonly nodeArgs?: readonly string[];
    readonly core?: ChildOptions['core'];
  } = {},
): Promise<Running> {
  const child = await startListening({
    args: [...(more.nodeArgs ?? []), ...server.args],
    core: more.core ?? 0,
    env: { COUNTRY_DATA_URL: upstreamUrl, UPSTREAM_URL: upstreamUrl, ...server.env, ...more.env },
  });
  return { server, child };
}

/** The body of a request for this row. */
export function bodyFor(server: Server, row: Row): string {
  return JSON.stringify({ query: server.isMesh ? row.mesh.query : row.query });
}

/** The `data` of its answer, in our shape; throws where there are errors. */
export async function answerOf({ server, child }: Running, row: Row): Promise<unknown> {
  const response = await fetch(child.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer demo-team' },
    body: bodyFor(server, row),
  });
  const { data, errors } = (await response.json()) as { data?: unknown; errors?: unknown };
  if (errors !== undefined || data == null) {
    throw new Error(`${server.name}, row ${row.letter}: ${JSON.stringify(errors)}`);
  }
  return server.isMesh ? row.mesh.answer(data as never) : data;
}
