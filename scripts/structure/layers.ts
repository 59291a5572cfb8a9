/**
 * Which files may import which. Lazy imports and imports of types count as well. A file of a layer may import its own layer
 * and those before it in the list.
 */
export const LAYERS = [
  'shared',
  'config',
  'cache',
  'keys',
  'service',
  'observations/planner',
  'observations',
  'observations/loaders',
  'graphql/execution',
  'graphql/schema',
  'graphql/resolvers',
  'graphql/cost',
  'graphql/request',
  'graphql/live',
  'plugin',
  'gateway',
  'server',
  'cli',
];

/** The entrance of plugins: they import it, packages and their own folder, and nothing else of `src`. */
export const ENTRANCE = 'src/plugin/index.ts';

const OF_PLUGIN = /^src\/plugins\/[^/]+\//;

/** A package of its own, which bundles what it imports of `src`. */
export const OF_GRAPHIQL = /^clients\/graphiql\//;

/** Modules that browsers use too: they import nothing but each other. */
const OF_BROWSERS = /^src\/shared\/(cells|citations|decimals|drawings|periods|plain-text|source-names)\.ts$/;

/** Files that may import less than their layer allows. The first row that matches a file counts. */
const KNOW_LESS: readonly (readonly [files: RegExp, targets: RegExp])[] = [
  [/^src\/sandbox\//, /^src\/sandbox\//],
  [OF_GRAPHIQL, new RegExp(`${OF_GRAPHIQL.source}|${OF_BROWSERS.source}`)],
  [OF_BROWSERS, /^src\/shared\/source-names\.ts$/],
  [/^src\/shared\/async\//, /^src\/shared\/async\//],
  [/^src\/graphql\/execution\//, /^src\/(graphql\/execution|shared\/async)\//],
  [/^src\/graphql\/request\/answer-tables\.ts$/, /^src\/shared\//],
];

/** Packages that only a layer and those after it, or plugins, may import. */
const PACKAGES: readonly (readonly [packages: RegExp, files: RegExp])[] = [
  [
    /^(graphql|@graphql-tools|@apollo)(\/|$)/,
    /^(clients|src)\/(?!(shared|config|cache|keys|service|observations\/planner)\/)/,
  ],
  [/^(fastify|@fastify)(\/|$)/, /^src\/(server|cli|plugin|plugins)\//],
];

/** The index of a file's layer, from the lowest; -1 for a file in none. */
export const layerOf = (path: string) =>
  LAYERS.reduce(
    (found, layer, i) =>
      path.startsWith(`src/${layer}/`) && (found < 0 || layer.length > (LAYERS[found] ?? '').length)
        ? i
        : found,
    -1,
  );

/** @param target path of a file, or the name of a package */
export function mayImport(file: string, target: string): boolean {
  if (!/^(clients|src)\//.test(target))
    return PACKAGES.every(([packages, files]) => !packages.test(target) || files.test(file));
  const [own] = OF_PLUGIN.exec(file) ?? [];
  if (own !== undefined) return target === ENTRANCE || target.startsWith(own);
  const bounded = KNOW_LESS.find(([files]) => files.test(file));
  if (bounded !== undefined) return bounded[1].test(target);
  if (target.startsWith('src/sandbox/')) return file.startsWith('src/cli/');
  if (OF_GRAPHIQL.test(target)) return false;
  const from = layerOf(file);
  const to = layerOf(target);
  // Who may import plugins and their list is checked by `measure.ts`.
  if (from < 0 || to < 0) return true;
  return to <= from;
}
