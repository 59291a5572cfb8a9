/** Figures in IndexedDB, which tabs share. Whatever fails there is a miss. */
import type { Segment } from './store.ts';

export interface StoredLayer {
  readonly pair: string;
  readonly fields: readonly string[];
  readonly segments: readonly Segment[];
}

export interface Disk {
  load(digest: string): Promise<{ readonly epoch: string; readonly layers: readonly StoredLayer[] }>;
  /** Saves nothing if another tab has forgotten the key since. */
  save(digest: string, epoch: string, layers: readonly StoredLayer[]): Promise<void>;
  /** @param digest null for all */
  forget(digest: string | null): Promise<void>;
  drop(isDropped: (pair: string) => boolean): Promise<void>;
}

const NAME = 'country-graph-figures';
const LAYERS = 'layers';
const EPOCHS = 'epochs';

/** Of all keys. */
const ALL = '';

type Work = (layers: IDBObjectStore, epochs: IDBObjectStore) => Promise<void> | void;

export function openDisk(factory: IDBFactory): Disk {
  let opening: Promise<IDBDatabase> | null = null;

  function open(): Promise<IDBDatabase> {
    opening ??= new Promise<IDBDatabase>((resolve, reject) => {
      const request = factory.open(NAME, 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore(LAYERS);
        request.result.createObjectStore(EPOCHS);
      };
      request.onsuccess = () => {
        // A later version of this package can't open it before.
        request.result.onversionchange = () => request.result.close();
        resolve(request.result);
      };
      request.onerror = () => reject(request.error);
    });
    return opening;
  }

  async function transact(mode: IDBTransactionMode, work: Work): Promise<void> {
    const database = await open();
    const transaction = database.transaction([LAYERS, EPOCHS], mode);
    const done = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      // Also if there is no room for it.
      transaction.onabort = () => reject(transaction.error);
    });
    await Promise.all([work(transaction.objectStore(LAYERS), transaction.objectStore(EPOCHS)), done]);
  }

  return {
    async load(digest) {
      let epoch = '';
      let layers: readonly StoredLayer[] = [];
      await transact('readonly', async (stored, epochs) => {
        const values = resultOf(stored.getAll(rangeOf(digest)));
        epoch = await epochOf(epochs, digest);
        layers = await values;
      });
      return { epoch, layers };
    },
    save: (digest, epoch, layers) =>
      transact('readwrite', async (stored, epochs) => {
        if ((await epochOf(epochs, digest)) !== epoch) return;
        for (const layer of layers) stored.put(layer, [digest, layer.pair, [...layer.fields].sort().join()]);
      }),
    forget: (digest) =>
      transact('readwrite', (stored, epochs) => {
        if (digest === null) stored.clear();
        else stored.delete(rangeOf(digest));
        epochs.put(Math.random(), digest ?? ALL);
      }),
    drop: (isDropped) =>
      transact('readwrite', async (stored) => {
        const keys = await resultOf(stored.getAllKeys());
        for (const key of keys) if (isDropped((key as readonly string[])[1] ?? '')) stored.delete(key);
      }),
  };
}

/** Changes whenever a key is forgotten. */
async function epochOf(epochs: IDBObjectStore, digest: string): Promise<string> {
  const [all, own] = await Promise.all([ALL, digest].map((name) => resultOf(epochs.get(name))));
  return `${all ?? ''}/${own ?? ''}`;
}

/** Lists come after all texts. */
const rangeOf = (digest: string) => IDBKeyRange.bound([digest], [digest, []]);

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
