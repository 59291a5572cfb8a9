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

/** The version of this contract. A plugin that another version of the package has made is refused. */
export const CONTRACT = 1;

/** The failure of a plugin at the start, whose message names it. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
}

/** Loaded at each start, so it is small. Heavy code comes by `import()`, in `open` or with the first request for it. */
export interface PluginDefinition<Shape extends z.ZodRawShape = z.ZodRawShape> extends SettingsOwner {
  /** Set by {@link definePlugin}. */
  readonly contract?: number;
  /** Checks by names in the environment. */
  readonly settings: Shape;
  /** Names of plugins that it needs: if it is on and one of them isn't, the start is refused. */
  readonly needs?: readonly string[];
  /**
   * What may surprise the operator, for the log at the start.
   * @param given tells settings that were chosen from defaults
   */
  remarks?(
    settings: z.output<z.ZodObject<Shape>>,
    config: Config,
    given: Readonly<Record<string, string | undefined>>,
  ): readonly string[];
  /** Its memory in each process that answers; null if negligible. */
  memory?(settings: z.output<z.ZodObject<Shape>>): MemoryOwner | null;
  /** Options of the command `serve`, each of which stands for settings. */
  readonly serveOptions?: readonly ServeOption[];
  readonly commands?: readonly PluginCommand[];
  /**
   * For a plugin that is off by default: shows what it can do, if the program runs over its own sandbox.
   * @returns null for nothing to show
   */
  sample?(env: Readonly<Record<string, string | undefined>>): PromiseOrValue<PluginSample | null>;
  /**
   * Opens it for one gateway, before anything else of that is open.
   * @param settings by their names in the environment
   * @returns null if they switch it off
   */
  open(settings: z.output<z.ZodObject<Shape>>, host: PluginHost): PromiseOrValue<Plugin | null>;
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

/** A command of the program, which is loaded once it is asked for. */
export interface PluginCommand {
  readonly name: string;
  readonly description: string;
  /** Loads the function that gives the command its arguments, options, subcommands and action. */
  load(): Promise<(command: Command, host: CommandHost) => void>;
}

export interface CommandHost {
  readonly env: NodeJS.ProcessEnv;
  readonly plugins: readonly PluginDefinition[];
  /** Opens the embedded sandbox at a port of its own. */
  openSandbox(): Promise<{
    readonly url: string;
    readonly keys: Readonly<Record<string, string>>;
    close(): Promise<unknown>;
  }>;
}

/** What a plugin may use from the start. */
export interface PluginHost {
  readonly config: Config;
  /** The wall clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds by a clock that nobody can set. */
  readonly elapsed: () => number;
  /** Logs an error, and the part that met it. */
  problem(error: unknown, where: string): void;
  /** Warns the operator of what may not be meant. */
  warn(words: string): void;
}

/** A plugin of one gateway. It takes part by the members that it has. */
export interface Plugin {
  /** Types, fields of its own types and of others, and the routes that they ask. */
  readonly schema?: readonly SchemaPart[];
  /**
   * Wraps the handling of requests of GraphQL over HTTP, before the operation is known: it may answer itself, change
   * the request, or turn the answer into another form.
   */
  request?(next: HandleRequest, kernel: Kernel): HandleRequest;
  /** Keys of its own, each of which stands for one of the service, for requests of all kinds. */
  keys?(kernel: Kernel): KeyHolder;
  /** Wraps the answering of each operation, once its caller is known and, if it is plain, its text and variables. */
  operation?(next: Handle, kernel: Kernel): Handle;
  /** Operations of its own, which may run beside the trusted ones but are not listed among them. */
  readonly documents?: readonly string[];
  /**
   * Has operations answered from the cache alone, and words the errors of what isn't cached. The header `x-offline`
   * asks for it.
   */
  readonly offline?: OfflineMode;
  /** Wraps each call, before it is tried, counted or paced: it may answer itself, or refuse. */
  call?(next: Send): Send;
  /**
   * Watches each request to the service, retries included. It can neither send nor stop one.
   * @returns null if it doesn't care
   */
  attempt?(call: Call, sending: Pick<Sending, 'trace'>): AttemptWatcher | null;
  /** Called once all plugins are open, before the first request and before routes are added. */
  start?(gateway: ComposedGateway): PromiseOrValue<void>;
  readonly metrics?: readonly PluginMetric[];
  /**
   * Called as soon as the gateway takes no new operations: ends subscriptions and the like. Answers under way are still
   * served, and calls can still be sent.
   * @returns settles once all subscribers have been told
   */
  beforeStop?(): PromiseOrValue<unknown>;
  /** Called when all operations are over and connections to the service are closed. */
  close?(): PromiseOrValue<unknown>;
  /** What it offers to other plugins ({@link Kernel.api}). */
  api?(): unknown;
  /** What it adds to the HTTP server; `handle` of the library doesn't use it. */
  readonly http?: PluginHttp;
}

export interface PluginHttp {
  /** Adds routes in a scope of its own: hooks and parsers hold for these routes alone. */
  routes?(app: FastifyInstance, host: HttpHost): PromiseOrValue<void>;
  /**
   * Called with each request for `/graphql` before the gateway reads it.
   * @returns true if it has answered
   */
  graphql?(request: FastifyRequest, reply: FastifyReply): PromiseOrValue<boolean>;
  /** By the protocol in lower case, such as `websocket`. */
  readonly upgrades?: Readonly<Record<string, Upgrade>>;
  /** Further methods that pages of other origins may use. */
  readonly corsMethods?: readonly string[];
  /** Adds routes for operators, on `ADMIN_PORT`; they are nowhere if there is none. */
  operators?(app: FastifyInstance): PromiseOrValue<void>;
  /** A section of `/llms.txt`, which is there if any plugin has one. */
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

/** A metric in Prometheus's terms, which is only looked at when metrics are read. */
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
  /** Operations that clients may name instead of sending them. */
  readonly persisted: PersistedTexts;
  readonly callerOf: CallerOf;
  /** Translates to the names that routers use; null if routers see what clients see. */
  readonly wording: Wording | null;
  /**
   * What a plugin offers to others; null if it is off. The caller names the shape that it needs, so that neither
   * imports the other.
   */
  api<Shape>(plugin: string): Shape | null;
}

/** The gateway with all of its stages, for plugins with protocols of their own. */
export interface ComposedGateway extends Kernel {
  /** Answers a request as `/graphql` does, through the stages of all plugins. */
  readonly handle: HandleRequest;
  /**
   * The refusal of a request whose body hasn't been read, if so many operations of its key are waiting that there is no
   * point in reading it; otherwise null.
   */
  refuseUnread(
    headers: Parameters<CallerOf>[0] & { readonly accept?: string | undefined },
    requestId?: string,
  ): GatewayResponse | null;
  /**
   * Admits a long-lived request, if the terms of its key allow it.
   * @throws Failure if they don't, or there is no such key
   */
  enter(request: GatewayRequest): Promise<Entered>;
  /**
   * Names the holder of a key. Streams, and budgets of tools, belong to holders.
   * @throws Failure for a key that is no longer valid
   */
  holderOf(authorization: string | undefined): Promise<Holder>;
  /**
   * Makes a request in the name of an issued key, for what the operator lets anybody ask.
   * @throws Failure if there is no such key, or its terms don't allow it
   */
  named(name: string, request: GatewayRequest): Promise<NamedEntry>;
  /** What operations run with. */
  readonly operations: OperationMeans;
  /** The way to the service for what is no operation, planned, paced and billed all the same. */
  readonly service: ServiceMeans;
}

export interface Entered {
  readonly caller: Caller;
  /** Calls back if the key becomes invalid; returns a function that ends that. Left out for keys of the service. */
  readonly watch?: ((onEnd: (failure: Failure) => void) => () => void) | undefined;
}

export interface Holder {
  readonly name: string;
  /** True if the service has not accepted the key lately. */
  readonly isUnproven: boolean;
  /** True if the gateway has issued the key, which many visitors may share. */
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

export interface HttpHost extends AnswerSending {
  readonly config: Config;
  /** The only documents that may run now; null if any may. */
  trusted(): PersistedTexts['trusted'];
  /** Demo keys of the embedded sandbox by name; null if the figures are real. */
  readonly demoKeys: Readonly<Record<string, string>> | null;
  /** Has a scope read requests as `/graphql` does, with the same bounds and refusals. */
  asGraphql(app: FastifyInstance): void;
}

/** Types a definition by the shape of its settings, and marks it as one. */
export function definePlugin<const Shape extends z.ZodRawShape>(
  definition: PluginDefinition<Shape>,
): PluginDefinition<Shape> {
  return { ...definition, contract: CONTRACT };
}
