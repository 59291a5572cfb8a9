import { readFileSync } from 'node:fs';
import { type ChildOptions, type Command, type Listening, startListening, startSilent } from './child.ts';
import { drawQuestions, FIRST_QUESTION, type Question } from './questions.ts';
import type { Row } from './rows.ts';
import { digestOf } from './settled.ts';
import { tailcallCommand, tailcallMissing } from './tailcall.ts';

/** A participant of the race. */
export interface Server {
  readonly name: string;
  /**
   * `native` is a peer that is no Node program. `floor` is no gateway: the cost of the work without GraphQL,
   * or without any work.
   */
  readonly kind: 'ours' | 'peer' | 'native' | 'floor';
  /** Mode of ours. */
  readonly mode?: Mode;
  /** Arguments of Node. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Of one that is no Node program: how it is started, and the sentence why it can't be. */
  readonly native?: {
    readonly command: (upstreamUrl: string) => Promise<Command>;
    readonly missing: () => string | null;
  };
  /** Letters of the rows that it can answer; all unless told. */
  readonly rows?: string;
  /** A key of its own for each connection. */
  readonly keyEach?: true;
  /** Asked in the shape of the service, not in ours. */
  readonly isPlain?: true;
  /** All connections ask the same question; else each asks its own. */
  readonly oneQuestion?: true;
  /** Over a service that sends the same bytes each time. */
  readonly sameBytes?: true;
  /** Work that several operations have in common here, by mechanism; of peers and floors none. */
  readonly shares?: string;
}

export type Mode = 'cold' | 'cold-keys' | 'same-bytes' | 'warm' | 'repeated';

/** Arguments of Node with which `npm start` runs the gateway. */
export const START_ARGS: readonly string[] = startArgs();

function startArgs(): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const [exec, node, ...args] = scripts.start.split(' ');
  if (exec !== 'exec' || node !== 'node') throw new Error(`npm start runs no Node: ${scripts.start}`);
  return args;
}

/** A server just as a user starts it, but for the settings of the mode. */
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
  'equal operations and equal calls in flight under one key are run once; figures that are wanted at the same time share calls',
);
export const OURS_COLD_KEYS: Server = {
  ...ours(
    'cold-keys',
    'cold, a key each',
    COLD,
    'rows of a body whose bytes are those of the last answer from its address are not parsed again, whatever the key; all keys ask for the list of countries at one address, for figures each at its own',
  ),
  keyEach: true,
};
/** Ours as the race used to be: nothing is parsed here, while peers parse each time. */
export const OURS_SAME_BYTES: Server = {
  ...ours(
    'same-bytes',
    'cold, a key each, the same bytes',
    COLD,
    'a body whose bytes are those of the last answer from its address is not read again, whatever the key',
  ),
  keyEach: true,
  oneQuestion: true,
  sameBytes: true,
};
export const OURS_WARM = ours(
  'warm',
  'warm',
  { ANSWERS_MAX_BYTES: '0' },
  'figures and lists that were read once are held; equal operations in flight are run once',
);
/** Ours with its default settings. */
export const OURS_DEFAULT = ours(
  'repeated',
  'repeated',
  {},
  'all of the above, and an answer that was given before is given again',
);
export const MERCURIUS = peer('mercurius-jit', 'mercurius-jit');
export const BARE_PROXY = floor('bare-proxy');
/** The least that Node can do to answer: all other work of a gateway comes on top. */
export const PARSING_FLOOR: Server = floor('parsing-floor', { rows: 'abcde' });
export const STATIC_BYTES = floor('static-bytes', { oneQuestion: true });

/** Tailcall is no Node program, so the fastest peer is never taken from it. */
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

/** Questions of as many connections as the race ever has. */
const QUESTIONS = drawQuestions(32);

/** Question of a connection. */
export interface Asked {
  readonly body: string;
  readonly question: Question;
}

/** Bodies of requests for this row, one for each connection in turn. */
export function askedOf(server: Server, row: Row, connections: number): Asked[] {
  const count = server.oneQuestion ? 1 : connections;
  const asked = QUESTIONS.slice(0, count).map((question) => ({
    body: bodyFor(server, row, question),
    question,
  }));
  // Drops repeats: there may be one question only.
  return [...new Map(asked.map((each) => [each.body, each])).values()];
}

/** The body of a request for this row. Floors read no GraphQL: they are told the question. */
export function bodyFor(server: Server, row: Row, question = FIRST_QUESTION): string {
  if (server.kind === 'floor') return JSON.stringify({ row: row.letter, question });
  return JSON.stringify({ query: (server.isPlain ? row.plain : row).ask(question) });
}

/** The digest of the first connection's answer. */
export async function answerDigest({ server, child }: Running, row: Row): Promise<string> {
  const response = await fetch(child.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer demo-team' },
    body: bodyFor(server, row),
  });
  return digestIn(await response.text(), server, row, FIRST_QUESTION);
}

/** The digest of an answer's `data`, in our shape; the errors if there are any. */
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
