import { LAYERS, layerOf } from './layers.ts';

interface Importing {
  readonly name: string;
  readonly imports: readonly { readonly target: string }[];
}

/**
 * Draws the layers, the highest first, and each plugin beside the highest layer that it imports from.
 * @param files all files of the core, with their lazy imports and types
 */
export function pictureOf(files: readonly Importing[]): string {
  const highest = new Map<string, number>();
  for (const { name, imports } of files) {
    const [, plugin] = /^src\/plugins\/([^/]+)\//.exec(name) ?? [];
    if (plugin === undefined) continue;
    const reached = imports.map(({ target }) => layerOf(target));
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
