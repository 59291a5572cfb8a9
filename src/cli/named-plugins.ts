import { stat } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { itemsOf, ownSettingNames, settingNamesOf } from '../config/config.ts';
import { CONTRACT, type PluginDefinition } from '../plugin/definition.ts';
import { messageOf } from '../shared/errors.ts';

/** The plugins of the program, the outermost first. */
export interface ProgramPlugins {
  readonly plugins: readonly PluginDefinition[];
  /** The specifiers of those that `PLUGINS` names, by their names. */
  readonly named: ReadonlyMap<string, string>;
  /** Why some of those are not among them, a line each. */
  readonly errors: readonly string[];
}

/**
 * Puts the plugins that `PLUGINS` names around those of the program: files by `./`, `../` or `/`, and packages as the
 * folder that the program runs in has them installed. A plugin has all rights of the process, and sees keys.
 */
export async function withNamedPlugins(
  list: string | undefined,
  shipped: readonly PluginDefinition[],
): Promise<ProgramPlugins> {
  const errors: string[] = [];
  const named = new Map<string, string>();
  const added: PluginDefinition[] = [];
  for (const specifier of new Set(itemsOf(list ?? ''))) {
    const refuse = (why: string) => errors.push(`PLUGINS: ${specifier} ${why}`);
    try {
      const definitions = await loaded(specifier);
      if (definitions.length === 0) refuse('exports no plugin that definePlugin has made');
      for (const definition of definitions) {
        const reason = clashWith([...shipped, ...added], definition);
        if (reason === null) {
          added.push(definition);
          named.set(definition.name, specifier);
        } else refuse(reason);
      }
    } catch (error) {
      refuse(`can't be loaded: ${messageOf(error)}`);
    }
  }
  return { plugins: [...added, ...shipped], named, errors };
}

/** @throws Error if there is no such module, it fails, or others than the operator may have written it */
async function loaded(specifier: string): Promise<readonly PluginDefinition[]> {
  const { resolve } = await import('import-meta-resolve');
  const url = resolve(specifier, pathToFileURL(`${process.cwd()}/`).href);
  if (await isOpenToAll(fileURLToPath(url)))
    throw new Error('anybody on this machine may write it (chmod o-w)');
  const exported = (await import(url)) as Readonly<Record<string, unknown>>;
  return [...new Set(Object.values(exported).flat())].filter(isDefinition);
}

const OTHERS_WRITE = 0o002;

async function isOpenToAll(file: string): Promise<boolean> {
  // Windows has no such bits.
  if (process.platform === 'win32') return false;
  return ((await stat(file)).mode & OTHERS_WRITE) !== 0;
}

function isDefinition(value: unknown): value is PluginDefinition {
  return typeof value === 'object' && value !== null && 'contract' in value && 'open' in value;
}

/** Says why a plugin can't be among others; null if it can. */
function clashWith(others: readonly PluginDefinition[], one: PluginDefinition): string | null {
  const { contract, name } = one;
  if (contract !== CONTRACT)
    return `is made for version ${String(contract)} of the contract of plugins, and this program keeps to version ${CONTRACT}: install its version of country-graph beside it`;
  if (others.some((other) => other.name === name))
    return `has a plugin named ${name}, as the program or another of them has`;
  const taken = new Set(settingNamesOf(others));
  const setting = ownSettingNames(one).find((own) => taken.has(own));
  return setting === undefined ? null : `has a setting named ${setting}, which there is already`;
}
