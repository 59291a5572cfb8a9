import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packing } from '../cache/unpacked-store.ts';
import type { Config } from '../config/config.ts';
import { createGateway } from '../gateway/gateway.ts';
import type { CommandHost } from '../gateway/plugin.ts';
import { nameInStore } from '../keys/tenant-cache.ts';
import { timeless } from '../observations/cached-ranges.ts';
import type { CommandKey } from '../plugin/definition.ts';
import type { RecordedValue, Recording } from '../plugin/filling.ts';
import { createLog } from '../server/log.ts';
import { createMetrics } from '../server/metrics.ts';
import { createServer } from '../server/server.ts';
import { openAskedService } from './asked-service.ts';
import { ownKeyOf } from './given-key.ts';
import { lasting } from './lasting.ts';

type Given = Omit<CommandKey, 'remarks'>;

/** Serves a gateway of its own, whose store begins empty and is gone once it is closed. */
export async function openRecording(
  settings: Config,
  given: Given,
  { env, plugins, openSandbox }: CommandHost,
): Promise<Recording> {
  const folder = await mkdtemp(join(tmpdir(), 'country-graph-record-'));
  const database = join(folder, 'recorded.db');
  let service: Awaited<ReturnType<typeof openAskedService>> | undefined;
  const close = async () => {
    await service?.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const note = (words: string) => void process.stderr.write(`${words}\n`);
    service = await openAskedService(settings, await ownKeyOf(given, env), openSandbox, note);
    const { url: upstreamUrl, key } = service;
    const config = {
      ...lasting(settings),
      host: '127.0.0.1',
      port: 0,
      adminPort: undefined,
      cacheUrl: `sqlite:${database}`,
      // Everything is asked for once.
      cacheTtlSeconds: Number.POSITIVE_INFINITY,
    };
    const own = key === undefined ? [] : [{ keys: () => inNameOf(`Bearer ${key}`) }];
    const log = createLog('warn');
    const gateway = await createGateway({ config, plugins, own, upstreamUrl, observer: log });
    const server = createServer({ config, gateway, metrics: createMetrics(), log, demoKeys: null });
    const { url } = await server.listen();
    return { url, drain: () => server.drain(), values: () => valuesIn(database), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Has all callers ask under one key. */
const inNameOf = (authorization: string) => ({ owns: () => true, exchange: () => ({ authorization }) });

async function valuesIn(path: string): Promise<readonly RecordedValue[]> {
  const { DatabaseSync } = await import('node:sqlite');
  const db = new DatabaseSync(path);
  try {
    const byName = new Map<string, unknown>();
    for (const { key, value } of db.prepare('SELECT key, value FROM entries').all()) {
      const name = nameInStore(String(key));
      const { value: entry } = packing.parse<{ readonly value?: { readonly value?: unknown } }>(
        String(value),
      );
      if (name !== null && entry?.value !== undefined) byName.set(name, timeless(entry.value));
    }
    return Array.from(byName, ([name, value]) => ({ name, value }));
  } finally {
    db.close();
  }
}
