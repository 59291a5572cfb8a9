import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Drawer, Drawings } from '../../src/plugins/public-pages/drawer.ts';
import type { DrawingOrder } from '../../src/shared/drawings.ts';
import { SERVICE } from '../../src/shared/source-names.ts';

/** A thread that draws nothing: it tells how many orders it has had, and ends, or throws, if one says so. */
const CODE = `
  import { parentPort } from 'node:worker_threads';
  let count = 0;
  parentPort.on('message', ({ query }) => {
    if (query === 'end') process.exit();
    if (query === 'full') { const kept = []; for (;;) kept.push(new Array(1e6).fill({}).map(() => ({}))); }
    if (query === 'hang') for (;;);
    if (query === 'throw') throw new Error('thrown');
    count += 1;
    if (query === 'fault') parentPort.postMessage({ error: 'at fault' });
    else parentPort.postMessage({ drawing: { width: count, height: 1, bytes: 'x'.repeat(Number(query) || 1), facts: null, warnings: [] } });
  });
`;

const order = (query: string): DrawingOrder => ({
  form: 'svg',
  query,
  operationName: undefined,
  variables: {},
  body: '{}',
  look: {},
  theme: 'light',
  width: 960,
  isBare: false,
});

const SETTINGS = { isSynthetic: true, sourceNames: new Map(), attribution: SERVICE, maxPixels: 1e6 };

function open(limitMs = 10_000, waitingBytes = 1e6) {
  const folder = mkdtempDisposableSync(join(tmpdir(), 'drawer-'));
  const code = join(folder.path, 'worker.mjs');
  writeFileSync(code, CODE);
  const drawer = new Drawer(code, SETTINGS, { heapMb: 64, waitingBytes, engineFlags: [] }, limitMs);
  return {
    drawer,
    async [Symbol.asyncDispose]() {
      await drawer.close();
      folder.remove();
    },
  };
}

describe('a drawer', () => {
  it('a drawer draws in order, and goes on in another thread if one is lost', async () => {
    await using opened = open();
    const { drawer } = opened;
    const outcomes = await Promise.allSettled(
      ['a', 'fault', 'b', 'end', 'c', 'throw', 'd'].map((query) => drawer.draw(order(query), 'a').drawing),
    );
    const told = outcomes.map((one) => (one.status === 'fulfilled' ? one.value.width : one.reason.message));
    expect(told).toEqual([1, 'at fault', 3, 'The thread that draws pictures has ended.', 1, 'thrown', 1]);
  });

  it('a drawer ends a thread that takes too long, and draws the next in another', async () => {
    await using opened = open(1_500);
    const [hung, next] = await Promise.allSettled(
      ['hang', 'a'].map((one) => opened.drawer.draw(order(one), 'a').drawing),
    );
    expect(hung).toMatchObject({ status: 'rejected', reason: { code: 'OPERATION_TIMEOUT' } });
    expect(next).toMatchObject({ status: 'fulfilled', value: { width: 1 } });
  });

  it('a drawer refuses what has waited for several drawings that took too long, and draws the next', async () => {
    await using opened = open(1_500);
    const outcomes = await Promise.allSettled(
      ['hang', 'hang', 'hang', 'hang', 'a'].map((one) => opened.drawer.draw(order(one), 'a').drawing),
    );
    expect(outcomes.at(0)).toMatchObject({ reason: { code: 'OPERATION_TIMEOUT' } });
    expect(outcomes.at(-1)).toMatchObject({
      reason: { code: 'OVERLOADED', fields: { retryAfterSeconds: 2 } },
    });
    expect(await opened.drawer.draw(order('a'), 'a').drawing).toMatchObject({ width: 1 });
  });

  it('a drawer ends a thread that has no more memory, and refuses what took it', async () => {
    await using opened = open();
    const [full, next] = await Promise.allSettled(
      ['full', 'a'].map((one) => opened.drawer.draw(order(one), 'a').drawing),
    );
    expect(full).toMatchObject({ status: 'rejected', reason: { code: 'BAD_USER_INPUT' } });
    expect(next).toMatchObject({ status: 'fulfilled', value: { width: 1 } });
  });

  it('a drawer draws one picture of each visitor in turn, however many one of them waits for', async () => {
    await using opened = open();
    const { drawer } = opened;
    const done: string[] = [];
    const ask = (visitor: string) =>
      drawer.draw(order('1'), visitor).drawing.then(({ width }) => done.push(`${visitor}${width}`));
    const all = ['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(ask);
    await Promise.all(all);
    expect(done).toEqual(['a1', 'a2', 'b3', 'c4', 'a5', 'b6', 'a7']);
  });

  it('a drawer draws a picture that several wait for by the turn of the first of them', async () => {
    await using opened = open();
    const { drawer } = opened;
    const done: string[] = [];
    const ask = (query: string, visitor: string) => {
      const begun = drawer.draw({ ...order('1'), body: query }, visitor);
      return { ...begun, told: begun.drawing.then(() => done.push(query)) };
    };
    const [, , , last] = ['one', 'two', 'three', 'four'].map((query) => ask(query, 'a'));
    last?.join('b');
    await ask('five', 'a').told;
    expect(done).toEqual(['one', 'two', 'four', 'three', 'five']);
  });

  it('a drawer turns away the 17th order of a visitor, the 65th of all, and answers beyond the bytes that may wait', async () => {
    await using opened = open();
    const { drawer } = opened;
    const refusal = expect.objectContaining({ code: 'OVERLOADED', fields: { retryAfterSeconds: 2 } });
    const drawings: Promise<object>[] = [];
    const ask = (visitor: string, body = '') => {
      drawings.push(drawer.draw({ ...order('1'), body }, visitor).drawing);
    };
    const refused = (visitor: string, body?: string) => {
      try {
        ask(visitor, body);
      } catch (error) {
        return error;
      }
      return null;
    };
    // The first is drawn at once.
    for (let i = 0; i < 17; i += 1) ask('a');
    expect(refused('a')).toEqual(refusal);
    expect(refused('b', 'x'.repeat(1e6 + 1))).toEqual(refusal);
    for (const visitor of ['b', 'c', 'd']) for (let i = 0; i < 16; i += 1) ask(visitor);
    expect(refused('e')).toEqual(refusal);
    expect(await Promise.all(drawings)).toHaveLength(65);
    ask('a', 'x'.repeat(1e7));
    expect((await Promise.all(drawings)).at(-1)).toMatchObject({ width: 66 });
  });
});

describe('drawings', () => {
  it('drawings are made once, kept by their names, and bounded', async () => {
    await using opened = open();
    const drawings = new Drawings(opened.drawer, 1_000_000);
    const [one, same] = await Promise.all([
      drawings.get('a', order('1'), 'a'),
      drawings.get('a', order('1'), 'a'),
    ]);
    expect(same).toBe(one);
    expect(await drawings.get('a', order('1'), 'a')).toBe(one);
    await expect(drawings.get('b', order('fault'), 'a')).rejects.toThrow('at fault');
    expect((await drawings.get('b', order('1'), 'a')).width).toBe(3);
    for (const name of ['c', 'd']) await drawings.get(name, order('600000'), 'a');
    expect((await drawings.get('a', order('1'), 'a')).width).toBe(6);
  });
});
