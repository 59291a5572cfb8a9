import type { NamedSource } from '../../../src/shared/source-names.ts';
import type { Settings as OfAnother } from '../index.js';
import { GATEWAY, PAGE } from './addresses.ts';
import { apiKey, keepKey } from './api-key.ts';
import { setEndpoint } from './endpoint.ts';
import { offerLive } from './live-status.ts';
import { setAttribution, setSourceNames } from './source-names.ts';
import { pageUrlOf, setPages, setPublicDocuments, setTrusted, type TrustedDocument } from './trusted.ts';

/** Facts that the gateway tells the page about itself. */
export interface Settings {
  /** Demo keys of the embedded sandbox by name; null if the figures are real. */
  readonly demoKeys: Readonly<Record<string, string>> | null;
  /** True if operations may ask to be answered from what is cached alone. */
  readonly hasOffline: boolean;
  /** The only operations that may run; null if any may. */
  readonly trusted: readonly TrustedDocument[] | null;
}

let loaded: Promise<Settings> | undefined;

/** Loads the settings, once a page. */
export function loadSettings(): Promise<Settings> {
  loaded ??= loadedSettings();
  return loaded;
}

async function loadedSettings(): Promise<Settings> {
  const told = await load('settings');
  if (isOfAnother(told)) {
    const { endpoint, title = 'GraphiQL', explains = false } = told;
    setEndpoint({ url: new URL(endpoint, PAGE).href, title, explains, isOurs: false });
    document.title = title;
    return { demoKeys: null, hasOffline: false, trusted: null };
  }
  const settings = told as Pick<Settings, 'demoKeys' | 'hasOffline'> & {
    readonly isTrustedOnly: boolean;
    readonly isLive: boolean;
    readonly sourceNames: Readonly<Record<string, NamedSource>>;
    readonly attribution: NamedSource;
    readonly publicUrl: string | null;
    readonly canPublish: boolean;
    readonly publicDocuments: readonly {
      readonly name: string;
      readonly title: string;
      readonly text: string;
    }[];
  };
  const { demoKeys, isTrustedOnly, isLive, hasOffline, publicUrl } = settings;
  setPages({ base: publicUrl === null ? GATEWAY : `${publicUrl}/`, isOpen: settings.canPublish });
  setPublicDocuments(settings.publicDocuments.map(({ name, ...one }) => ({ ...one, url: pageUrlOf(name) })));
  setAttribution(settings.attribution);
  setSourceNames(new Map(Object.entries(settings.sourceNames)));
  offerLive(isLive);
  if (!isTrustedOnly) return { demoKeys, hasOffline, trusted: null };
  const trusted = (await load('documents')) as readonly TrustedDocument[];
  setTrusted(trusted);
  return { demoKeys, hasOffline, trusted };
}

const isOfAnother = (told: unknown): told is OfAnother => Object.hasOwn(told as object, 'endpoint');

async function load(name: string): Promise<unknown> {
  const response = await fetch(`${PAGE}${name}.json`);
  if (!response.ok) throw new Error(`The gateway answered ${response.status}.`);
  return response.json();
}

/**
 * Begins with a key, if nobody has given one: with one that the lessons don't spend. The key of the free plan
 * has five calls a minute.
 */
export function beginWithKey({ demoKeys }: Settings): void {
  const key = demoKeys?.team ?? Object.values(demoKeys ?? {})[0];
  if (apiKey.get() === '' && key !== undefined) keepKey(key, false);
}
