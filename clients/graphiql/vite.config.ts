import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { defineConfig, type HtmlTagDescriptor, type Plugin } from 'vite';
import { openingMarkup } from './src/opening/markup.ts';
import { outlines } from './src/outlines.ts';

const ROOT = fileURLToPath(new URL('./', import.meta.url));

/** The built pages, as this package brings them. */
const OUT = join(ROOT, 'dist');

/** The folder in which the gateway finds them, and what it draws with. */
export const OF_GATEWAY = join(ROOT, '../../dist/graphiql');

/** The bundled packages with their licences, whose texts most have to be passed on with the code. */
export const LICENCES = { fileName: 'LICENCES.txt' };

/** The outlines of the 54 countries alone, as `virtual:africa`: the world in the same detail is several times larger. */
export function africa(): Plugin {
  const id = 'virtual:africa';
  return {
    name: 'africa',
    resolveId: (source) => (source === id ? `\0${id}` : null),
    load: (resolved) =>
      resolved === `\0${id}` ? `export const africa = ${JSON.stringify(outlines())}` : null,
  };
}

/** GraphiQL's style sheet carries half a megabyte of fonts in it; those of the system do as well. */
function withoutFonts(): Plugin {
  return {
    name: 'without-fonts',
    enforce: 'pre',
    transform(css, id) {
      return /graphiql\/dist\/style\.css/.test(id) ? css.replace(/@font-face\s*\{[^}]*\}/g, '') : null;
    },
  };
}

/** Completion sorts fields by their places as texts, so that the eleventh comes before the second. */
function inOrder(): Plugin {
  return {
    name: 'in-order',
    enforce: 'pre',
    transform(code, id) {
      if (!/getAutocompleteSuggestions\.js/.test(id)) return null;
      const mended = code.replace('String(index) +', "String(index).padStart(4, '0') +");
      if (mended === code) throw new Error(`${id} sorts fields otherwise than it did.`);
      return mended;
    },
  };
}

/** Variables and headers are tidied by the reader of JSON that is there already, not by a parser and a printer of JavaScript. */
function lightTidying(): Plugin {
  return {
    name: 'light-tidying',
    enforce: 'pre',
    transform(code, id) {
      if (!/@graphiql\/react\/dist\/utility\/jsonc\.js/.test(id)) return null;
      const mended = code.replace('import { parse,', 'import { applyEdits, format, parse,').replace(
        /async function formatJSONC\(content\) \{.*?\n\}/s,
        `async function formatJSONC(content) {
            const options = { insertSpaces: true, tabSize: 2, eol: '\\n' };
            return applyEdits(content, format(content, undefined, options));
          }`,
      );
      if (/prettier/.test(mended) || !mended.includes('applyEdits, format'))
        throw new Error(`${id} tidies otherwise than it did.`);
      return mended;
    },
  };
}

/** The builder would show a list as an empty text, and write a text in its place: it has the items, with commas between them. */
function listsInBuilder(): Plugin {
  const replaced: Readonly<Record<string, string>> = {
    '_this3.props.setArgValue(event, true);': `
      const { arg: { type } } = _this3.props;
      const isList = (0, _graphql.isListType)((0, _graphql.getNullableType)(type));
      const itemOf = (text) => coerceArgValue(unwrapInputType(type), text.trim());
      const list = () => ({ kind: 'ListValue', values: event.target.value.split(',').map(itemOf) });
      _this3.props.setArgValue(isList ? list() : event, true);`,
    "var value = typeof argValue.value === 'string' ? argValue.value : '';": `
      const textOf = (one) => typeof one.value === 'string' ? one.value : (0, _graphql.print)(one);
      var value = argValue.kind === 'ListValue' ? argValue.values.map(textOf).join(',') : textOf(argValue);`,
    "argType.name === 'String' ?": "argType.name === 'String' && argValue.kind !== 'ListValue' ?",
  };
  return {
    name: 'lists-in-builder',
    enforce: 'pre',
    transform(code, id) {
      if (!/graphiql-explorer\/dist\/Explorer\.js/.test(id)) return null;
      return Object.entries(replaced).reduce((text, [from, to]) => {
        if (!text.includes(from)) throw new Error(`${id} writes arguments otherwise than it did.`);
        return text.replaceAll(from, () => to);
      }, code);
    },
  };
}

