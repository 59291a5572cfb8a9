import { type Config, readConfig, settingNamesOf } from '../config/config.ts';
import { remarksOnSettings } from '../config/remarks.ts';
import type { PluginDefinition } from '../plugin/definition.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings of a command, which are those of `serve`.
 * @param warn told of settings that may not do what was meant
 * @throws ConfigError naming every setting that is wrong
 */
export function settingsOf(
  env: Env,
  owners: readonly PluginDefinition[],
  warn: (words: string) => void,
): Config {
  const config = readConfig(env, owners);
  for (const words of [...strangeSettings(env, owners), ...remarksOf(owners, env, config)]) warn(words);
  return config;
}

/** First words of names that no other program uses. */
const OURS =
  /^(ANSWERS|BATCH|CACHE|CORS|DRAIN|FEDERATED|GRAPHIQL|INTROSPECTION|MAX|RATE|STALE|SUBGRAPH|SUBSCRIPTIONS|TRUSTED|UPSTREAM|WORKERS)_/;

/** Variables that Kubernetes sets in each pod for the services beside it. */
const SERVICE_LINK = /_SERVICE_(HOST|PORT)|_PORT(_\d+_(TCP|UDP).*)?$/;

/** Variables of other programs that are one letter off ours, such as `FTP_PROXY`, and ours in lower case. */
const OF_PROXIES = /_proxy$/i;

/** Shorter names may be near to those of other programs by chance. */
const LEAST_LENGTH = 8;
const MAX_LETTERS = 2;

const MAX_LENGTH = 60;

/**
 * Lists variables of the environment that look like settings but are none, and settings that are empty, which would be
 * ignored in silence. Values are not repeated.
 */
export function strangeSettings(env: Env, owners: readonly PluginDefinition[]): readonly string[] {
  const settingNames = settingNamesOf(owners);
  const empty = settingNames.filter((name) => env[name] === '');
  return [
    ...Object.keys(env).flatMap((name) => {
      const suggestion = looksLikeOurs(name, settingNames) ? nearest(name, settingNames) : null;
      return suggestion === null ? [] : [`${name} is no setting, and does nothing: ${suggestion}`];
    }),
    ...empty.map((name) => `${name} is empty, and so counts as unset`),
  ];
}

function looksLikeOurs(name: string, settingNames: readonly string[]): boolean {
  const isOfOthers = SERVICE_LINK.test(name) || OF_PROXIES.test(name);
  const isKnown = settingNames.includes(name) || name.length > MAX_LENGTH || isOfOthers;
  return !isKnown && /^[A-Za-z]+(_[A-Za-z0-9]+)+$/.test(name);
}

/** Suggests the setting that was meant; null if the name is none of ours. */
function nearest(name: string, settingNames: readonly string[]): string | null {
  const upper = name.toUpperCase();
  const longEnough = settingNames.filter((ours) => ours.includes('_') && upper.length >= LEAST_LENGTH);
  const [meant] = [
    ...longEnough.filter((ours) => ours === upper),
    ...longEnough.filter((ours) => lettersApart(upper, ours) === 1),
    ...settingNames.filter((ours) => ours.startsWith(`${upper}_`)),
    ...longEnough.filter((ours) => lettersApart(upper, ours) <= MAX_LETTERS),
    ...longEnough.filter((ours) => upper.startsWith(`${ours}_`)),
  ];
  if (meant !== undefined) return `did you mean ${meant}?`;
  const [word] = OURS.exec(name) ?? [];
  if (word === undefined) return null;
  const alike = settingNames.filter((ours) => ours.startsWith(word) || `${ours}_` === word);
  return `there is ${alike.join(', ')}`;
}

/** Counts the letters of the longer name between the common beginning and the common end. */
function lettersApart(one: string, other: string): number {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one];
  let same = 0;
  while (same < shorter.length && shorter[same] === longer[same]) same += 1;
  let sameEnd = 0;
  while (sameEnd < shorter.length - same && shorter.at(-1 - sameEnd) === longer.at(-1 - sameEnd))
    sameEnd += 1;
  return longer.length - same - sameEnd;
}

export function remarksOf(owners: readonly PluginDefinition[], env: Env, config: Config): readonly string[] {
  const { cacheUrl } = config;
  const ofPlugins = owners.flatMap(
    ({ name, remarks }) => remarks?.(config.plugins[name] as never, env, { cacheUrl }) ?? [],
  );
  return [...remarksOnSettings(env, config), ...ofPlugins];
}
