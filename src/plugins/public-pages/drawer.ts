import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { type DrawerSettings, type Drawing, type DrawingOrder, Failure } from '../../plugin/index.ts';

type Drawn = { readonly drawing: Drawing } | { readonly error: string };

/** Waiting orders, of all visitors and of each. */
const MAX_ORDERS = { all: 64, each: 16 };

/** By then, the waiting orders of a visitor have been drawn. */
const RETRY_SECONDS = 2;

/** Milliseconds for one drawing: the largest possible answer takes a second. */
const LIMIT_MS = 20_000;

/** An order waits for as long as so many drawings may take, then it is refused. */
const MAX_LIMITS_WAITED = 2;

/** Megabytes of the young generation of the thread's heap. */
const YOUNG_MB = 4;

/** Milliseconds without an order after which the worker ends. */
const IDLE_MS = 60_000;

export interface DrawerBounds {
  /** Megabytes of the thread's heap. */
  readonly heapMb: number;
  /** Bytes of answers waiting to be drawn; one may always wait. */
  readonly waitingBytes: number;
  /** Flags of the engine, which hold for all threads of the process. */
  readonly engineFlags: readonly string[];
}

interface WaitingOrder {
  readonly order: DrawingOrder;
  readonly settle: PromiseWithResolvers<Drawing>;
}

const tooMany = () =>
  new Failure('OVERLOADED', 'Too many pictures wait to be drawn. Ask again a little later.', {
    retryAfterSeconds: RETRY_SECONDS,
  });

/** Waiting orders, drawn round-robin by visitor. */
class OrdersByVisitor {
  /** First the visitor whose last turn was longest ago. Several visitors may wait for the same order. */
  readonly #byVisitor = new Map<string, Set<WaitingOrder>>();

  /** @throws Failure OVERLOADED */
  add(waiting: WaitingOrder, visitor: string, maxBytes: number): void {
    const orders = this.#byVisitor.get(visitor) ?? new Set();
    const all = this.#all();
    const isOneTooMany = !all.has(waiting) && all.size >= MAX_ORDERS.all;
    const isFirst = all.size === 0;
    const bytes = [...all.add(waiting)].reduce((sum, { order }) => sum + order.body.length, 0);
    if (orders.size >= MAX_ORDERS.each || isOneTooMany || (!isFirst && bytes > maxBytes)) throw tooMany();
    this.#byVisitor.set(visitor, orders.add(waiting));
  }

