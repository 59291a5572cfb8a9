/**
 * The contract between the kernel and its plugins. The kernel names none of them: the command line, the library and
 * tests hand in a list ({@link PluginDefinition}), whose order is that of the stages, the outermost first. A plugin
 * that its settings switch off is not opened, and nothing of it is loaded but its definition.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Command } from 'commander';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { z } from 'zod';
import type { Config, SettingsOwner } from '../config/config.ts';
import type { MemoryOwner } from '../config/memory-budget.ts';
import type { Admission } from '../graphql/request/admission.ts';
import type { CallerOf, OfflineMode } from '../graphql/request/callers.ts';
import type { KeyHolder, NamedEntry } from '../graphql/request/key-doors.ts';
import type { OpenRun } from '../graphql/request/operation-run.ts';
import type { OperationsParts } from '../graphql/request/operations-parts.ts';
import type { PersistedTexts } from '../graphql/request/persisted.ts';
import type { Wording } from '../graphql/request/prefixed.ts';
import type { GatewayRequest } from '../graphql/request/requests.ts';
import type { GatewayResponse } from '../graphql/request/responses.ts';
import type { Handle, HandleRequest } from '../graphql/request/stages.ts';
import type { SchemaPart } from '../graphql/schema/schema.ts';
import type { Ledger, QuotaRecord } from '../keys/ledger.ts';
import type { Tenant } from '../keys/tenant.ts';
import type { TenantCache } from '../keys/tenant-cache.ts';
import type { ObservationClient } from '../observations/client.ts';
import type { ObservationEntries } from '../observations/entries.ts';
import type { Planning } from '../observations/planner/modes.ts';
import type { AnswerSending } from '../server/http.ts';
import type { AttemptWatcher } from '../service/attempt.ts';
import type { Ask } from '../service/cached-lists.ts';
import type { Call, Send } from '../service/call.ts';
import type { Caller } from '../service/caller.ts';
import type { Sending } from '../service/sending.ts';
import type { Clock } from '../shared/async/clock.ts';
import type { PromiseOrValue } from '../shared/async/turns.ts';
import type { Failure } from '../shared/errors.ts';

/**
 * What is known of a plugin before it is opened: small, and loaded at each start. Heavy code comes by `import()`, in
 * `open` or with the first request that wants it.
 */
export interface PluginDefinition<Shape extends z.ZodRawShape = z.ZodRawShape> extends SettingsOwner {
  /** Checks of its settings by their names in the environment; each is in `docs/settings.md`. */
  readonly settings: Shape;
  /** Names of plugins that it can't do without: if it is on and one of them isn't, the start is refused. */
  readonly needs?: readonly string[];
  /** Says to the operator, at the start, what is right but may surprise. */
  remarks?(settings: z.output<z.ZodObject<Shape>>, config: Config): readonly string[];
  /** Returns what it takes of the memory of each process that answers; null for nothing to speak of. */
  memory?(settings: z.output<z.ZodObject<Shape>>): MemoryOwner | null;
  /** Options of the program's command `serve`, each of which stands for settings. */
  readonly serveOptions?: readonly ServeOption[];
  /** Commands of the program. */
  readonly commands?: readonly PluginCommand[];
  /**
   * Shows what it can do where the program runs over its own sandbox, and is on only if its settings say so.
   * @returns null for nothing: the operator has other plans, or this machine has no place for it
   */
  sample?(env: Readonly<Record<string, string | undefined>>): PromiseOrValue<PluginSample | null>;
  /**
   * Opens it for one gateway, before anything else of that is there.
   * @param settings checked, by their names in the environment
   * @returns null if they switch it off
   */
  open(settings: z.output<z.ZodObject<Shape>>, host: PluginHost): PromiseOrValue<Plugin | null>;
}

export interface PluginSample {
  /** Settings by which it shows itself, of any plugin. */
  readonly settings: Readonly<Record<string, string>>;
  /** Words to whoever has started the program, once it answers at an address. */
  words(url: string): string;
}

export interface ServeOption {
  /** Its name and value, such as `--host <host>`. */
  readonly flags: string;
  readonly description: string;
  /**
   * Returns settings by their names, as the environment would have them.
   * @param value empty if there is none, as `[value]` in the flags allows
   */
  settings(value: string): Readonly<Record<string, string>>;
}

