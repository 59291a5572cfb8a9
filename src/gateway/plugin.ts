/**
 * The contract between the kernel and its plugins. The kernel names none of them: the command line, the library and
 * tests hand in a list ({@link PluginDefinition}), whose order is that of the stages, the outermost first. A plugin
 * that its settings switch off is not opened, and nothing of it is loaded but its definition.
 */
import type { GraphQLSchema } from 'graphql';
import type { Config } from '../config/config.ts';
import type { LiveMeans } from '../graphql/live/live-parts.ts';
import type { CallerOf } from '../graphql/request/callers.ts';
import type { KeyHolder, NamedEntry } from '../graphql/request/key-doors.ts';
import type { PersistedTexts } from '../graphql/request/persisted.ts';
import type { GatewayRequest } from '../graphql/request/requests.ts';
import type { GatewayResponse } from '../graphql/request/responses.ts';
import type { Handle, HandleRequest } from '../graphql/request/stages.ts';
import type { SchemaPart } from '../graphql/schema/schema.ts';
import type { Plugin as ByEntrance, PluginDefinition, PluginServices } from '../plugin/definition.ts';
import type { AttemptWatcher } from '../service/attempt.ts';
import type { Call, Send } from '../service/call.ts';
import type { Sending } from '../service/sending.ts';
import type { PromiseOrValue } from '../shared/async/promises.ts';

/** The failure of a plugin at the start, whose message names it. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
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

/** A plugin of one gateway, as stages of the kernel take it. */
export interface Plugin
  extends Pick<ByEntrance, 'documents' | 'metrics' | 'offline' | 'http' | 'beforeStop' | 'close' | 'api'> {
  /** Types, fields of its own types and of others, and the routes that they ask. */
  readonly schema?: readonly SchemaPart[];
  request?(next: HandleRequest, kernel: Kernel): HandleRequest;
  keys?(kernel: Kernel): KeyHolder;
  /** Wraps the answering of each operation, once its caller is known and, if it is plain, its text and variables. */
  operation?(next: Handle, kernel: Kernel): Handle;
  /** Wraps each call, before it is tried, counted or paced: it may answer itself, or refuse. */
  call?(next: Send): Send;
  /**
   * Watches each request to the service, retries included. It can neither send nor stop one.
   * @returns null if it doesn't care
   */
  attempt?(call: Call, sending: Pick<Sending, 'trace'>): AttemptWatcher | null;
  start?(gateway: ComposedGateway): PromiseOrValue<void>;
}

/** What stages of a plugin may use of the gateway. */
export interface Kernel extends Pick<LiveMeans, 'wording'> {
  readonly config: Config;
  readonly schema: GraphQLSchema;
  /** Operations that clients may name instead of sending them. */
  readonly persisted: PersistedTexts;
  readonly callerOf: CallerOf;
  /** The wall clock, in milliseconds since the epoch. */
  readonly now: () => number;
  readonly api: PluginServices['api'];
}

/** The gateway with all of its stages. */
export interface ComposedGateway extends Kernel, LiveMeans {
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
   * Names the holder of a key. Streams, and budgets of tools, belong to holders.
   * @throws Failure for a key that is no longer valid
   */
  holderOf(authorization: string | undefined): Promise<Holder>;
  /**
   * Makes a request in the name of an issued key, for what the operator lets anybody ask.
   * @throws Failure if there is no such key, or its terms don't allow it
   */
  named(name: string, request: GatewayRequest): Promise<NamedEntry>;
}

export interface Holder {
  readonly name: string;
  readonly keyName: string | null;
  /** True if the service has not accepted the key lately. */
  readonly isUnproven: boolean;
  /** True if the gateway has issued the key, which many visitors may share. */
  readonly isIssued: boolean;
}
