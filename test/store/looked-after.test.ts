import { mkdtempDisposableSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@redis/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { figureOf, openIssuing } from '../issued/issuing.ts';
import { openProgram } from '../support/program.ts';
import { hasRedis, startRedis } from '../support/redis.ts';

/** Milliseconds for what is looked after every second. */
const SOON = { timeout: 20_000, interval: 50 };

const CODES = 'NG GH ZA EG MA TN DZ ET UG TZ RW SN CI CM AO ZM ZW MZ BW NA ML NE TD SD BF BJ TG GA'.split(
  ' ',
);

async function withRedis() {
  const redis = await startRedis();
  const client = await createClient({ url: redis.url }).connect();
  onTestFinished(async () => {
    client.destroy();
    await redis.kill();
  });
  return { url: redis.url, client };
}

function withFile() {
  const folder = mkdtempDisposableSync(join(tmpdir(), 'looked-after-'));
  onTestFinished(() => folder.remove());
  const path = join(folder.path, 'cache.db');
  const files = ['', '-wal', '-shm', '.keys', '.keys-wal', '.keys-shm'].map((ending) => path + ending);
  return { url: `sqlite:${path}`, path, files };
}

/** Opens a store, and tells how it is lost while gateways run. */
const LOSSES: Record<string, () => Promise<{ readonly url: string; readonly lose: () => unknown }>> = {
  'a Redis that is flushed': async () => {
    const { url, client } = await withRedis();
    return { url, lose: () => client.flushAll() };
  },
  'a Redis that evicts the secret': async () => {
    const { url, client } = await withRedis();
    return { url, lose: () => client.del('country-graph:pepper') };
  },
  'a file that is deleted': async () => {
    const { url, files } = withFile();
    const lose = () => {
      for (const file of files) rmSync(file, { force: true });
    };
    return { url, lose };
  },
  'a file that is replaced': async () => {
    const { url, path, files } = withFile();
    const lose = () => {
      const other = `${path}.other`;
      const db = new DatabaseSync(other);
      db.exec('CREATE TABLE other (name TEXT)');
      db.close();
      for (const file of files) rmSync(file, { force: true });
      renameSync(other, path);
    };
    return { url, lose };
  },
  'a file that loses its tables': async () => {
    const { url, path } = withFile();
    const lose = () => {
      const db = new DatabaseSync(path);
      for (const table of ['entries', 'firsts', 'counts', 'leases']) db.exec(`DROP TABLE ${table}`);
      db.close();
    };
    return { url, lose };
  },
};

const needsRedis = (name: string) => name.includes('Redis');

describe('what gateways share', () => {
  it.each(Object.entries(LOSSES).filter(([name]) => hasRedis || !needsRedis(name)))(
    'gateways share one secret again after the loss of it: %s',
    async (_, openLoss) => {
      const { url, lose } = await openLoss();
      await using first = await openProgram({ env: { CACHE_URL: url } });
      expect((await first.ask(figureOf('KE'))).upstream.calls).toBe(1);
      await lose();
      await using second = await openProgram({ env: { CACHE_URL: url } });
      const codes = CODES.values();
      await vi.waitFor(async () => {
        const query = figureOf(codes.next().value ?? '');
        const one = await first.ask(query);
        const other = await second.ask(query);
        expect([one.errors, other.errors, one.upstream.calls, other.upstream.calls]).toEqual([[], [], 1, 0]);
      }, SOON);
      const third = CODES.at(-1) ?? '';
      expect((await second.ask(figureOf(third))).upstream.calls).toBe(1);
      expect((await first.ask(figureOf(third))).upstream.calls).toBe(0);
    },
  );

  it.skipIf(!hasRedis)('a secret that is lost is put back by a gateway at which nobody asks', async () => {
    const { url, client } = await withRedis();
    await using _ = await openProgram({ env: { CACHE_URL: url } });
    const secret = await client.get('country-graph:pepper');
    await client.flushAll();
    await vi.waitFor(async () => expect(await client.get('country-graph:pepper')).toBe(secret), SOON);
  });

  it('a file that is deleted is told of, once', async () => {
    const { url, files } = withFile();
    await using program = await openProgram({ env: { CACHE_URL: url } });
    for (const file of files) rmSync(file, { force: true });
    const told = () => program.problems.filter((problem) => String(problem).includes('deleted or replaced'));
    await vi.waitFor(() => expect(told()).toHaveLength(1), SOON);
    expect((await program.ask(figureOf('KE'))).upstream.calls).toBe(1);
    expect((await program.ask(figureOf('KE'))).upstream.calls).toBe(0);
    expect(told()).toHaveLength(1);
  });
});

describe('issued keys', () => {
  it.each(
    Object.entries(LOSSES).filter(
      ([name]) => (hasRedis && name.includes('flushed')) || name.includes('deleted'),
    ),
  )('issued keys that are lost are told of, and can be created anew: %s', async (_, openLoss) => {
    const { url, lose } = await openLoss();
    await using program = await openIssuing({ cacheUrl: url });
    const lost = await program.issue({ name: 'page' });
    expect((await program.ask(figureOf('KE'), { key: lost })).errors).toEqual([]);
    await lose();
    await vi.waitFor(async () => {
      const { errors } = await program.ask(figureOf('KE'), { key: lost });
      expect(errors.map(({ extensions }) => extensions.code)).toEqual(['UNAUTHENTICATED']);
    }, SOON);
    expect(
      program.problems.map(String).filter((words) => words.includes('lost the issued key page')),
    ).toHaveLength(1);
    const anew = await program.issue({ name: 'page' });
    expect((await program.ask(figureOf('KE'), { key: anew })).errors).toEqual([]);
  });
});
