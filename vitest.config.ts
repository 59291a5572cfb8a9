import { defineConfig } from 'vitest/config';

export default defineConfig({
  // As Node finds packages: `graphql` in two editions at once, one by `module` and one by `main`, works with neither.
  resolve: { mainFields: ['main'] },
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    testTimeout: 15_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
  },
});
