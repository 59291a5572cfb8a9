import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

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
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // Published as TypeScript.
    server: { deps: { inline: [/federation-subgraph-compatibility-tests/] } },
  },
});