/**
 * Has the page bring the style of the first screen, and ask at once for the scripts that answer its
 * questions and draw: its own script would ask for them after it has come and run, a round trip later. Sheets
 * come after the first screen, which waits for none.
 */
function opening(): Plugin {
  const style = readFileSync(join(ROOT, 'src/opening/opening.css'), 'utf8')
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ');
  return {
    name: 'opening',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const chunkOf = (name: string) => {
          const chunk = Object.values(bundle).find(
            (one) => one.type === 'chunk' && one.facadeModuleId?.endsWith(name),
          );
          if (chunk?.type !== 'chunk') throw new Error(`There is no chunk of ${name}.`);
          return chunk;
        };
        const chunks = ['opening/first-picture.ts', 'main.tsx', 'chart/chart-pane.tsx'].map(chunkOf);
        const files = new Set(chunks.flatMap(({ imports, fileName }) => [...imports, fileName]));
        const picture = chunkOf('opening/first-picture.ts');
        // Leaves the line to files that a picture needs.
        const isForPicture = (file: string) => [picture.fileName, ...picture.imports].includes(file);
        const isNeeded = (fileName: string) => files.has(fileName);
        const sheets = Object.values(bundle).flatMap((one) =>
          one.type === 'chunk' && isNeeded(one.fileName) ? [...(one.viteMetadata?.importedCss ?? [])] : [],
        );
        return {
          html,
          tags: [
            { tag: 'style', children: style, injectTo: 'head' },
            ...[...files]
              .filter((file) => !html.includes(file))
              .map((file) =>
                tag('modulepreload', file, 'head', isForPicture(file) ? {} : { fetchpriority: 'low' }),
              ),
            ...[...new Set(sheets)].map((sheet) => tag('stylesheet', sheet, 'body')),
          ],
        };
      },
    },
  };
}

const tag = (
  rel: string,
  file: string,
  injectTo: 'head' | 'body',
  further: Readonly<Record<string, string>> = {},
): HtmlTagDescriptor => ({
  tag: 'link',
  attrs: { rel, crossorigin: true, href: `./${file}`, ...further },
  injectTo,
});

/** What the gateway's page has in place of parts of the package's: it begins with questions to ask. */
const OURS: Readonly<Record<string, string>> = {
  '<title>GraphiQL</title>':
    '<meta name="description" content="Explore figures of 54 African countries, and what each question costs." />\n    <title>Country Graph</title>',
  '<!--opening-->': openingMarkup(),
  'needs JavaScript.': 'needs JavaScript. <a href="../schema.graphql">The schema</a> does not.',
};

/**
 * Writes the pages for the gateway, where each file that they ask for is compressed, so that nothing is compressed while somebody
 * waits. Browsers take Brotli, so the gateway has no other form of it.
 */
function forGateway(): Plugin {
  return {
    name: 'for-gateway',
    closeBundle() {
      rmSync(join(OF_GATEWAY, 'assets'), { recursive: true, force: true });
      mkdirSync(join(OF_GATEWAY, 'assets'), { recursive: true });
      for (const name of globSync('assets/*', { cwd: OUT }))
        writeFileSync(join(OF_GATEWAY, `${name}.br`), brotliCompressSync(readFileSync(join(OUT, name))));
      cpSync(join(OUT, LICENCES.fileName), join(OF_GATEWAY, LICENCES.fileName));
      const page = Object.entries(OURS).reduce(
        (text, [from, to]) => text.replace(from, () => to),
        readFileSync(join(OUT, 'index.html'), 'utf8'),
      );
      writeFileSync(join(OF_GATEWAY, 'index.html'), page);
    },
  };
}

export default defineConfig({
  root: ROOT,
  // Below any path that a proxy serves them at.
  base: './',
  // Its libraries' directives, which mean nothing in a bundle, fill pages of warnings.
  logLevel: 'error',
  plugins: [africa(), withoutFonts(), inOrder(), listsInBuilder(), lightTidying(), opening(), forGateway()],
  worker: { format: 'es', plugins: () => [inOrder()] },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2022',
    // Allows large chunks: those that load later are large by nature.
    chunkSizeWarningLimit: 6_000,
    assetsInlineLimit: 0,
    license: LICENCES,
  },
});