/** A command of the program, loaded once it is asked for. */
export interface PluginCommand {
  readonly name: string;
  readonly description: string;
  /** Loads the function that gives the command its arguments, options, commands below it, and its action. */
  load(): Promise<(command: Command, host: CommandHost) => void>;
}

/** What a command may use. */
export interface CommandHost {
  readonly env: NodeJS.ProcessEnv;
  /** All plugins of the program. */
  readonly plugins: readonly PluginDefinition[];
  /** Returns remarks on variables of the environment that only look like settings. */
  strangeSettings(): Iterable<string>;
  /** Opens the embedded sandbox at a port of its own. */
  openSandbox(): Promise<{
    readonly url: string;
    readonly keys: Readonly<Record<string, string>>;
    close(): Promise<unknown>;
  }>;
}

/** What a plugin may use from the time that it is opened. */
export interface PluginHost {
  readonly config: Config;
  /** The wall clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds since any instant, by a clock that nobody can set. */
  readonly elapsed: () => number;
  /** Tells the operator of an error, whole, and of the part that met it. */
  problem(error: unknown, where: string): void;
  /** Warns the operator of what he may not have meant. */
  warn(words: string): void;
}

/** A plugin of one gateway. It takes part by the members that it has. */
export interface Plugin {
  /** Parts of the graph that it brings: types, fields of its own and of others, and the routes that they ask. */
  readonly schema?: readonly SchemaPart[];
  /**
   * Wraps the handling of requests of GraphQL over HTTP, before the operation is known: it may answer by itself, change
   * the request, or turn the answer into another form. Calls can't be sent but by `next`.
   */
  request?(next: HandleRequest, kernel: Kernel): HandleRequest;
  /** Keys of its own, each of which stands for one of the service, at whichever way in a request comes. */
  keys?(kernel: Kernel): KeyHolder;
  /** Wraps the answering of each operation, once its caller is known and, if it is plain, its text and variables. */
  operation?(next: Handle, kernel: Kernel): Handle;
  /** Texts of operations of its own, which may run beside the trusted ones, and are not listed among them. */
  readonly documents?: readonly string[];
  /**
   * Has operations answered from what is cached alone, at no call, and words the errors of what isn't. The header
   * `x-offline` asks for it if any plugin has this.
   */
  readonly offline?: OfflineMode;
  /** Wraps each call, before it is tried, counted or paced: it may answer by itself, or refuse. */
  call?(next: Send): Send;
  /**
   * Watches each request that is about to leave for the service, retries included. It can neither send one nor keep it.
   * @returns null if it doesn't care for this one
   */
  attempt?(call: Call, sending: Pick<Sending, 'trace'>): AttemptWatcher | null;
  /** Called once all plugins are composed, before the first request and before routes are added. */
  start?(gateway: ComposedGateway): PromiseOrValue<void>;
  /** Looked at when metrics are read. */
  readonly metrics?: readonly PluginMetric[];
  /**
   * Called as soon as the gateway takes no new operations: has those who wait for news leave. Answers under way are
   * still served, and calls can still be sent.
   * @returns a promise that settles once all have heard it
   */
  beforeStop?(): PromiseOrValue<unknown>;
  /** Ends what it has open, when all operations are over and connections to the service are closed. */
  close?(): PromiseOrValue<unknown>;
  /** What it offers to other plugins, which ask for it by its name ({@link Kernel.api}). */
  api?(): unknown;
  /** What it adds to the server of HTTP; left out by a plugin that serves none, and unused by `handle` of the library. */
  readonly http?: PluginHttp;
}

export interface PluginHttp {
  /** Adds routes in a scope of its own, as `register` of Fastify opens it: hooks and parsers hold for these routes alone. */
  routes?(app: FastifyInstance, host: HttpHost): PromiseOrValue<void>;
  /**
   * Looks at each request for `/graphql` before the gateway reads it.
   * @returns true if it has answered
   */
  graphql?(request: FastifyRequest, reply: FastifyReply): PromiseOrValue<boolean>;
  /** Takes connections that clients upgrade, by the protocol in lower case, such as `websocket`. */
  readonly upgrades?: Readonly<Record<string, Upgrade>>;
  /** Methods beside those of GraphQL that pages of other origins may use. */
  readonly corsMethods?: readonly string[];
  /** Adds routes for operators, where those of health and metrics are: on `ADMIN_PORT`, and nowhere if there is none. */
  operators?(app: FastifyInstance): PromiseOrValue<void>;
  /** Tells models of it in `/llms.txt`, which is there if any plugin does. */
  readonly models?: ModelsSection;
}

