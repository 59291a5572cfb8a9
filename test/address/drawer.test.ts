import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Drawer, type DrawingOrder, Drawings } from '../../src/wings/address/drawer.ts';

/** A thread that draws nothing: it tells how many orders it has had, and ends, or throws, if one says so. */
const CODE = `
  import { parentPort } from 'node:worker_threads';
  let count = 0;
  parentPort.on('message', ({ query }) => {
    if (query === 'end') process.exit();
    if (query === 'hang') for (;;);
    if (query === 'throw') throw new Error('thrown');
    count += 1;
    if (query === 'fault') parentPort.postMessage({ fault: 'at fault' });
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

function open(limitMs = 10_000) {
  const folder = mkdtempDisposableSync(join(tmpdir(), 'drawer-'));
  const code = join(folder.path, 'worker.mjs');
  writeFileSync(code, CODE);
  const drawer = new Drawer(code, { isSynthetic: true, sourceNames: {} }, limitMs);
  return {
    drawer,
    async [Symbol.asyncDispose]() {
      await drawer.close();
      folder.remove();
    },
  };
}

describe('a drawer', () => {
  it('draws in order, and goes on in another thread if one is lost', async () => {
    await using opened = open();
    const { drawer } = opened;
    const outcomes = await Promise.allSettled(
      ['a', 'fault', 'b', 'end', 'c', 'throw', 'd'].map((query) => drawer.draw(order(query))),
    );
    const told = outcomes.map((one) => (one.status === 'fulfilled' ? one.value.width : one.reason.message));
    expect(told).toEqual([1, 'at fault', 3, 'The thread that draws pictures has ended.', 1, 'thrown', 1]);
  });

  it('ends a thread that takes too long, and draws the next in another', async () => {
    await using opened = open(1_500);
    const [hung, next] = await Promise.allSettled(['hang', 'a'].map((one) => opened.drawer.draw(order(one))));
    expect(hung).toMatchObject({ status: 'rejected', reason: { code: 'OPERATION_TIMEOUT' } });
    expect(next).toMatchObject({ status: 'fulfilled', value: { width: 1 } });
  });

  it('turns orders away that would be the 65th to wait', async () => {
    await using opened = open();
    const orders = Array.from({ length: 65 }, () => opened.drawer.draw(order('a')));
    expect(() => opened.drawer.draw(order('a'))).toThrow('Too many pictures wait');
    expect(await Promise.all(orders)).toHaveLength(65);
    expect((await opened.drawer.draw(order('a'))).width).toBe(66);
  });
});

describe('drawings', () => {
  it('are made once, kept by their names, and bounded', async () => {
    await using opened = open();
    const drawings = new Drawings(opened.drawer, 1_000_000);
    const [one, same] = await Promise.all([drawings.get('a', order('1')), drawings.get('a', order('1'))]);
    expect(same).toBe(one);
    expect(await drawings.get('a', order('1'))).toBe(one);
    await expect(drawings.get('b', order('fault'))).rejects.toThrow('at fault');
    expect((await drawings.get('b', order('1'))).width).toBe(3);
    for (const name of ['c', 'd']) await drawings.get(name, order('600000'));
    expect((await drawings.get('a', order('1'))).width).toBe(6);
  });
});
