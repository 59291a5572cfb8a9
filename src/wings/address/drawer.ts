import { Worker } from 'node:worker_threads';
import { Failure } from '../../errors.ts';
import { BoundedCache, OVERHEAD_BYTES } from '../../store/lru.ts';

/** The look that the operator gives a picture, in the words of GraphiQL's controls. */
export interface PictureLook {
  /** The key of an indicator: the first picture that shows it, and not the first of all. */
  readonly indicator?: string | undefined;
  readonly kind?: 'lines' | 'multiples' | 'bars' | 'map' | 'scatter' | undefined;
  readonly isLog?: boolean | undefined;
  readonly measure?: 'value' | 'index' | 'difference' | 'percent' | undefined;
  readonly base?: number | undefined;
  /** The year of a ranking, a map or a scatter plot; the latest figures if there is none. */
  readonly year?: number | undefined;
  /** Names of lines that have a colour before all others. */
  readonly highlight?: readonly string[] | undefined;
}

export interface DrawingOrder {
  readonly form: 'svg' | 'png' | 'facts';
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly look: PictureLook;
  readonly theme: 'light' | 'dark';
  /** Pixels. */
  readonly width: number;
  /** True if title and notes stand elsewhere. */
  readonly isBare: boolean;
}

export interface PictureFacts {
  readonly title: string;
  readonly subtitle: string;
  /** The picture for those who don't see it. */
  readonly words: string;
  readonly notes: readonly string[];
  readonly table: { readonly columns: readonly string[]; readonly rows: readonly (readonly unknown[])[] };
  readonly leftOut: number;
  /** Pixels of the PNG with its title and notes, as wide as it usually is. */
  readonly image: { readonly width: number; readonly height: number };
  /** Pages of the sources that the notes name, by the names. */
  readonly pages: readonly (readonly [name: string, url: string])[];
}

/** A drawn picture, in pixels; without any if the answer has nothing to draw. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  /** A text of SVG, or the bytes of a PNG; null if the facts alone were asked for, or there is no picture. */
  readonly bytes: string | Uint8Array | null;
  /** Null unless they were asked for, or if there is no picture. */
  readonly facts: PictureFacts | null;
  /** Words on what the answer lacks, for a page. */
  readonly warnings: readonly string[];
}

export type Drawn = { readonly drawing: Drawing } | { readonly fault: string };

export interface DrawerSettings {
  readonly isSynthetic: boolean;
  readonly sourceNames: Readonly<Record<string, { readonly name: string; readonly url: string | null }>>;
}

/** Orders that wait or are drawn; beyond them, others are turned away. */
const MAX_ORDERS = 64;

/** Milliseconds that one drawing may take: the largest that an answer can be takes a second. */
const LIMIT_MS = 20_000;

/** Milliseconds without an order after which the worker ends. */
const IDLE_MS = 60_000;

/** Megabytes of the worker's heap. */
const HEAP_MB = 256;

interface WaitingOrder {
  readonly order: DrawingOrder;
  readonly settle: PromiseWithResolvers<Drawing>;
}

/**
 * Draws pictures by GraphiQL's own code, in a thread of its own and one after the other: no other work waits for them.
 * The thread begins with the first picture, and ends when nobody has asked for one for a while.
 */
export class Drawer {
  readonly #code: string;
  readonly #settings: DrawerSettings;
  readonly #limitMs: number;
  readonly #waiting: WaitingOrder[] = [];
  #current: WaitingOrder | null = null;
  #worker: Worker | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** @param code file of the built drawing code of GraphiQL, with what it needs outside a browser */
  constructor(code: string, settings: DrawerSettings, limitMs = LIMIT_MS) {
    this.#limitMs = limitMs;
    this.#code = code;
    this.#settings = settings;
  }

  /** @throws Failure OVERLOADED, OPERATION_TIMEOUT */
  draw(order: DrawingOrder): Promise<Drawing> {
    if (this.#waiting.length >= MAX_ORDERS)
      throw new Failure('OVERLOADED', 'Too many pictures wait to be drawn. Ask again a little later.', {
        retryAfterSeconds: 1,
      });
    const settle = Promise.withResolvers<Drawing>();
    this.#waiting.push({ order, settle });
    this.#next();
    return settle.promise;
  }

  #next(): void {
    if (this.#current !== null) return;
    const next = this.#waiting.shift();
    clearTimeout(this.#timer);
    if (next === undefined) {
      this.#timer = setTimeout(() => void this.close(), IDLE_MS).unref();
      return;
    }
    this.#current = next;
    this.#timer = setTimeout(() => {
      // The next order is for another thread.
      void this.close();
      this.#finish((one) =>
        one.reject(new Failure('OPERATION_TIMEOUT', 'The picture could not be drawn in time.')),
      );
    }, this.#limitMs);
    this.#worker ??= this.#open();
    this.#worker.postMessage(next.order);
  }

  #finish(tell: (settle: WaitingOrder['settle']) => void): void {
    const done = this.#current;
    this.#current = null;
    if (done !== null) tell(done.settle);
    this.#next();
  }

  #open(): Worker {
    const worker = new Worker(this.#code, {
      workerData: this.#settings,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      // The flags of the program are the main thread's: some of them no worker takes.
      execArgv: [],
      env: {},
    });
    worker.unref();
    worker.on('message', (drawn: Drawn) => {
      if (worker !== this.#worker) return;
      this.#finish((one) => {
        if ('fault' in drawn) one.reject(new Error(drawn.fault));
        else one.resolve(drawn.drawing);
      });
    });
    const lost = (error: Error) => {
      if (worker !== this.#worker) return;
      this.#worker = null;
      this.#finish((one) => one.reject(error));
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

/** Bytes that facts take, roughly, for each row of their table. */
const ROW_BYTES = 200;

/** Drawings as they were made, by the names of what they show. One that is asked for twice at once is made once. */
export class Drawings {
  readonly #drawer: Drawer;
  readonly #kept: BoundedCache<Drawing>;
  readonly #underWay = new Map<string, Promise<Drawing>>();

  /** @param maxBytes of the drawings that are kept */
  constructor(drawer: Drawer, maxBytes: number) {
    this.#drawer = drawer;
    this.#kept = new BoundedCache(
      maxBytes,
      ({ bytes, facts }, name) =>
        OVERHEAD_BYTES + name.length + (bytes?.length ?? 0) + ROW_BYTES * (facts?.table.rows.length ?? 0),
    );
  }

  async get(name: string, order: DrawingOrder): Promise<Drawing> {
    const kept = this.#kept.get(name);
    if (kept !== undefined) return kept;
    const underWay = this.#underWay.get(name);
    if (underWay !== undefined) return underWay;
    const drawing = this.#drawer.draw(order).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, drawing);
    this.#kept.set(name, await drawing);
    return drawing;
  }
}
