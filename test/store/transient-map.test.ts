import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { TransientMap } from '../../src/cache/lru.ts';

it('a transient map has what was put there last', () => {
  const map = new TransientMap<number>();
  expect(map.get('a')).toBeUndefined();
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  expect([map.get('a'), map.get('b')]).toEqual([3, 2]);
  map.delete('a');
  map.delete('c');
  expect([map.get('a'), map.get('b')]).toEqual([undefined, 2]);
});

it('a transient map lets go of what is deleted, where a plain map leaves it to a full collection', async () => {
  const script = fileURLToPath(new URL('left-behind.ts', import.meta.url));
  const flags = ['--expose-gc', '--no-allocation-site-pretenuring'];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, script]);
  const [plain, transient] = JSON.parse(stdout);
  expect(plain).toBeGreaterThan(2);
  expect(transient).toBeLessThan(1);
});
