import type { NamedEntry } from '../graphql/request/key-doors.ts';
import type { OfferedOperation, OperationPrice, OwnReply } from '../graphql/request/own-requests.ts';
import type { GatewayRequest } from '../graphql/request/requests.ts';
import type { GatewayResponse } from '../graphql/request/responses.ts';
import type { Budget } from '../service/counted-budget.ts';
import type { SourceNames } from '../shared/source-names.ts';

/** On whose behalf a plugin asks. */
export interface Asking
  extends Partial<Pick<GatewayRequest, 'headers' | 'signal' | 'requestId' | 'address'>> {
  /** Name of an issued key, in whose name is asked instead of by a header. */
  readonly keyName?: string | undefined;
  /** A budget whose calls are taken besides those of the key. */
  readonly budget?: Budget | undefined;
  /** True if its visitor has been counted the operation, when it was priced. */
  readonly isCounted?: boolean;
}

/** Ways to ask as any client does, within the same bounds, and with a bill. */
export interface AskingServices {
  /** @returns the answer's text, which may tell errors */
  ask(body: object, asking?: Asking): Promise<string>;
  /** Prices an operation under the key that would ask it: nothing is sent. Numbers that JavaScript would round are kept. */
  explain(body: object, asking?: Asking): Promise<OwnReply>;
  /** Prices an operation with nothing cached, once for each object; null if that depends on the values of variables. */
  price(operation: OfferedOperation): Promise<OperationPrice>;
  /**
   * Names the holder of a key: budgets belong to holders.
   * @param keyName the issued key of callers who bring none
   * @throws Failure for a key that is no longer valid
   */
  holderOf(authorization: string | undefined, keyName?: string): Promise<Holder>;
  /**
   * Holds a request to the terms of its key.
   * @throws Failure if they don't allow it, or there is no such key
   */
  checkKey(request: GatewayRequest): Promise<void>;
  /**
   * Makes a request in the name of an issued key, for what the operator lets anybody ask.
   * @throws Failure if there is no such key, or its terms don't allow it
   */
  named(name: string, request: GatewayRequest): Promise<NamedEntry>;
  /**
   * The names of sources that are cached for the key of a request, at no call, which counts for nobody; none if they aren't
   * cached.
   */
  sourceNames(request: GatewayRequest): Promise<SourceNames>;
  /** The whole body of an answer. */
  textOf(answer: GatewayResponse): Promise<string>;
}

interface Holder {
  readonly name: string;
  /** That of the key, if the gateway has issued it. */
  readonly keyName: string | null;
  /** True if the service has not accepted the key lately. */
  readonly isUnproven: boolean;
  /** True if the gateway has issued the key, which many visitors may share. */
  readonly isIssued: boolean;
}
