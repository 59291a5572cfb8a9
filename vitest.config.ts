import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { ALONE, PROGRAMS } from './test/suites.ts';

const ALL = 'test/**/*.test.ts';

/**
 * Routers and composers have a lock of their own; if they are not installed, their suites are left out, but
 * never in CI.
 */
const FEDERATION = 'test/federation/*.test.ts';
const hasRouters = process.env.CI === 'true' || existsSync('test/federation/node_modules');
if (!hasRouters) console.warn('Left out: test/federation, whose routers `npm run federation` installs.');
/** As are DuckDB and Polars, which are large, and checkers. */
const READERS = 'test/readers/*.test.ts';
const hasReaders = process.env.CI === 'true' || existsSync('test/readers/node_modules');
if (!hasReaders) console.warn('Left out: test/readers, which `npm run readers` installs.');
const OTHERS = [...(hasRouters ? [FEDERATION] : []), ...(hasReaders ? [READERS] : [])];

/** As long as a busy machine may take, and less than a test has, so that its failure says what it has waited for. */
const PATIENCE_MS = 45_000;

/** Polls often, since a look costs next to nothing: not so a look that asks a browser or another program. */
const QUICK = { poll: { timeout: PATIENCE_MS, interval: 5 } };

export default defineConfig({
  // The generation that Node finds, and the libraries with it: two generations of one schema's classes work with neither.
  resolve: {
    alias: [
      { find: /^graphql$/, replacement: 'graphql/index.js' },
      // The published cases of Federation ask through a client of ours.
      {
        find: '../utils/client',
        replacement: fileURLToPath(new URL('test/federation/case-client.ts', import.meta.url)),
      },
    ],
  },
  test: {
    environment: 'node',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Quick results are seen at once all the same.
    expect: { poll: { timeout: PATIENCE_MS } },
    // Tests that do little but wait run beside each other, if they say so.
    maxConcurrency: 10,
    // On two processors. `npm test` has three: many of its tests wait.
    maxWorkers: 2,
    // To load the program takes a second: most suites share a few processes. They come last and are short, so that neither
    // processor waits for the other at the end.
    projects: [
      { extends: true, test: { name: 'others', include: OTHERS } },
      { extends: true, test: { name: 'programs', include: PROGRAMS, isolate: false } },
      { extends: true, test: { name: 'alone', include: ALONE, expect: QUICK } },
      {
        extends: true,
        test: {
          name: 'together',
          expect: QUICK,
          include: [ALL],
          exclude: [...ALONE, ...PROGRAMS, FEDERATION, READERS, '**/node_modules/**'],
          isolate: false,
        },
      },
    ],
    // Published as TypeScript.
    server: { deps: { inline: [/federation-subgraph-compatibility-tests/] } },
  },
});
