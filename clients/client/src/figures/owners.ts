import type { Disk, StoredLayer } from './disk.ts';
import { HeldFigures, type Instant, type Layer } from './store.ts';

/** Held figures by the key that they came under, and those of the disk and of other tabs. */
export interface Owner {
  readonly held: HeldFigures;
  /** Counts what was forgotten: an answer that was asked for before isn't held. */
  generation: number;
  /** Name on the disk, which tells nothing of the key; null if there is none. */
  readonly digest: Promise<string | null>;
  ready: Promise<void> | null;
  epoch: string;
}

interface Message {
  readonly digest?: string;
  readonly pairs?: readonly Pair[] | null;
}

/** A country and an indicator. */
export type Pair = readonly [country: string, metric: string];

export interface OwnersOptions {
  readonly url: string;
  readonly disk: Disk | null;
  readonly maxFigures: number;
  /** Milliseconds past their time for which figures are of use. */
  readonly graceMs: number;
  readonly now: () => Instant;
}

export class Owners {
  readonly #owners = new Map<string, Owner>();
  readonly #options: OwnersOptions;
  #tabs: BroadcastChannel | null;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(options: OwnersOptions) {
    this.#options = options;
    this.#tabs =
      typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('country-graph-figures');
    // Node would wait for messages for ever.
    (this.#tabs as { unref?: () => void } | null)?.unref?.();
    this.#tabs?.addEventListener('message', ({ data }) => void this.#hear(data as Message));
  }

  async of(key: string): Promise<Owner> {
    let owner = this.#owners.get(key);
    if (owner === undefined) {
      const digest = digestOf(`${this.#options.url}\n${key}`);
      owner = { held: new HeldFigures(), generation: 0, digest, ready: null, epoch: '' };
    }
    // The key that was used least recently comes first.
    this.#owners.delete(key);
    this.#owners.set(key, owner);
    // What can't be read of the disk is a miss.
    owner.ready ??= this.#load(owner).catch(() => undefined);
    await owner.ready;
    return owner;
  }

  /** Bounds all that is held; writes to the disk what has come. */
  keep(owner: Owner, layers: ReadonlyMap<string, Layer>): void {
    let rest = [...this.#owners.values()].reduce((sum, { held }) => sum + held.count, 0);
    for (const [key, { held }] of this.#owners) {
      const excess = rest - this.#options.maxFigures;
      if (excess <= 0) break;
      const before = held.count;
      held.shrink(Math.max(0, before - excess));
      rest -= before - held.count;
      // A key that was replaced by a newer one.
      if (held.count === 0) this.#owners.delete(key);
    }
    const { disk } = this.#options;
    const { epoch, generation } = owner;
    if (disk === null) return;
    const stored = [...layers].map(([pair, { fields, segments }]) => ({
      pair,
      fields: [...fields],
      segments,
    }));
    this.#write(async () => {
      const digest = await owner.digest;
      if (digest !== null && owner.generation === generation) await disk.save(digest, epoch, stored);
    });
  }

  async forget(key?: string): Promise<void> {
    const owners = key === undefined ? [...this.#owners] : [[key, await this.of(key)] as const];
    for (const [name, owner] of owners) {
      this.#empty(owner);
      this.#owners.delete(name);
      const digest = await owner.digest;
      if (digest === null) continue;
      this.#write(async () => this.#options.disk?.forget(digest));
      this.#tabs?.postMessage({ digest } satisfies Message);
    }
    // Those of keys of earlier visits, too.
    if (key === undefined) this.#write(async () => this.#options.disk?.forget(null));
    await this.written();
  }

  /** Forgets figures under each key. @param pairs null for all */
  revised(pairs: readonly Pair[] | null): void {
    this.#drop(pairs);
    this.#tabs?.postMessage({ pairs } satisfies Message);
    this.#write(async () => this.#options.disk?.drop((pair) => isOf(pair, pairs)));
  }

  /** Resolves when the disk has all that it was told. */
  async written(): Promise<void> {
    await this.#writing;
  }

  close(): void {
    this.#tabs?.close();
    this.#tabs = null;
  }

  #drop(pairs: readonly Pair[] | null): void {
    for (const owner of this.#owners.values()) {
      owner.generation += 1;
      owner.held.forget((pair) => isOf(pair, pairs));
    }
  }

  #empty(owner: Owner): void {
    owner.generation += 1;
    owner.held.clear();
    owner.ready = null;
  }

  async #hear({ digest, pairs }: Message): Promise<void> {
    if (digest === undefined) return this.#drop(pairs ?? null);
    for (const owner of this.#owners.values()) if ((await owner.digest) === digest) this.#empty(owner);
  }

  async #load(owner: Owner): Promise<void> {
    const { disk, now, graceMs, maxFigures } = this.#options;
    const digest = await owner.digest;
    if (disk === null || digest === null) return;
    const { generation } = owner;
    const stored = await disk.load(digest);
    if (owner.generation !== generation) return;
    owner.epoch = stored.epoch;
    const { wallMs, steadyMs } = now();
    for (const { pair, fields, segments } of stored.layers)
      for (const segment of segments) {
        const ageMs = wallMs - segment.at.wallMs;
        // Before it came, by a clock that was set back since: nobody knows how old it is.
        if (ageMs < 0 || ageMs >= segment.freshMs + graceMs) continue;
        const at = { wallMs: segment.at.wallMs, steadyMs: steadyMs - ageMs };
        owner.held.put(pair, fields, { ...segment, at });
        seeNames(owner.held, pair, { ...segment, at });
      }
    owner.held.shrink(maxFigures);
  }

  /** One after the other, so that what is forgotten stays so. */
  #write(work: () => Promise<unknown>): void {
    this.#writing = this.#writing.then(work).catch(() => undefined);
  }
}

/** Figures of a country and an indicator show that there are both. */
export function seeNames(
  held: HeldFigures,
  pair: string,
  { rows, at, freshMs }: StoredLayer['segments'][number],
): void {
  if (rows.length === 0) return;
  const [country = '', metric = ''] = pair.split(' ');
  for (const name of [country, metric]) if (name !== '') held.see(name, at.steadyMs + freshMs);
}

function isOf(pair: string, pairs: readonly Pair[] | null): boolean {
  const [country, metric] = pair.split(' ');
  // Of a country alone there are no figures.
  return pairs === null ? metric !== '' : pairs.some(([code, key]) => code === country && key === metric);
}

async function digestOf(text: string): Promise<string | null> {
  // Pages without TLS have no such functions.
  const { subtle } = globalThis.crypto ?? {};
  if (subtle === undefined) return null;
  return new Uint8Array(await subtle.digest('SHA-256', new TextEncoder().encode(text))).join();
}
