import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Command } from 'commander';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Count } from '../cache/counts.ts';
import type { KeptStore } from '../cache/kept-store.ts';
import type { FileOptions, SqliteFile } from '../cache/sqlite-file.ts';
import type { SettingsOwner } from '../config/config.ts';
import type { MemoryOwner } from '../config/memory-budget.ts';
import type { Subscriptions } from '../graphql/live/subscribing.ts';
import type { AnswerTable } from '../graphql/request/answer-tables.ts';
import type { OfflineMode } from '../graphql/request/callers.ts';
import type { DescribedOperation } from '../graphql/request/described-operations.ts';
import type { KeyHolder } from '../graphql/request/key-doors.ts';
import type { TrustedDocument } from '../graphql/request/persisted.ts';
import type { GatewayRequest, OperationParts } from '../graphql/request/requests.ts';
import type { GatewayResponse } from '../graphql/request/responses.ts';
import type { HandleRequest } from '../graphql/request/stages.ts';
import type { AttemptWatcher } from '../service/attempt.ts';
import type { Budget, BudgetTerms } from '../service/counted-budget.ts';
import type { PromiseOrValue } from '../shared/async/promises.ts';
import type { Failure } from '../shared/errors.ts';
import type { NamedSource, SourceNames } from '../shared/source-names.ts';
import type { AskingServices } from './asking.ts';
import type { CallStage, OutgoingCall } from './calls.ts';
import type { PluginFiles } from './files.ts';
import type { Filling, FillingTerms, Recording } from './filling.ts';
import type { GraphField, GraphPart, Turns } from './graph.ts';
import type { HandleOperation } from './operations.ts';

/** The version of this contract. A plugin that another version of the package has made is refused. */
export const CONTRACT = 1;

/** Loaded at each start, so it is small. Heavy code comes by `import()`, in `open` or with the first request for it. */
export interface PluginDefinition<Shape extends z.ZodRawShape = z.ZodRawShape> extends SettingsOwner {
  /** The version of the contract that it is written by. */
  readonly contract: number;
  /** Checks by names in the environment. */
  readonly settings: Shape;
  /** Names of plugins that it needs: if it is on and one of them isn't, the start is refused. */
  readonly needs?: readonly string[];
  /** Its memory in each process that answers; null if negligible. */
  memory?(settings: z.output<z.ZodObject<Shape>>): MemoryOwner | null;
  /**
   * What may surprise the operator, for the log at the start, a line each.
   * @param given settings that were chosen, by their names in the environment
   */
  remarks?(
    settings: z.output<z.ZodObject<Shape>>,
    given: Readonly<Record<string, string | undefined>>,
    common: CommonSettings,
  ): readonly string[];
  readonly commands?: readonly PluginCommand[];
  /** Looks for `doctor` at what it needs to run, and sends no call. */
  findings?(host: CommandHost, key: CommandKey['key']): Promise<readonly Finding[]>;
  /** Options of the command `serve`, each of which stands for settings. */
  readonly serveOptions?: readonly ServeOption[];
  /**
   * For a plugin that is off by default: shows what it can do, if the program runs over its own sandbox.
   * @returns null for nothing to show
   */
  sample?(
    env: Readonly<Record<string, string | undefined>>,
    files: PluginFiles,
  ): PromiseOrValue<PluginSample | null>;
  /**
   * Opens it for one gateway, before anything else of that is open.
   * @param settings by their names in the environment
   * @returns null if they switch it off
   */
  open(settings: z.output<z.ZodObject<Shape>>, host: PluginHost): PromiseOrValue<Plugin | null>;
}

/**
 * Types a definition by the shape of its settings, and says by which contract it is written. It does no more: a program is
 * a bundle, and what a plugin imports is another copy of these modules, so only marks and values pass between the two.
 */
export function definePlugin<const Shape extends z.ZodRawShape>(
  definition: Omit<PluginDefinition<Shape>, 'contract'>,
): PluginDefinition<Shape> {
  return { ...definition, contract: CONTRACT };
}

/** Settings of the program that plugins go by. */
export interface CommonSettings {
  /** `CACHE_URL`, which may hold a password; `memory:` by default. */
  readonly cacheUrl: string;
}

