import { readFileSync } from 'node:fs';
import { type ChildOptions, type Command, type Listening, startListening, startSilent } from './child.ts';
import { drawQuestions, FIRST_QUESTION, type Question } from './questions.ts';
import type { Row } from './rows.ts';
import { digestOf } from './settled.ts';
import { tailcallCommand, tailcallMissing } from './tailcall.ts';

/** A server that takes part in the comparison. */
export interface Server {
  readonly name: string;
  /**
   * `native`: a peer that isn't a Node program. `floor`: not a gateway, but a lower bound for its cost: the same work
   * without GraphQL, or no work at all.
   */
  readonly kind: 'ours' | 'peer' | 'native' | 'floor';
  /** Only of ours. */
  readonly mode?: Mode;
  /** Arguments for Node. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Only of native peers: the command that starts it, and a sentence why it can't start here, or null. */
  readonly native?: {
    readonly command: (upstreamUrl: string) => Promise<Command>;
    readonly missing: () => string | null;
  };
  /** Letters of the rows that it takes part in; all by default. */
  readonly rows?: string;
  /** Each connection has a different key. */
  readonly keyEach?: true;
  /** Its schema mirrors the REST service, instead of being the same as ours. */
  readonly isPlain?: true;
  /** All connections send the same request; otherwise each has its own. */
  readonly oneQuestion?: true;
  /** It runs over a service that sends the same bytes each time. */
  readonly sameBytes?: true;
  /** The work that operations share in this mode, for the report. Only of ours. */
  readonly shares?: string;
}

export type Mode = 'cold' | 'cold-keys' | 'same-bytes' | 'warm' | 'repeated';

/** The arguments with which `npm start` runs the gateway. */
export const START_ARGS: readonly string[] = startArgs();

function startArgs(): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const [exec, node, ...args] = scripts.start.split(' ');
  if (exec !== 'exec' || node !== 'node') throw new Error(`npm start doesn't run Node: ${scripts.start}`);
  return args;
}

/** Country Graph as a user starts it, apart from the settings of the mode. */
const ours = (mode: Mode, name: string, env: Readonly<Record<string, string>>, shares: string): Server => ({
  name: `ours, ${name}`,
  kind: 'ours',
  mode,
  args: START_ARGS,
  env: { LOG_LEVEL: 'warn', GRAPHIQL: 'off', ...env },
  shares,
});

const peer = (name: string, file: string): Server => ({
  name,
  kind: 'peer',
  args: [`bench/peers/${file}.ts`],
});

const floor = (name: string, more: Partial<Server> = {}): Server => ({
  ...peer(name, name),
  kind: 'floor',
  rows: 'c',
  ...more,
});

const COLD = { CACHE_URL: 'none' };

export const OURS_COLD = ours(
  'cold',
  'cold',
  COLD,
  'equal operations and equal calls in flight under one key run once; figures that are requested at the same time share calls',
);
export const OURS_COLD_KEYS: Server = {
  ...ours(
    'cold-keys',
    'cold, a key each',
    COLD,
    'rows with the same bytes as in the previous response from the same URL are not parsed again, whatever the key; the list of countries has one URL for all keys, figures have a different one for each',
  ),
  keyEach: true,
};
/** Shows the effect of equal bytes alone: Country Graph parses nothing here, while peers parse each response. */
export const OURS_SAME_BYTES: Server = {
  ...ours(
    'same-bytes',
    'cold, a key each, the same bytes',
    COLD,
    'a body with the same bytes as the previous one from the same URL is not parsed again, whatever the key',
  ),
  keyEach: true,
  oneQuestion: true,
  sameBytes: true,
};
export const OURS_WARM = ours(
  'warm',
  'warm',
  { ANSWERS_MAX_BYTES: '0' },
  'figures and lists are cached; equal operations in flight run once',
);
/** Country Graph with its default settings. */
export const OURS_DEFAULT = ours(
  'repeated',
  'repeated',
  {},
  'all of the above; the response to a repeated request is cached',
);
export const MERCURIUS = peer('mercurius-jit', 'mercurius-jit');
export const BARE_PROXY = floor('bare-proxy');
/** The least work with which a Node program can answer: whatever else a gateway does is added to it. */
export const PARSING_FLOOR: Server = floor('parsing-floor', { rows: 'abcde' });
export const STATIC_BYTES = floor('static-bytes', { oneQuestion: true });

/** Not a Node program, so it never counts as the fastest peer. */
export const TAILCALL: Server = {
  name: 'tailcall',
  kind: 'native',
  args: [],
  native: { command: tailcallCommand, missing: tailcallMissing },
  isPlain: true,
};

export const SERVERS: readonly Server[] = [
  OURS_COLD,
  OURS_COLD_KEYS,
  OURS_SAME_BYTES,
  OURS_WARM,
  OURS_DEFAULT,
  MERCURIUS,
  { ...peer('grafserv', 'grafserv'), env: { GRAPHILE_ENV: 'production' } },
  peer('yoga-dataloader', 'yoga-dataloader'),
  peer('apollo-dataloader', 'apollo-dataloader'),
  peer('apollo-naive', 'apollo-naive'),
  { ...peer('mesh', 'mesh'), isPlain: true },
  TAILCALL,
  PARSING_FLOOR,
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
  const core = more.core ?? 0;
  if (server.native)
    return { server, child: await startSilent(await server.native.command(upstreamUrl), core) };
  const child = await startListening({
    args: [...(more.nodeArgs ?? []), ...server.args],
    core,
    env: {
      [server.kind === 'ours' ? 'COUNTRY_DATA_URL' : 'UPSTREAM_URL']: upstreamUrl,
      ...server.env,
      ...more.env,
    },
  });
  return { server, child };
}

/** One for each connection, of which there are 32 at most. */
const QUESTIONS = drawQuestions(32);

/** The request that one connection repeats. */
export interface RaceRequest {
  readonly body: string;
  readonly question: Question;
}

/** The different requests of this row, which the connections take in turn. */
export function requestsFor(server: Server, row: Row, connections: number): RaceRequest[] {
  const count = server.oneQuestion ? 1 : connections;
  const requests = QUESTIONS.slice(0, count).map((question) => ({
    body: bodyFor(server, row, question),
    question,
  }));
  // Drops duplicates: in some rows, all questions give the same request.
  return [...new Map(requests.map((each) => [each.body, each])).values()];
}

/** The body of a request for this row. Floors don't parse GraphQL: they get the question as JSON. */
export function bodyFor(server: Server, row: Row, question = FIRST_QUESTION): string {
  if (server.kind === 'floor') return JSON.stringify({ row: row.letter, question });
  return JSON.stringify({ query: (server.isPlain ? row.plain : row).ask(question) });
}

/** The digest of the server's response to the first question. */
export async function responseDigest({ server, child }: Running, row: Row): Promise<string> {
  const response = await fetch(child.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer demo-team' },
    body: bodyFor(server, row),
  });
  return digestIn(await response.text(), server, row, FIRST_QUESTION);
}

/** The digest of a response's `data`, converted to our schema; the errors, if there are any. */
export function digestIn(
  text: string,
  { isPlain }: { readonly isPlain?: boolean },
  row: Row,
  question: Question,
): string {
  const { data, errors } = JSON.parse(text);
  if (errors !== undefined || data == null) return `no data: ${JSON.stringify(errors)?.slice(0, 500)}`;
  return digestOf(isPlain ? row.plain.answer(data, question) : data);
}
