import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { LESSONS } from './src/tabs.ts';
import { OF_GATEWAY } from './vite.config.ts';

/** Documents of the tour that have a page of their own over the sandbox, by the names of their pages. */
const SAMPLES = { 'life-expectancy': 'Over time', 'life-expectancy-map': 'Map', population: 'Provenance' };

function samples(): Plugin {
  return {
    name: 'samples',
    generateBundle() {
      const texts = Object.entries(SAMPLES).map(([name, lesson]) => {
        const match = LESSONS.find((one) => one.name === lesson);
        if (match === undefined) throw new Error(`There is no lesson ${lesson}.`);
        return [name, match.query];
      });
      this.emitFile({
        type: 'asset',
        fileName: 'samples.json',
        source: JSON.stringify(Object.fromEntries(texts)),
      });
    },
  };
}

/** Builds the script of the pages of public documents: one text, without modules, that a page has in it. */
export default defineConfig({
  root: fileURLToPath(new URL('./', import.meta.url)),
  logLevel: 'error',
  publicDir: false,
  plugins: [samples()],
  build: {
    outDir: join(OF_GATEWAY, 'pages'),
    emptyOutDir: true,
    target: 'es2022',
    lib: { entry: 'src/page-script.ts', formats: ['iife'], name: 'page', fileName: () => 'page-script.js' },
  },
});
