import { Mutex } from 'async-mutex';
import type { Sealed } from '../../shared/sealed.ts';

/** Where the operation of a request stands. */
export interface OperationParts {
  readonly body: unknown;
  readonly search: string;
}

/** Several operations of one request. */
export class RequestBatch {
  /** Wide operations run one after the other. */
  readonly wideTurns = new Mutex();
  /** Bytes of the answers that wait for the others; 0 once they have left. */
  keptBytes = 0;
  #coming: number;
  readonly #onAllHere: (() => void)[] = [];

  constructor(operations: number) {
    this.#coming = operations;
  }

  /** A place for one of its operations. */
  place(): PlaceInBatch {
    let isComing = true;
    return {
      batch: this,
      come: () => {
        if (!isComing) return;
        isComing = false;
        this.#coming -= 1;
        if (this.#coming === 0) for (const listener of this.#onAllHere.splice(0)) listener();
      },
    };
  }

  /** Calls the listener once all operations are here; not at all if they are. @returns true if some are on their way */
  awaitOthers(onAllHere: () => void): boolean {
    if (this.#coming > 0) this.#onAllHere.push(onAllHere);
    return this.#coming > 0;
  }
}

export interface PlaceInBatch {
  readonly batch: RequestBatch;
  /** Call once others need not wait for the operation: it has a run or an answer, or waits for others itself. */
  readonly come: () => void;
}

/** One GraphQL-over-HTTP request, its body parsed. */
export interface GatewayRequest {
  /** In upper case. */
  readonly method: string;
  /** Values by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Raw, with its `?`, or empty. */
  readonly search: string;
  /** Parsed JSON; empty for GET. */
  readonly body: unknown;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
  /** For the log and errors: up to 128 characters that JSON needn't escape. */
  readonly requestId?: string | undefined;
  /** Set if other operations came in the same request. */
  readonly place?: PlaceInBatch | undefined;
  /** True if its visitor has been counted the operation, when it was priced. */
  readonly isCounted?: boolean;
  /** As far as it is known. */
  readonly address?: string | undefined;
  /** Set if the request came by a key of this gateway's own, or by a tool with a budget. */
  readonly exchanged?: Sealed<'exchanged key'> | undefined;
}

/** The signal is read only if somebody listens. */
export class ChangedRequest implements GatewayRequest {
  readonly method: string;
  readonly headers: GatewayRequest['headers'];
  readonly search: string;
  readonly body: unknown;
  readonly requestId: string | undefined;
  readonly place: PlaceInBatch | undefined;
  readonly exchanged: GatewayRequest['exchanged'];
  readonly #signalled: { readonly signal: AbortSignal };

  constructor(
    whole: GatewayRequest,
    changes: Partial<Omit<GatewayRequest, 'requestId' | 'signal' | 'address'>>,
    signalled: { readonly signal: AbortSignal } = whole,
  ) {
    this.method = changes.method ?? whole.method;
    this.headers = changes.headers ?? whole.headers;
    this.search = changes.search ?? whole.search;
    this.body = 'body' in changes ? changes.body : whole.body;
    this.requestId = whole.requestId;
    this.place = changes.place ?? whole.place;
    this.exchanged = changes.exchanged ?? whole.exchanged;
    this.#signalled = signalled;
  }

  get signal() {
    return this.#signalled.signal;
  }
}

/** A body has one operation or an array of several, an address has one. Answers to safe methods may be cached. */
export const METHODS: ReadonlyMap<string, { readonly hasBody: boolean; readonly isSafe: boolean }> = new Map([
  ['GET', { hasBody: false, isSafe: true }],
  ['POST', { hasBody: true, isSafe: false }],
  ['QUERY', { hasBody: true, isSafe: true }],
]);

/** A HEAD is answered as a GET, whose body is then not sent. */
export const methodAnswered = (method: string): string => (method === 'HEAD' ? 'GET' : method);

/** The value of `Allow`. */
export const ALLOWED_METHODS = ['HEAD', ...METHODS.keys()].sort().join(', ');
