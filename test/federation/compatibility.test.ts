import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { addresses } from './case-client.ts';
import { CASES, startProducts } from './products.ts';

/**
 * Published cases for features that our subgraph uses, and for those that others may use on our types. Left
 * out: `composeDirective`, which we have no use for, and `ftv1`, which asks the server, and that is another
 * here than ours: see `requests.test.ts`.
 */
const USED = [
  'introspection',
  'key',
  'link',
  'shareable',
  'tag',
  'requires',
  'provides',
  'override',
  'inaccessible',
  'interfaceObject',
];

const products = await startProducts();
afterAll(() => products.stop());

// The cases are written for another runner, which has these without an import.
Object.assign(globalThis, { describe, it, test, expect, beforeAll });
Object.assign(addresses, { products: products.url, router: products.routerUrl });

for (const name of USED) await import(join(CASES, `src/tests/${name}.test.ts`));
