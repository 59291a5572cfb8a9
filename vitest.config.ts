import { defineConfig } from 'vitest/config';

export default defineConfig({
  // The edition that Node finds, and the libraries with it: two editions of one schema's classes work with neither.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    testTimeout: 15_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    // Published as TypeScript.
    server: { deps: { inline: [/federation-subgraph-compatibility-tests/] } },
  },
});
