import { z } from 'zod';
import {
  type CallCounts,
  type CountsFile,
  connectCounts,
  countsIn,
  countsInMemory,
  countsOver,
  fileOf,
  NAMESPACE,
  openCountsFile,
} from '../../cache/counts.ts';
import { jsonIn, msOf } from './key.ts';

/** Counts of one client, key, document and day (UTC). */
export interface UsageRow {
  /** As `2026-03-10`. */
  readonly day: string;
  readonly key: string;
  /** As the client names itself; empty if it doesn't. */
  readonly client: string;
  /** Name of the operation, or else of the listed document; empty if neither is known. */
  readonly document: string;
  /** By measure: `operations`, which every row has, the others of {@link MEASURES}, and error codes. */
  readonly counts: Readonly<Record<string, number>>;
}

/** `failed` counts operations with an error; `calls`, `shared` and `cached` are sums of bills. */
export const MEASURES = ['operations', 'failed', 'calls', 'shared', 'cached'] as const;

/** Replaces names beyond the bound, since clients choose the names of themselves and their operations. */
export const OTHER = 'other';

/** Rows of a key and day above which clients are no longer told apart, and above which documents aren't either. */
const MOST_ROWS = [100, 200] as const;

/** The places at which a row may be counted, the finest first. */
function placesOf({ key, client, document }: Omit<UsageRow, 'day' | 'counts'>): readonly string[] {
  return [
    [key, client, document],
    [key, OTHER, document],
    [key, OTHER, OTHER],
  ].map((names) => JSON.stringify(names));
}

/** Chooses the finest place that exists or has room. */
function choosePlace(places: readonly string[], isThere: (place: string) => boolean, rows: number): string {
  const place = places.find(
    (place, i) => isThere(place) || rows < (MOST_ROWS[i] ?? Number.POSITIVE_INFINITY),
  );
  return place ?? '';
}

function rowAt(day: string, place: string, counts: UsageRow['counts']): UsageRow | [] {
  const names = Place.safeParse(jsonIn(place));
  if (!names.success) return [];
  const [key, client, document] = names.data;
  return { day, key, client, document, counts };
}

const Place = z.tuple([z.string(), z.string(), z.string()]);

/** Usage in memory, with a bounded number of rows per key and day. */
export class UsageBook {
  readonly #days = new Map<string, Map<string, Record<string, number>>>();
  readonly #rows = new Map<string, number>();

  add(row: UsageRow): void {
    const { day, key, counts } = row;
    const places = this.#days.get(day) ?? new Map<string, Record<string, number>>();
    this.#days.set(day, places);
    const owner = `${day} ${key}`;
    const rows = this.#rows.get(owner) ?? 0;
    const place = choosePlace(placesOf(row), (one) => places.has(one), rows);
    const measures = places.get(place);
    if (measures === undefined) this.#rows.set(owner, rows + 1);
    const sums = measures ?? { operations: 0 };
    for (const [measure, count] of Object.entries(counts)) sums[measure] = (sums[measure] ?? 0) + count;
    places.set(place, sums);
  }