  has(waiting: WaitingOrder): boolean {
    return [...this.#byVisitor.values()].some((orders) => orders.has(waiting));
  }

  next(): WaitingOrder | undefined {
    const [first] = this.#byVisitor;
    if (first === undefined) return undefined;
    const [visitor, orders] = first;
    const [next] = orders;
    if (next === undefined) return undefined;
    this.#byVisitor.delete(visitor);
    this.#byVisitor.set(visitor, orders);
    this.delete(next);
    return next;
  }

  /** True if it was waiting. */
  delete(order: WaitingOrder): boolean {
    const isWaiting = this.has(order);
    for (const [name, orders] of this.#byVisitor)
      if (orders.delete(order) && orders.size === 0) this.#byVisitor.delete(name);
    return isWaiting;
  }

  #all(): Set<WaitingOrder> {
    return new Set([...this.#byVisitor.values()].flatMap((orders) => [...orders]));
  }
}

/** Draws pictures with GraphiQL's code, one after the other, in a thread that begins with the first and ends when idle. */
export class Drawer {
  readonly #code: string;
  readonly #settings: DrawerSettings;
  readonly #bounds: DrawerBounds;
  readonly #limitMs: number;
  readonly #waiting = new OrdersByVisitor();
  #current: WaitingOrder | null = null;
  #worker: Worker | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** @param code file of GraphiQL's drawing code, built for a thread */
  constructor(code: string, settings: DrawerSettings, bounds: DrawerBounds, limitMs = LIMIT_MS) {
    this.#bounds = bounds;
    this.#limitMs = limitMs;
    this.#code = code;
    this.#settings = settings;
  }

  /**
   * @returns the drawing, and a function by which another visitor's turn can bring it sooner
   * @throws Failure OVERLOADED, OPERATION_TIMEOUT
   */
  draw(order: DrawingOrder, visitor: string) {
    const waiting = { order, settle: Promise.withResolvers<Drawing>() };
    this.#waiting.add(waiting, visitor, this.#bounds.waitingBytes);
    this.#next();
    const timer = setTimeout(() => {
      if (this.#waiting.delete(waiting)) waiting.settle.reject(tooMany());
    }, MAX_LIMITS_WAITED * this.#limitMs).unref();
    return {
      drawing: waiting.settle.promise.finally(() => clearTimeout(timer)),
      join: (other: string) => {
        if (this.#waiting.has(waiting)) this.#waiting.add(waiting, other, this.#bounds.waitingBytes);
      },
    };
  }

  #next(): void {
    if (this.#current !== null) return;
    const next = this.#waiting.next();
    clearTimeout(this.#timer);
    if (next === undefined) {
      this.#timer = setTimeout(() => void this.close(), IDLE_MS).unref();
      return;
    }
    this.#current = next;
    this.#timer = setTimeout(() => {
      // The next order starts another thread.
      void this.close();
      this.#finish((one) =>
        one.reject(new Failure('OPERATION_TIMEOUT', 'The picture could not be drawn in time.')),
      );
    }, this.#limitMs);
    this.#worker ??= this.#open();
    this.#worker.postMessage(next.order);
  }

  #finish(apply: (settle: WaitingOrder['settle']) => void): void {
    const done = this.#current;
    this.#current = null;
    if (done !== null) apply(done.settle);
    this.#next();
  }

  #open(): Worker {
    for (const flag of this.#bounds.engineFlags) setFlagsFromString(flag);
    const worker = new Worker(this.#code, {
      workerData: this.#settings,
      resourceLimits: { maxOldGenerationSizeMb: this.#bounds.heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
      // No worker takes some of the main thread's flags.
      execArgv: [],
      env: {},
    });
    worker.unref();
    worker.on('message', (drawn: Drawn) => {
      if (worker !== this.#worker) return;
      this.#finish((one) => {
        if ('error' in drawn) one.reject(new Error(drawn.error));
        else one.resolve(drawn.drawing);
      });
    });
    const lost = (error: Error) => {
      if (worker !== this.#worker) return;
      this.#worker = null;
      this.#finish((one) => one.reject(isFull(error) ? new Failure('BAD_USER_INPUT', TOO_LONG) : error));
    };
    worker.on('error', lost);
    worker.on('exit', () => lost(new Error('The thread that draws pictures has ended.')));
    return worker;
  }

  /** Ends the thread, and with it the work on the current order. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }
}

export const TOO_LONG = 'The answer is too long to be drawn. Ask for less of it, or for its data.';

function isFull(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Bytes of a cached drawing beside its parts. */
const OVERHEAD_BYTES = 200;

/** Rough size of a row of facts. */
const ROW_BYTES = 200;

/** Caches drawings by the names of what they show, and makes each only once at a time. */
export class Drawings {
  readonly #drawer: Drawer;
  readonly #cached: LRUCache<string, Drawing>;
  readonly #underWay = new Map<string, ReturnType<Drawer['draw']>>();

  constructor(drawer: Drawer, maxBytes: number) {
    this.#drawer = drawer;
    this.#cached = new LRUCache({
      maxSize: Math.max(1, Math.round(maxBytes)),
      sizeCalculation: ({ bytes, facts }, name) =>
        OVERHEAD_BYTES + name.length + (bytes?.length ?? 0) + ROW_BYTES * (facts?.table.rows.length ?? 0),
    });
  }

  /** @throws Failure OVERLOADED, OPERATION_TIMEOUT, BAD_USER_INPUT */
  async get(name: string, order: DrawingOrder, visitor: string): Promise<Drawing> {
    const cachedDrawing = this.#cached.get(name);
    if (cachedDrawing !== undefined) return cachedDrawing;
    const underWay = this.#underWay.get(name);
    underWay?.join(visitor);
    if (underWay !== undefined) return underWay.drawing;
    const begun = this.#drawer.draw(order, visitor);
    this.#underWay.set(name, begun);
    try {
      const drawing = await begun.drawing;
      this.#cached.set(name, drawing);
      return drawing;
    } finally {
      this.#underWay.delete(name);
    }
  }
}
