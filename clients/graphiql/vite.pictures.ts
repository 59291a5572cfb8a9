import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { africa, LICENCES, OF_GATEWAY } from './vite.config.ts';

const require = createRequire(import.meta.url);

/** The folder in which the gateway finds the code that draws pictures outside a browser. */
const PICTURES = join(OF_GATEWAY, 'pictures');

/** Fonts of pictures that are pixels, under the Open Font License, which comes with them. */
const FONTS = {
  'inter/400Regular/Inter_400Regular.ttf': 'Inter-Regular.ttf',
  'inter/600SemiBold/Inter_600SemiBold.ttf': 'Inter-SemiBold.ttf',
  'inter/LICENSE_FONT': 'Inter-LICENSE.txt',
  ...Object.fromEntries(
    // Scripts of Africa's languages that Inter has no letters of.
    ['Arabic', 'Ethiopic', 'NKo', 'Tifinagh', 'Vai', 'Adlam'].flatMap((script) => [
      [
        `noto-sans-${script.toLowerCase()}/400Regular/NotoSans${script}_400Regular.ttf`,
        `NotoSans${script}-Regular.ttf`,
      ],
      [`noto-sans-${script.toLowerCase()}/LICENSE_FONT`, `NotoSans${script}-LICENSE.txt`],
    ]),
  ),
};

function withFonts(): Plugin {
  return {
    name: 'with-fonts',
    closeBundle() {
      for (const [from, to] of Object.entries(FONTS)) {
        const bytes = readFileSync(require.resolve(`@expo-google-fonts/${from}`));
        if (to.endsWith('.ttf')) writeFileSync(join(PICTURES, `${to}.br`), brotliCompressSync(bytes));
        else writeFileSync(join(PICTURES, to), bytes);
      }
    },
  };
}

const ROOT = fileURLToPath(new URL('./', import.meta.url));

export default defineConfig({
  root: ROOT,
  logLevel: 'error',
  publicDir: false,
  plugins: [africa(), withFonts()],
  ssr: { noExternal: true, external: ['@resvg/resvg-wasm'] },
  build: {
    ssr: true,
    rollupOptions: {
      input: ['picture-worker.ts', 'chart/needed-fields.ts', 'chart/countries.ts'].map(
        (file) => `${ROOT}src/${file}`,
      ),
    },
    outDir: PICTURES,
    emptyOutDir: true,
    target: 'node22',
    minify: true,
    license: LICENCES,
    chunkSizeWarningLimit: 6_000,
  },
});