/** A line of `doctor`. */
export interface Finding {
  /** Null if nothing can be known, or nothing needs to be done. */
  readonly isWell: boolean | null;
  readonly name: string;
  readonly text: string;
}

/** A command of the program, which is loaded once it is asked for. */
export interface PluginCommand {
  readonly name: string;
  readonly description: string;
  /** Loads the function that gives the command its arguments, options, subcommands and action. */
  load(): Promise<(command: Command, host: CommandHost) => void>;
}

/** What commands of a plugin may use of the program. */
export interface CommandHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Reads the settings, which are those of `serve`.
   * @param warn told of what may not be meant; left out, standard error is
   * @param unheeded names of settings that are read as if they were not there
   * @throws Error naming every setting that is wrong
   */
  settings(warn?: (words: string) => void, unheeded?: readonly string[]): CommandSettings;
  readonly files: PluginFiles;
  /**
   * Checks that a text is GraphQL.
   * @returns the text
   * @throws Error that names the file and the line
   */
  graphqlIn(text: string, file: string): Promise<string>;
  /**
   * Reads an operation from standard input for `-`, from a file if there is one of the name, or takes the text itself.
   * @throws Error that names the file and the line
   */
  operationIn(source: string): Promise<string>;
  /** The documents that a file or folder lists, as `TRUSTED_DOCUMENTS` would. */
  documentsIn(path: string): Promise<readonly TrustedDocument[]>;
  /** Published plans of the service, by name. */
  readonly plans: Readonly<
    Record<string, { readonly requestsPerMinute: number; readonly monthlyRequests: number }>
  >;
  /**
   * Calls back once a package manager that runs the program has ended without it.
   * @returns a function that stops looking
   */
  onParentLost(lost: () => void): () => void;
  /** Makes an error that the user can fix, who reads its message and no stack. */
  error(message: string): Error;
  /** Makes the same of settings. */
  settingsError(message: string, options?: ErrorOptions): Error;
  /** Writes tables with a line for each row: aligned for people, or as CSV. */
  formatted(tables: readonly CommandTable[], format: 'table' | 'csv'): string;
}

export interface CommandSettings extends CommonSettings {
  /** Those of a plugin, by their names in the environment. */
  own(plugin: string): Readonly<Record<string, unknown>>;
  /** True if `TRUSTED_DOCUMENTS` names a file. */
  readonly hasDocuments: boolean;
  /** Those that `TRUSTED_DOCUMENTS` lists; none without a file. */
  documents(): Promise<readonly TrustedDocument[]>;
  /** Bytes of a request's body (`MAX_BODY_BYTES`). */
  readonly bodyBytes: number;
  /**
   * Opens what is kept for the gateways of a store. The command closes it.
   * @param url left out, that of `CACHE_URL`
   */
  openStore(url?: string): Promise<KeptStore>;
  /**
   * Opens the service that the settings name or, without one, the embedded sandbox. The log goes to standard error.
   * @throws Error if the key can't be read
   */
  openService(given: CommandKey): Promise<CommandService>;
  /** Opens a gateway that keeps nothing and sends nothing, to check and to price operations. */
  openUnasked(): Promise<CommandGateway>;
  /**
   * Opens a gateway that fills the store of `CACHE_URL`.
   * @throws Error of the command if there is no key of the service
   */
  openFilling(terms: FillingTerms): Promise<Filling>;
  /** Opens and serves a gateway that keeps all that the service answers, in a store of its own. */
  openRecording(given: Pick<CommandKey, 'key' | 'keyFile'>): Promise<Recording>;
}

export interface CommandKey {
  /** Without the word Bearer. */
  readonly key: string | undefined;
  /** A file that has the key instead. */
  readonly keyFile: string | undefined;
  /** Logged first. */
  readonly remarks: readonly string[];
}

export interface CommandService {
  /** The key given, or that of the sandbox. */
  readonly key: string | undefined;
  /** Logs an internal error, and the part that met it. */
  problem(error: unknown, where: string): void;
  /**
   * Opens a gateway over the service, as `serve` does.
   * @param documents operations that may run beside the trusted ones
   */
  openGateway(documents: readonly string[]): Promise<CommandGateway>;
  close(): Promise<unknown>;
}

export interface CommandGateway {
  readonly gateway: StartedServices;
  /** Version of the gateway, without its commit. */
  readonly release: string;
  stop(): Promise<void>;
}

