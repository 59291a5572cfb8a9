import { LAYERS, layerOf } from './layers.ts';

/** The contract, which every plugin imports. */
const CONTRACT = 'src/gateway/plugin.ts';

interface Importing {
  readonly name: string;
  readonly imports: readonly { readonly target: string }[];
}

/**
 * Draws the stair of layers, the highest first, and each plugin beside the highest layer that it imports something of.
 * @param files all of the core, lazy imports and types with them
 */
export function pictureOf(files: readonly Importing[]): string {
  const highest = new Map<string, number>();
  for (const { name, imports } of files) {
    const [, plugin] = /^src\/plugins\/([^/]+)\//.exec(name) ?? [];
    if (plugin === undefined) continue;
    const reached = imports.filter(({ target }) => target !== CONTRACT).map(({ target }) => layerOf(target));
    highest.set(plugin, Math.max(highest.get(plugin) ?? 0, ...reached));
  }
  const width = Math.max(...LAYERS.map((layer, i) => layer.length + LAYERS.length - 1 - i));
  return LAYERS.map((layer, i) => {
    const beside = [...highest].filter(([, at]) => at === i).map(([plugin]) => plugin);
    const step = `${' '.repeat(LAYERS.length - 1 - i)}${layer}`;
    return beside.length === 0 ? step : `${step.padEnd(width)}  ◂ ${beside.sort().join(' · ')}`;
  })
    .reverse()
    .join('\n');
}