  rows(days: Iterable<string> = this.#days.keys()): readonly UsageRow[] {
    return [...days].flatMap((day) =>
      [...(this.#days.get(day) ?? [])].flatMap(([place, counts]) => rowAt(day, place, counts)),
    );
  }

  forget(before: string): void {
    for (const day of this.#days.keys()) if (day < before) this.#days.delete(day);
    for (const owner of this.#rows.keys()) if (owner < before) this.#rows.delete(owner);
  }
}

export interface StoredKeys {
  /** Each change of any key makes another. */
  readonly version: number;
  readonly texts: readonly string[];
}

/** Issued keys by digest, with counts of their calls and usage, for all gateways that share the store. */
export interface KeyStore extends CallCounts {
  get(name: string): Promise<string | null>;
  all(): Promise<StoredKeys>;
  /** Returns the new version; null, with nothing stored, if the keys are no longer of the given one. */
  change(version: number, texts: ReadonlyMap<string, string>): Promise<number | null>;
  /**
   * A batch counts once, so that one with an unknown outcome can be sent again.
   * @param retainedFrom the first day that is retained
   */
  addUsage(rows: readonly UsageRow[], batch: string, retainedFrom: string): Promise<void>;
  readUsage(days: readonly string[]): Promise<readonly UsageRow[]>;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Milliseconds after which a request goes on without the store, if it can. */
export const LATE_MS = 50;

export async function openKeyStore(url: string, timeoutMs: number): Promise<KeyStore> {
  const path = fileOf(url);
  if (path !== null) return openFile(path);
  return url.startsWith('redis') ? openRedis(url, timeoutMs) : openMemory();
}

function openMemory(): KeyStore {
  const keys = new Map<string, string>();
  const usage = new UsageBook();
  let version = 0;
  return {
    ...countsInMemory(),
    get: async (name) => keys.get(name) ?? null,
    all: async () => ({ version, texts: [...keys.values()] }),
    async change(expected, texts) {
      if (version !== expected) return null;
      for (const [name, text] of texts) keys.set(name, text);
      version += 1;
      return version;
    },
    async addUsage(rows, _batch, retainedFrom) {
      for (const row of rows) usage.add(row);
      usage.forget(retainedFrom);
    },
    readUsage: async (days) => structuredClone(usage.rows(days)),
  };
}

const TABLES = `
    CREATE TABLE IF NOT EXISTS versions (name TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS keys (name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS usage (day TEXT, key TEXT, place TEXT, measure TEXT, count INTEGER NOT NULL, PRIMARY KEY (day, key, place, measure)) WITHOUT ROWID;
  `;

async function openFile(path: string): Promise<KeyStore> {
  const { close, ...file } = await openCountsFile(path, TABLES);
  const { db, patiently, atOnce } = file;
  const getKey = db.prepare('SELECT text FROM keys WHERE name = ?');
  const allKeys = db.prepare('SELECT text FROM keys');
  const setKey = db.prepare('INSERT OR REPLACE INTO keys VALUES (?, ?)');
  const getVersion = db.prepare("SELECT version FROM versions WHERE name = 'keys'");
  const setVersion = db.prepare("INSERT OR REPLACE INTO versions VALUES ('keys', ?)");
  const versionNow = () => Number(getVersion.get()?.version ?? 0);
  return {
    isShared: true,
    ...countsIn(file),
    get: (name) => patiently(() => (getKey.get(name)?.text as string | undefined) ?? null),
    all: () =>
      patiently(() => {
        // The version first: with newer keys, a change only starts over.
        const version = versionNow();
        return { version, texts: allKeys.all().map(({ text }) => String(text)) };
      }),
    change: (expected, texts) =>
      atOnce(() => {
        if (versionNow() !== expected) return null;
        for (const [name, text] of texts) setKey.run(name, text);
        setVersion.run(expected + 1);
        return expected + 1;
      }),
    ...usageIn(file),
    close,
  };
}

function usageIn({ db, atOnce, patiently }: CountsFile) {
  const isThere = db.prepare(
    "SELECT 1 FROM usage WHERE day = ? AND key = ? AND place = ? AND measure = 'operations'",
  );
  const countRows = db.prepare(
    "SELECT count(*) AS rows FROM usage WHERE day = ? AND key = ? AND measure = 'operations'",
  );
  const add = db.prepare(
    'INSERT INTO usage VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count',
  );
  const forget = db.prepare('DELETE FROM usage WHERE day < ?');
  const ofDay = db.prepare(
    'SELECT place, json_group_object(measure, count) AS counts FROM usage WHERE day = ? GROUP BY key, place',
  );
  return {
    addUsage: (rows, _batch, retainedFrom) =>
      atOnce(() => {
        for (const row of rows) {
          const { day, key, counts } = row;
          const all = Number(countRows.get(day, key)?.rows);
          const place = choosePlace(placesOf(row), (one) => isThere.get(day, key, one) !== undefined, all);
          for (const [measure, count] of Object.entries(counts)) add.run(day, key, place, measure, count);
        }
        forget.run(retainedFrom);
      }),
    readUsage: (days) =>
      patiently(() =>
        days.flatMap((day) =>
          ofDay
            .all(day)
            .flatMap(({ place, counts }) => rowAt(day, String(place), JSON.parse(String(counts)))),
        ),
      ),
  } satisfies Partial<KeyStore>;
}

/** A day is a hash of counts by place and measure, and of numbers of rows by key; only places begin with a bracket. */
const ADD_USAGE = `
local batch = table.remove(KEYS)
if not redis.call('SET', batch, 1, 'NX', 'PX', ARGV[2]) then return end
local most = cjson.decode(ARGV[1])
for i, day in ipairs(KEYS) do
  local row = cjson.decode(ARGV[i + 2])
  local rows = tonumber(redis.call('HGET', day, row.key) or '0')
  local place, isThere
  for at, one in ipairs(row.places) do
    isThere = redis.call('HEXISTS', day, one .. 'operations') == 1
    place = one
    if isThere or not most[at] or rows < most[at] then break end
  end
  if not isThere then redis.call('HINCRBY', day, row.key, 1) end
  for measure, count in pairs(row.counts) do redis.call('HINCRBY', day, place .. measure, count) end
  redis.call('PEXPIRE', day, row.retentionMs)
end
`;

const CHANGE = `
if (redis.call('GET', KEYS[2]) or '0') ~= ARGV[1] then return false end
for i = 2, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
return redis.call('INCR', KEYS[2])
`;

const ALL = `return {redis.call('GET', KEYS[2]) or '0', redis.call('HVALS', KEYS[1])}`;

const KEYS = `${NAMESPACE}keys`;
const VERSION = `${NAMESPACE}version`;

async function openRedis(url: string, timeoutMs: number): Promise<KeyStore> {
  const connection = await connectCounts(url, timeoutMs);
  const { client, inTime, close } = connection;
  return {
    isShared: true,
    ...countsOver(connection),
    get: async (name) => (await inTime(client.hGet(KEYS, name))) ?? null,
    async all() {
      const reply = inTime(client.eval(ALL, { keys: [KEYS, VERSION], arguments: [] }));
      const [version, texts] = (await reply) as [string, string[]];
      return { version: Number(version), texts };
    },
    async change(expected, texts) {
      const order = { keys: [KEYS, VERSION], arguments: [String(expected), ...[...texts].flat()] };
      return ((await inTime(client.eval(CHANGE, order))) as number | null) ?? null;
    },
    async addUsage(rows, batch, retainedFrom) {
      const texts = rows.map((row) => {
        const { key, day, counts } = row;
        const retentionMs = DAY_MS + msOf(day) - msOf(retainedFrom);
        return JSON.stringify({ key, places: placesOf(row), counts, retentionMs });
      });
      const names = [...rows.map(({ day }) => `usage:${day}`), `batch:${batch}`];
      await inTime(
        client.eval(ADD_USAGE, {
          keys: names.map((name) => NAMESPACE + name),
          arguments: [JSON.stringify(MOST_ROWS), String(DAY_MS), ...texts],
        }),
      );
    },
    async readUsage(days) {
      const hashes = await inTime(Promise.all(days.map((day) => client.hGetAll(`${NAMESPACE}usage:${day}`))));
      return hashes.flatMap((fields, i) => usageRowsIn(days[i] ?? '', fields));
    },
    close,
  };
}

const PLACE = /^(\[.*\])(\w+)$/;

function usageRowsIn(day: string, fields: Readonly<Record<string, string>>): readonly UsageRow[] {
  const places = new Map<string, Record<string, number>>();
  for (const [field, count] of Object.entries(fields)) {
    const [, place, measure] = PLACE.exec(field) ?? [];
    if (place === undefined || measure === undefined) continue;
    const counts = places.get(place) ?? {};
    counts[measure] = Number(count);
    places.set(place, counts);
  }
  return [...places].flatMap(([place, counts]) => rowAt(day, place, counts));
}
