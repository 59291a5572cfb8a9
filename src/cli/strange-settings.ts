import { settingNamesOf } from '../config/config.ts';
import { plugins } from '../plugins.ts';

const settingNames = settingNamesOf(plugins);

/** First words that nobody but us gives a meaning: a name that begins with one is meant for us. */
const OURS =
  /^(ANSWERS|BATCH|CACHE|CORS|DRAIN|FEDERATED|GRAPHIQL|INTROSPECTION|MAX|RATE|STALE|SUBGRAPH|SUBSCRIPTIONS|TRUSTED|UPSTREAM|WORKERS)_/;

/** Variables by which Kubernetes tells each pod of the services beside it. */
const SERVICE_LINK = /_SERVICE_(HOST|PORT)|_PORT(_\d+_(TCP|UDP).*)?$/;

/** Variables of other programs that are near to ours by a letter, such as `FTP_PROXY`, and ours in lower case. */
const OF_PROXIES = /_proxy$/i;

/** Characters below which names are near to those of other programs. */
const LEAST_LENGTH = 8;
const MAX_EDITS = 2;

/** Characters beyond which a name is nobody's slip. */
const MAX_LENGTH = 60;

/**
 * Tells of variables of the environment that look as if they were settings and are none, and of settings that are
 * empty: both would be passed over in silence. Values are not repeated.
 */
export function strangeSettings(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const empty = settingNames.filter((name) => env[name] === '');
  return [
    ...Object.keys(env).flatMap((name) => {
      const near = looksLikeOurs(name) ? nearest(name) : null;
      return near === null ? [] : [`${name} is no setting, and does nothing: ${near}`];
    }),
    ...empty.map((name) => `${name} is empty, and so counts as unset`),
  ];
}

function looksLikeOurs(name: string): boolean {
  const isOthers = SERVICE_LINK.test(name) || OF_PROXIES.test(name);
  const isKnown = settingNames.includes(name) || name.length > MAX_LENGTH || isOthers;
  return !isKnown && /^[A-Za-z]+(_[A-Za-z0-9]+)+$/.test(name);
}

/** Tells the setting that was meant, in words; null if it is none of ours. */
function nearest(name: string): string | null {
  const upper = name.toUpperCase();
  const longEnough = settingNames.filter((ours) => ours.includes('_') && upper.length >= LEAST_LENGTH);
  const edits = longEnough.map((ours) => editsBetween(upper, ours));
  const apartBy = (count: number) => longEnough.filter((_, i) => edits[i] === count);
  const [meant] = [
    ...apartBy(0),
    ...apartBy(1),
    ...settingNames.filter((ours) => ours.startsWith(`${upper}_`)),
    ...apartBy(MAX_EDITS),
    ...longEnough.filter((ours) => upper.startsWith(`${ours}_`)),
  ];
  if (meant !== undefined) return `did you mean ${meant}?`;
  const [word] = OURS.exec(name) ?? [];
  if (word === undefined) return null;
  const alike = settingNames.filter((ours) => ours.startsWith(word) || `${ours}_` === word);
  return `there is ${alike.join(', ')}`;
}

/**
 * Counts the letters that have to be put in, left out, changed or exchanged with the next one to make the one of the
 * other.
 */
function editsBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > MAX_EDITS) return MAX_EDITS + 1;
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, j) => j);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      const isTurned = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const edits = Math.min(
        (row[j - 1] ?? 0) + 1,
        (last[j] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
      );
      row.push(isTurned ? Math.min(edits, (before[j - 2] ?? 0) + 1) : edits);
    }
    // None that follows from these is less.
    if (Math.min(...row) > MAX_EDITS) return MAX_EDITS + 1;
    before = last;
    last = row;
  }
  return last[other.length] ?? 0;
}
