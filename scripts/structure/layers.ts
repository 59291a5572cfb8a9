/**
 * Which files may import which, lazily and as types too, by the paths that imports lead to. A file of a layer may
 * import its own layer and those before it.
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
  'gateway',
  'server',
  'cli',
];

/** Files that know less than their layer would let them. The first row that has a file counts. */
const KNOW_LESS: readonly (readonly [files: RegExp, targets: RegExp])[] = [
  [/^src\/sandbox\//, /^src\/sandbox\//],
  // Draws outside a browser.
  [/^src\/graphiql\/picture-worker\.ts$/, /^src\/(graphiql|shared)\//],
  [/^src\/graphiql\//, /^src\/(graphiql\/|shared\/(cells|citations|drawings|periods|source-names)\.ts$)/],
  // Browsers use these.
  [/^src\/shared\/(cells|citations|drawings|periods|source-names)\.ts$/, /^src\/shared\/source-names\.ts$/],
  [/^src\/shared\/async\//, /^src\/shared\/async\//],
  [/^src\/graphql\/execution\//, /^src\/(graphql\/execution|shared\/async)\//],
  [/^src\/graphql\/request\/answer-tables\.ts$/, /^src\/shared\//],
];

/** Packages that belong to a layer and those after it, or to plugins. */
const PACKAGES: readonly (readonly [packages: RegExp, files: RegExp])[] = [
  [
    /^(graphql|@graphql-tools|@apollo)(\/|$)/,
    /^src\/(?!(shared|config|cache|keys|service|observations\/planner)\/)/,
  ],
  [/^(fastify|@fastify)(\/|$)/, /^src\/(server|cli|plugins)\/|^src\/gateway\/plugin\.ts$/],
];

/** The place of a file's layer in the stair, from below; -1 for a file of none. */
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
  if (!target.startsWith('src/'))
    return PACKAGES.every(([packages, files]) => !packages.test(target) || files.test(file));
  const bounded = KNOW_LESS.find(([files]) => files.test(file));
  if (bounded !== undefined) return bounded[1].test(target);
  if (/^src\/(sandbox|graphiql)\//.test(target)) return file.startsWith('src/cli/') && /sandbox/.test(target);
  const from = layerOf(file);
  const to = layerOf(target);
  // Plugins, and their list: who may import them is counted by itself.
  if (from < 0 || to < 0) return true;
  // The contract of plugins has types of the server in it, which wraps their routes.
  return to <= from || (file === 'src/gateway/plugin.ts' && target.startsWith('src/server/'));
}
