import { LATE, within } from '../shared/async/within.ts';
import { type CallCounts, COUNTS_TABLE, countsInFile, countsInRedis } from './counts.ts';
import type { SqliteFile } from './sqlite-file.ts';
import { choosePlace, MOST_PLACES, namesOf, type Sums, type SumsToAdd, sumsAt } from './sums.ts';

export interface KeptTexts {
  /** Each change of any text makes another. */
  readonly version: number;
  readonly texts: readonly string[];
}

/**
 * What must not be forgotten, for all gateways that share the store: counts of calls, texts by name, and sums by day. Unlike
 * in a cache, each method fails if the store can't be reached.
 */
export interface KeptStore extends CallCounts {
  get(name: string): Promise<string | null>;
  all(): Promise<KeptTexts>;
  /** Returns the new version; null, with nothing stored, if the texts are no longer of the given one. */
  change(version: number, texts: ReadonlyMap<string, string>): Promise<number | null>;
  /**
   * A batch counts once, so that one with an unknown outcome can be sent again.
   * @param retainedFrom the first day that is retained
   */
  addSums(sums: readonly SumsToAdd[], batch: string, retainedFrom: string): Promise<void>;
  readSums(days: readonly string[]): Promise<readonly Sums[]>;
}

const DAY_MS = 24 * 60 * 60 * 1000;

const IN_MEMORY = ':memory:';

/** In memory, it is kept as long as the process lives. */
export async function openKeptStore(url: string, timeoutMs: number): Promise<KeptStore> {
  if (url.startsWith('redis')) return openRedis(url, timeoutMs);
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : IN_MEMORY;
  // It has a file of its own, since that of the figures may be deleted, or set aside if damaged.
  return openFile(path === IN_MEMORY ? path : `${path}.keys`);
}

const TABLES = `
    CREATE TABLE IF NOT EXISTS versions (name TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS keys (name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS usage (day TEXT, key TEXT, place TEXT, measure TEXT, count INTEGER NOT NULL, PRIMARY KEY (day, key, place, measure)) WITHOUT ROWID;
  `;

/** @throws Error for the operator, if there is no room for the file */
async function openFile(path: string): Promise<KeptStore> {
  const { SqliteFile, withRoom } = await import('./sqlite-file.ts');
  const tables = COUNTS_TABLE + TABLES;
  const file = new SqliteFile({ path, name: 'issued keys', tables });
  const getText = file.prepare('SELECT text FROM keys WHERE name = ?');
  const allTexts = file.prepare('SELECT text FROM keys');
  const setText = file.prepare('INSERT OR REPLACE INTO keys VALUES (?, ?)');
  const getVersion = file.prepare("SELECT version FROM versions WHERE name = 'keys'");
  const setVersion = file.prepare("INSERT OR REPLACE INTO versions VALUES ('keys', ?)");
  const versionNow = () => Number(getVersion.get()?.version ?? 0);
  const store: KeptStore = {
    isShared: path !== IN_MEMORY,
    ...countsInFile(file),
    get: (name) => file.work(() => (getText.get(name)?.text as string | undefined) ?? null),
    all: () =>
      file.work(() => {
        // The version first: with newer texts, a change only starts over.
        const version = versionNow();
        return { version, texts: allTexts.all().map(({ text }) => String(text)) };
      }),
    change: (expected, texts) =>
      file.atOnce(() => {
        if (versionNow() !== expected) return null;
        for (const [name, text] of texts) setText.run(name, text);
        setVersion.run(expected + 1);
        return expected + 1;
      }),
    ...sumsIn(file),
    close: async () => file.close(),
  };
  withRoom(path, () => file.open());
  return store;
}

function sumsIn(file: SqliteFile) {
  const isThere = file.prepare(
    "SELECT 1 FROM usage WHERE day = ? AND key = ? AND place = ? AND measure = 'operations'",
  );
  const countPlaces = file.prepare(
    "SELECT count(*) AS places FROM usage WHERE day = ? AND key = ? AND measure = 'operations'",
  );
  const add = file.prepare(
    'INSERT INTO usage VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count',
  );
  const forget = file.prepare('DELETE FROM usage WHERE day < ?');
  const ofDay = file.prepare(
    'SELECT place, json_group_object(measure, count) AS counts FROM usage WHERE day = ? GROUP BY key, place',
  );
  return {
    addSums: (sums, _batch, retainedFrom) =>
      file.atOnce(() => {
        for (const one of sums) {
          const { day, owner, counts } = one;
          const existing = Number(countPlaces.get(day, owner)?.places);
          const isKnown = (place: string) => isThere.get(day, owner, place) !== undefined;
          const place = choosePlace(namesOf(one), isKnown, existing);
          for (const [measure, count] of Object.entries(counts)) add.run(day, owner, place, measure, count);
        }
        forget.run(retainedFrom);
      }),
    readSums: (days) =>
      file.work(() =>
        days.flatMap((day) =>
          ofDay
            .all(day)
            .flatMap(({ place, counts }) => sumsAt(day, String(place), JSON.parse(String(counts)))),
        ),
      ),
  } satisfies Partial<KeptStore>;
}

