import { GATEWAY } from './addresses.ts';
import { offerLive } from './live-status.ts';
import { setTrusted, type TrustedDocument } from './trusted.ts';

/** What the server tells the page about itself. */
export interface Settings {
  /** Demo keys of the embedded sandbox by name; null where the figures are real. */
  readonly demoKeys: Readonly<Record<string, string>> | null;
  /** The only operations that may run; null where any may. */
  readonly trusted: readonly TrustedDocument[] | null;
}

export const ENDPOINT = `${GATEWAY}graphql`;

export async function loadSettings(): Promise<Settings> {
  const { demoKeys, isTrustedOnly, isLive } = (await load('settings')) as Pick<Settings, 'demoKeys'> & {
    readonly isTrustedOnly: boolean;
    readonly isLive: boolean;
  };
  offerLive(isLive);
  if (!isTrustedOnly) return { demoKeys, trusted: null };
  const trusted = (await load('documents')) as readonly TrustedDocument[];
  setTrusted(trusted);
  return { demoKeys, trusted };
}

async function load(name: string): Promise<unknown> {
  const response = await fetch(`${GATEWAY}graphiql/${name}.json`);
  if (!response.ok) throw new Error(`The gateway answered ${response.status}.`);
  return response.json();
}

/** The key to begin with: one that the lessons don't spend. That of the free plan has five calls a minute. */
export function starterKey({ demoKeys }: Settings): string | undefined {
  return demoKeys?.team ?? Object.values(demoKeys ?? {})[0];
}
