/**
 * `npm run build`: writes documents and types of the operations by the compilers of Relay and gql.tada, and
 * the pages, one for each library, and one of live figures by the code of docs/live.md. Everything that is made
 * lies in `generated`, `dist` and `relay/__generated__`, which are not kept.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@babel/core';
import {
  type DefinitionNode,
  type DirectiveDefinitionNode,
  type DirectiveNode,
  type DocumentNode,
  Kind,
  parse,
  print,
  visit,
} from 'graphql';
import { build, type Plugin } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

for (const folder of ['generated/live', 'generated/msw', 'relay/__generated__'])
  mkdirSync(here(folder), { recursive: true });
writeFileSync(here('generated/schema.graphql'), schemaForClients());
for (const [name, text] of liveCode()) writeFileSync(here(`generated/live/${name}.ts`), text);
writeFileSync(here('generated/msw/handlers.ts'), mswHandlers());
for (const [program, ...args] of [
  ['relay-compiler', 'relay.config.json'],
  ['gql.tada', 'generate-output', '--disable-preprocessing'],
] as const)
  execFileSync(here(`node_modules/.bin/${program}`), args, { cwd: here('.'), stdio: ['ignore', 2, 2] });

await build({
  root: here('.'),
  base: './',
  configFile: false,
  logLevel: 'error',
  resolve: {
    alias: [
      { find: /^@country-graph\/client$/, replacement: here('../client/src/index.ts') },
      { find: /^@country-graph\/client\/(.+)$/, replacement: `${here('../client/src')}/$1.ts` },
    ],
  },
  plugins: [relayDocuments()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    rollupOptions: {
      input: globSync('*/index.html', { cwd: here('.'), exclude: ['dist/**', 'node_modules/**'] }).map(here),
    },
  },
});

copyFileSync(here('node_modules/msw/lib/mockServiceWorker.js'), here('dist/msw/mockServiceWorker.js'));

/** The code of docs/live.md, for a gateway at an address of the page's. */
function liveCode(): [name: string, text: string][] {
  const sections = readFileSync(here('../../docs/live.md'), 'utf8').split(/^## /m);
  const codeOf = (heading: string) => {
    const section = sections.find((one) => one.startsWith(`${heading}\n`)) ?? '';
    const code = /^```ts\n([\s\S]*?)^```$/m.exec(section)?.[1];
    if (code === undefined) throw new Error(`docs/live.md has no code under "${heading}".`);
    return code;
  };
  const clientOf = (heading: string) =>
    [
      "import { GATEWAY, HEADERS } from '../../common/settings.ts';\n",
      "const key = HEADERS.authorization.replace('Bearer ', '');\n",
      codeOf(heading)
        .replaceAll(/'https(:\/\/gateway\.example\/graphql)(.*?)'/g, "GATEWAY + '$2'")
        .replaceAll(/'wss:\/\/gateway\.example\/graphql'/g, "GATEWAY.replace(/^http/, 'ws')"),
      'export { client };\n',
    ].join('');
  return [
    ['on-event', codeOf('Updating a page').replace(/^type Event/m, 'export type Event')],
    ['apollo', clientOf('Apollo Client')],
    ['urql', clientOf('urql')],
  ];
}

/** The handlers of docs/offline.md, for the same. */
function mswHandlers(): string {
  const document = readFileSync(here('../../docs/offline.md'), 'utf8');
  const [, code] = /^\*\*`handlers\.ts`\*\*\n\n```ts\n([\s\S]*?)^```$/m.exec(document) ?? [];
  if (code === undefined) throw new Error('docs/offline.md has no handlers.');
  const own = /^const GATEWAY = .*$/m;
  if (!own.test(code)) throw new Error('The handlers of docs/offline.md have no address.');
  return `import { GATEWAY } from '../../common/settings.ts';\n${code.replace(own, '')}`;
}

/**
 * The graph as clients see it: without directives, which concern routers and this gateway alone, save the one
 * by which Relay's compiler knows the fields that are null only with an error.
 */
function schemaForClients(): string {
  const parts = ['../../schema/*.graphql', '../../src/plugins/subscriptions/*.graphql'];
  const files = parts.flatMap((pattern) => globSync(here(pattern)).sort());
  const document = parse(files.map((file) => readFileSync(file, 'utf8')).join('\n'));
  const isKept = ({ name }: DirectiveNode | DirectiveDefinitionNode) => name.value === 'semanticNonNull';
  const bare: DocumentNode = visit(document, {
    SchemaExtension: () => null,
    DirectiveDefinition: (node) => (isKept(node) ? undefined : null),
    Directive: (node) => (isKept(node) ? undefined : null),
  });
  return print({ ...bare, definitions: withExtensions(bare.definitions) });
}

/** Types with the fields that extensions add to them, since Relay's compiler takes extensions for those of a client. */
function withExtensions(definitions: readonly DefinitionNode[]): readonly DefinitionNode[] {
  const added = definitions.filter((one) => one.kind === Kind.OBJECT_TYPE_EXTENSION);
  return definitions
    .filter(({ kind }) => kind !== Kind.OBJECT_TYPE_EXTENSION)
    .map((type) => {
      if (type.kind !== Kind.OBJECT_TYPE_DEFINITION) return type;
      const further = added
        .filter(({ name }) => name.value === type.name.value)
        .flatMap(({ fields = [] }) => fields);
      return { ...type, fields: [...(type.fields ?? []), ...further] };
    });
}

/** Puts the document that Relay's compiler has made of an operation in its place. */
function relayDocuments(): Plugin {
  return {
    name: 'relay-documents',
    enforce: 'pre',
    transform(code, id) {
      if (!id.includes('/relay/') || !code.includes('graphql`')) return null;
      const made = transformSync(code, {
        filename: id,
        babelrc: false,
        configFile: false,
        sourceMaps: true,
        parserOpts: { plugins: ['typescript', 'jsx'] },
        plugins: [['relay', { eagerEsModules: true, artifactDirectory: here('relay/__generated__') }]],
      });
      return made?.code == null ? null : { code: made.code, map: made.map ?? null };
    },
  };
}