export interface CommandTable {
  /** Shown if there are several. */
  readonly path: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

export interface PluginSample {
  /** Settings of any plugin. */
  readonly settings: Readonly<Record<string, string>>;
  /** Printed once the program answers at an address. */
  words(url: string): string;
}

export interface ServeOption {
  /** Such as `--host <host>`. */
  readonly flags: string;
  readonly description: string;
  /**
   * Returns settings as the environment would have them.
   * @param value empty if there is none, as `[value]` in the flags allows
   */
  settings(value: string): Readonly<Record<string, string>>;
}

/** What a plugin may use from the start. */
export interface PluginHost {
  /** The wall clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds by a clock that nobody can set. */
  readonly elapsed: () => number;
  /** Logs an error, and the part that met it. */
  problem(error: unknown, where: string): void;
  /** Warns the operator of what may not be meant. */
  warn(words: string): void;
  /** Of the gateway, with its commit if that is known: `0.1.0+1a2b3c4`. */
  readonly version: () => string;
  /** The same without the commit. */
  readonly release: () => string;
  readonly files: PluginFiles;
  /**
   * Opens what is kept where `CACHE_URL` says, for all gateways that share it. The plugin closes it.
   * @throws Error for the operator, if it can't be opened
   */
  openStore(): Promise<KeptStore>;
  /**
   * Opens a file of SQLite for tables of the plugin's own. If it is lost or damaged, another one takes its place, and the log
   * says so by its name. The plugin closes it.
   * @throws Error if it can't be opened, or another version has written it
   */
  openDatabase(
    file: Pick<FileOptions, 'path' | 'name' | 'tables' | 'version'>,
  ): Promise<Pick<SqliteFile, 'prepare' | 'atOnce' | 'bytes' | 'close'>>;
  /** Makes an error of the settings, whose message the operator reads without a stack; with it, the start ends. */
  settingsError(message: string, options?: ErrorOptions): Error;
}

/** The documents that clients may name instead of sending them. */
export interface Documents {
  /** The identifier by which a request names one of those that are listed (`TRUSTED_DOCUMENTS`); null if it names none. */
  listedIn(request: OperationParts): string | null;
  /** The only documents that may run now; null if any may. The same list until they change. */
  trusted(): readonly TrustedDocument[] | null;
  /**
   * Describes the operations of a document by the graph.
   * @throws Error that says why the graph doesn't take it
   */
  described(text: string): readonly DescribedOperation[];
  /** Those that are listed, though others may run too. The same list until they change. */
  listed(): readonly TrustedDocument[];
  /** Reads them again if they have changed, for who has just read something that names them. */
  look(): Promise<void>;
  /** File or folder that lists them (`TRUSTED_DOCUMENTS`); null if there is none. */
  readonly file: string | null;
  /** True if a text may run. */
  allows(text: string): boolean;
  /** Allows a text that was made of a listed one; returns the identifier to ask for it by. */
  admit(text: string): string;
}

/** What stages of a plugin may use of the gateway. */
export interface PluginServices {
  /** Bounds of the gateway that a plugin keeps to as well. */
  readonly limits: {
    /** Bytes of an answer, and of all answers of one request together. */
    readonly answerBytes: number;
    /** Bytes of a request's body. */
    readonly bodyBytes: number;
    /** Tokens of an operation. */
    readonly tokens: number;
    /** Megabytes of this process. */
    readonly processMb: number;
    /** Bytes of this process that are left for caches, and for what is large. */
    readonly spareBytes: number;
  };
  readonly site: Site;
  /**
   * The tables that the answer to a request can make, by its text and the graph, before there is one; null if other stages
   * refuse the operation.
   * @throws Failure BAD_USER_INPUT for more fields than a table has columns for
   */
  tables(request: OperationParts): readonly AnswerTable[] | null;
  readonly documents: Documents;
  /** Opens a budget of calls, which is counted in a store and handed on with the terms of a key. */
  openBudget<Counted extends Count>(
    terms: BudgetTerms<Counted>,
    counts: Pick<KeptStore, 'take' | 'putBack'>,
  ): Budget;
  /**
   * Opens a budget for one request.
   * @param beyond makes the failure of the first call that is too many
   * @param within a budget whose calls are taken as well
   */
  openBound(most: number, beyond: () => Failure, within?: Budget): Budget;
  /** The fields of the graph, those of plugins included. */
  fields(): readonly GraphField[];
  /** Makes an error of the settings, whose message the operator reads without a stack; with it, the start ends. */
  settingsError(message: string, options?: ErrorOptions): Error;
  /** For work on the answer to a request; null for that of anybody. */
  turnsFor(request: GatewayRequest | null): Turns;
  /** Makes the answer to a request of which nothing is run, in the form and with the status that its client reads. */
  refusal(failure: Failure, request: GatewayRequest): GatewayResponse;
  /**
   * What a plugin offers to others; null if it is off. The caller names the shape that it needs, so that neither
   * imports the other.
   */
  api<Shape>(plugin: string): Shape | null;
}

/** The gateway with the stages of all plugins. */
export interface StartedServices extends PluginServices, AskingServices {
  /** Answers a request as `/graphql` does. */
  readonly handle: HandleRequest;
  /**
   * Opens subscriptions. One feed for each key looks at the sources, fetches the figures that a run may have changed, and
   * tells each subscriber the difference.
   * @param settings.most of one key at once
   * @param settings.pollMs milliseconds, at the least, between two looks for one key
   */
  openSubscriptions(settings: { readonly most: number; readonly pollMs: number }): Promise<Subscriptions>;
  /**
   * Caches values of a recording, as what the service has answered a key, which counts as accepted.
   * @param authorization of the key
   * @param atMs milliseconds since the epoch
   */
  seed(authorization: string, values: ReadonlyMap<string, unknown>, atMs: number): void;
}

/** A plugin of one gateway. It takes part by the members that it has. */
export interface Plugin {
  /** Types, fields of its own types and of others, and the routes that they ask. */
  readonly schema?: readonly GraphPart[];
  /**
   * Wraps the handling of requests of GraphQL over HTTP, before the operation is known: it may answer itself, change
   * the request, or turn the answer into another form.
   */
  request?(next: HandleRequest, gateway: PluginServices): HandleRequest;
  /** Keys of its own, each of which stands for one of the service, for requests of all kinds. */
  keys?(gateway: PluginServices): KeyHolder;
  /** Wraps the answering of each operation, once its caller is known. */
  operation?(next: HandleOperation, gateway: PluginServices): HandleOperation;
  /** A request header: only operations that have it as `1` are wrapped, and their answers are cached apart. */
  readonly operationHeader?: string;
  readonly call?: CallStage;
  /**
   * Has operations answered from the cache alone, and words the errors of what isn't cached. The header `x-offline`
   * asks for it.
   */
  readonly offline?: OfflineMode;
  /**
   * Watches each request to the service, retries included. It can neither send nor stop one.
   * @returns null if it doesn't care
   */
  attempt?(call: Pick<OutgoingCall, 'route' | 'trace'>): AttemptWatcher | null;
  /** Operations of its own, which may run beside the trusted ones but are not listed among them. */
  readonly documents?: readonly string[];
  /** Called once all plugins are open, before the first request and before routes are added. */
  start?(gateway: StartedServices): PromiseOrValue<void>;
  readonly metrics?: readonly PluginMetric[];
  /**
   * Called as soon as the gateway takes no new operations: ends subscriptions and the like. Answers under way are still
   * served, and calls can still be sent.
   * @returns settles once all subscribers have been told
   */
  beforeStop?(): PromiseOrValue<unknown>;
  /** Called when all operations are over and connections to the service are closed. */
  close?(): PromiseOrValue<unknown>;
  /** What it offers to other plugins ({@link PluginServices.api}). */
  api?(): unknown;
  /** What it adds to the HTTP server; `handle` of the library doesn't use it. */
  readonly http?: PluginHttp;
}

export interface PluginHttp {
  /** Adds routes in a scope of its own: hooks and parsers hold for these routes alone. */
  routes?(app: FastifyInstance, host: RouteHost): PromiseOrValue<void>;
  /**
   * Called with each request for `/graphql` before the gateway reads it.
   * @returns true if it has answered
   */
  graphql?(request: FastifyRequest, reply: FastifyReply): PromiseOrValue<boolean>;
  /** By the protocol in lower case, such as `websocket`. */
  readonly upgrades?: Readonly<Record<string, Upgrade>>;
  /** Further methods that pages of other origins may use. */
  readonly corsMethods?: readonly string[];
  /** Adds routes for operators, on `ADMIN_PORT`, with bodies decompressed; they are nowhere if there is none. */
  operators?(app: FastifyInstance): PromiseOrValue<void>;
  /** A section of `/llms.txt`, which is there if any plugin has one. */
  readonly models?: ModelsSection;
}

/** What routes of a plugin may use of the server. */
export interface RouteHost {
  /** Has a scope read requests as `/graphql` does, with the same bounds and refusals. */
  asGraphql(app: FastifyInstance): void;
  /** The only documents that may run now, by the names that they are sent by; null if any may. */
  trusted(): readonly TrustedDocument[] | null;
  /** Demo keys of the embedded sandbox by name; null if the figures are real. */
  readonly demoKeys: Readonly<Record<string, string>> | null;
  readonly site: Site;
  readonly bodies: BodySending;
  /** Sites whose pages may read answers (`CORS_ORIGINS`); `*` stands for all. */
  readonly origins: readonly string[];
  /** True if only programs of this machine reach the server. */
  readonly isLocal: boolean;
  readonly unread: UnreadRefusals;
  /** Has a scope read bodies of JSON, compressed or not, of a bounded nesting. */
  readJson(app: FastifyInstance): void;
  /** Logs an internal error that a request has met. */
  readonly problem: (error: unknown, requestId: string) => void;
  /** Sends an answer with its status and headers: compressed, and no faster than it is read. */
  sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: GatewayResponse): void;
  /** Aborts when the client leaves. */
  gone(reply: FastifyReply): AbortSignal;
  /** Takes a reply that comes in parts out of Fastify's hands, with its headers. Proxies may hold no part back. */
  inParts(reply: FastifyReply): ServerResponse;
  /** Headers as the gateway reads them: one value a name. */
  headersOf(headers: IncomingHttpHeaders): GatewayRequest['headers'];
  /** True for `Bearer` and what may be a key, whoever's. */
  isKey(authorization: string): boolean;
  readonly upgrades: UpgradeHost;
}