/** A day is a hash of counts by place and measure, and of numbers of places by owner; only places begin with a bracket. */
const ADD_SUMS = `
local batch = table.remove(KEYS)
if not redis.call('SET', batch, 1, 'NX', 'PX', ARGV[2]) then return end
local most = cjson.decode(ARGV[1])
for i, day in ipairs(KEYS) do
  local sums = cjson.decode(ARGV[i + 2])
  local existing = tonumber(redis.call('HGET', day, sums.owner) or '0')
  local place, isThere
  for at, one in ipairs(sums.places) do
    isThere = redis.call('HEXISTS', day, one .. 'operations') == 1
    place = one
    if isThere or not most[at] or existing < most[at] then break end
  end
  if not isThere then redis.call('HINCRBY', day, sums.owner, 1) end
  for measure, count in pairs(sums.counts) do redis.call('HINCRBY', day, place .. measure, count) end
  redis.call('PEXPIRE', day, sums.retentionMs)
end
`;

const CHANGE = `
if (redis.call('GET', KEYS[2]) or '0') ~= ARGV[1] then return false end
for i = 2, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
return redis.call('INCR', KEYS[2])
`;

const ALL = `return {redis.call('GET', KEYS[2]) or '0', redis.call('HVALS', KEYS[1])}`;

/** The braces keep all of it together in a cluster. */
const NAMESPACE = 'country-graph:{issued}:';

const TEXTS = `${NAMESPACE}keys`;
const VERSION = `${NAMESPACE}version`;

/** It may take so many times as long as cached figures: a late figure is a miss, but a late count is an error. */
const PATIENCE = 5;

async function openRedis(url: string, timeoutMs: number): Promise<KeptStore> {
  const { connectedTo } = await import('./redis.ts');
  const client = await connectedTo(url);
  async function inTime<Reply>(asking: Promise<Reply>): Promise<Reply> {
    const reply = await within(PATIENCE * timeoutMs, asking, LATE);
    if (reply === LATE) throw new Error('The store of issued keys has not answered in time.');
    return reply;
  }
  return {
    isShared: true,
    ...countsInRedis(client, NAMESPACE, inTime),
    get: async (name) => (await inTime(client.hGet(TEXTS, name))) ?? null,
    async all() {
      const reply = inTime(client.eval(ALL, { keys: [TEXTS, VERSION], arguments: [] }));
      const [version, texts] = (await reply) as [string, string[]];
      return { version: Number(version), texts };
    },
    async change(expected, texts) {
      const order = { keys: [TEXTS, VERSION], arguments: [String(expected), ...[...texts].flat()] };
      return ((await inTime(client.eval(CHANGE, order))) as number | null) ?? null;
    },
    async addSums(sums, batch, retainedFrom) {
      const orders = sums.map((one) => {
        const { owner, day, counts } = one;
        const retentionMs = DAY_MS + Date.parse(day) - Date.parse(retainedFrom);
        return JSON.stringify({ owner, places: namesOf(one), counts, retentionMs });
      });
      const names = [...sums.map(({ day }) => `usage:${day}`), `batch:${batch}`];
      await inTime(
        client.eval(ADD_SUMS, {
          keys: names.map((name) => NAMESPACE + name),
          arguments: [JSON.stringify(MOST_PLACES), String(DAY_MS), ...orders],
        }),
      );
    },
    async readSums(days) {
      const hashes = await inTime(Promise.all(days.map((day) => client.hGetAll(`${NAMESPACE}usage:${day}`))));
      return hashes.flatMap((fields, i) => sumsInHash(days[i] ?? '', fields));
    },
    close: async () => client.destroy(),
  };
}

const PLACE = /^(\[.*\])(\w+)$/;

function sumsInHash(day: string, fields: Readonly<Record<string, string>>): readonly Sums[] {
  const places = new Map<string, Record<string, number>>();
  for (const [field, count] of Object.entries(fields)) {
    const [, place, measure] = PLACE.exec(field) ?? [];
    if (place === undefined || measure === undefined) continue;
    const counts = places.get(place) ?? {};
    counts[measure] = Number(count);
    places.set(place, counts);
  }
  return [...places].flatMap(([place, counts]) => sumsAt(day, place, counts));
}