export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** A way to ask beside GraphQL, and what can be asked for by it. */
export interface ModelsSection {
  /** One line, with the address. */
  readonly way: string;
  readonly heading: string;
  things(): Promise<readonly { readonly name: string; readonly words: string }[]>;
}

/** One metric, by the names of Prometheus. */
export interface PluginMetric {
  readonly kind: 'counter' | 'gauge';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  values(): Iterable<{ readonly labels?: Readonly<Record<string, string>>; readonly value: number }>;
}

/** What stages of a plugin may use of the gateway. */
export interface Kernel {
  readonly config: Config;
  readonly schema: GraphQLSchema;
  /** Texts that clients may name in place of sending them. */
  readonly persisted: PersistedTexts;
  /** Tells who asks, and by which key of the service. */
  readonly callerOf: CallerOf;
  /** The words of routers, for ways in of their own; null if routers see what clients see. */
  readonly wording: Wording | null;
  /**
   * Returns what the plugin of a name offers to others; null if there is none, or it is off. The caller names the shape
   * that it needs, so that either can be there without the other.
   */
  api<Shape>(plugin: string): Shape | null;
}

/** The gateway with all of its stages, for plugins that have ways in of their own. */
export interface ComposedGateway extends Kernel {
  /** Answers a request as `/graphql` does: by the stages of all plugins. */
  readonly handle: HandleRequest;
  /**
   * Returns the refusal of a request whose body hasn't been read, if so many operations of its key are waiting that
   * there is no point in reading it; otherwise null.
   */
  refuseUnread(
    headers: Parameters<CallerOf>[0] & { readonly accept?: string | undefined },
    requestId?: string,
  ): GatewayResponse | null;
  /**
   * Lets in whoever asks for what takes long, in whichever way, once the terms of the key allow it.
   * @throws Failure if they don't, or there is no such key
   */
  enter(request: GatewayRequest): Promise<Entered>;
  /**
   * Names the holder of a key, in whichever way a header has it: to holders belong streams, and budgets of tools.
   * @throws Failure for a key that works no more
   */
  holderOf(authorization: string | undefined): Promise<Holder>;
  /**
   * Makes a request in the name of a key of a plugin, for what the operator lets anybody ask.
   * @throws Failure if there is no such key, or its terms don't allow it
   */
  named(name: string, request: GatewayRequest): Promise<NamedEntry>;
  /** What operations run with: their bounds, and how each is opened and told of. */
  readonly operations: OperationMeans;
  /** The way to the service for what is no operation: planned, paced and billed all the same. */
  readonly service: ServiceMeans;
}

export interface Entered {
  readonly caller: Caller;
  /** Has a listener called if the key works no more; returns a function that ends that. Left out if the service says so. */
  readonly watch?: ((onEnd: (failure: Failure) => void) => () => void) | undefined;
}

export interface Holder {
  readonly name: string;
  /** True if the service has not accepted the key lately. */
  readonly isUnproven: boolean;
  /** True if the key is one of this gateway's own, which many visitors may bear. */
  readonly isIssued: boolean;
}

export interface OperationMeans extends OperationsParts {
  readonly openRun: OpenRun;
  readonly admission: Admission;
}

export interface ServiceMeans {
  readonly ask: Ask;
  readonly observations: ObservationClient;
  readonly entries: ObservationEntries;
  readonly tenantCache: TenantCache;
  readonly ledger: Ledger;
  readonly quota: (tenant: Tenant) => Promise<QuotaRecord>;
  readonly clock: Clock;
  readonly steadyNow: () => number;
  readonly planning: Planning;
}

/** What routes of a plugin may use. */
export interface HttpHost extends AnswerSending {
  readonly config: Config;
  /** The only documents that may run at the moment; null if any may. */
  trusted(): PersistedTexts['trusted'];
  /** Demo keys of the embedded sandbox by name; null if the figures are real. */
  readonly demoKeys: Readonly<Record<string, string>> | null;
  /** Has a scope read requests as `/graphql` does, within its bounds, and refuse those that it would refuse unread. */
  asGraphql(app: FastifyInstance): void;
}

/** Types a definition by the shape of its settings. */
export function definePlugin<const Shape extends z.ZodRawShape>(
  definition: PluginDefinition<Shape>,
): PluginDefinition<Shape> {
  return definition;
}
