import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { OUT } from './vite.config.ts';

/** Builds the script of the pages of public documents: one text, without modules, that a page has in it. */
export default defineConfig({
  root: fileURLToPath(new URL('./', import.meta.url)),
  logLevel: 'error',
  build: {
    outDir: join(OUT, 'pages'),
    emptyOutDir: true,
    target: 'es2022',
    lib: { entry: 'page-script.ts', formats: ['iife'], name: 'page', fileName: () => 'page-script.js' },
  },
});
