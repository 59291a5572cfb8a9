import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('a young collection frees what an operation has made', async () => {
  const script = fileURLToPath(new URL('let-go.ts', import.meta.url));
  const flags = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, script]);
  // A getter in an object literal of its batch held 25.
  expect(JSON.parse(stdout)).toBeLessThan(5);
});