/** For connections that clients upgrade, which no hook of the server sees. */
export interface UpgradeHost {
  /** Names a request, and the address that it comes from, by the word of proxies that are trusted. */
  marksOf(request: IncomingMessage): { readonly requestId: string; readonly address: string };
  /** Answers with a status, and closes the connection. */
  refuse(socket: Duplex, status: number, headers?: Readonly<Record<string, string>>, message?: string): void;
}

/** Why a request is refused before its body is read. Each is null if it isn't. */
export interface UnreadRefusals {
  /** The gateway is shutting down. */
  ending(): Failure | null;
  /** Its key, its address or its `Accept` can't be read. */
  malformed(
    request: Pick<FastifyRequest, 'raw'>,
  ): { readonly status: number; readonly message: string } | null;
  /** So many operations of its key wait that there is no point. The value is for `Retry-After`. */
  overloaded(request: FastifyRequest): { readonly retryAfter: string | undefined } | null;
}

/** What is said of where figures are from, and the address that the public knows. */
export interface Site {
  readonly sourceNames: SourceNames;
  readonly attribution: NamedSource;
  /** Without a trailing slash; null if it isn't known. */
  readonly publicUrl: string | null;
}

/** Sends bodies as the gateway does: compressed, and not again to who has them. */
export interface BodySending {
  sendBody(request: FastifyRequest, reply: FastifyReply, body: string | Buffer): void;
  /**
   * Tags an answer that is compressed for some.
   * @returns true if the client has it, and was sent a 304
   */
  isSentByTag(request: FastifyRequest, reply: FastifyReply, etag: string): boolean;
  /** Serves a text that never changes, with its tag. */
  taggedText(read: () => string): (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
}

export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** A way to ask beside GraphQL, and what can be asked for by it. */
export interface ModelsSection {
  /** One line, with the address. */
  readonly way: string;
  readonly heading: string;
  things(): Promise<readonly { readonly name: string; readonly words: string }[]>;
}

/** A metric in Prometheus's terms, which is only looked at when metrics are read. */
export interface PluginMetric {
  readonly kind: 'counter' | 'gauge';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  values(): Iterable<{ readonly labels?: Readonly<Record<string, string>>; readonly value: number }>;
}
