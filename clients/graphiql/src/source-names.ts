import {
  type NamedSource,
  nameAndPage,
  SERVICE,
  type SourceNames,
} from '../../../src/shared/source-names.ts';

/** As the operator of the gateway gives them, and as the gateway has cached them of the service, which go first. */
let given: SourceNames = new Map();
let cached: SourceNames = new Map();
let names: SourceNames = new Map();
let service = SERVICE;
const listeners = new Set<() => void>();

/** A figure, as far as it tells of its source. */
interface OfSource {
  readonly source: string | null;
  readonly origin: { readonly name: string | null; readonly url: string | null } | null;
}

export function setSourceNames(all: SourceNames): void {
  given = all;
  change();
}

export function setCachedNames(all: SourceNames): void {
  cached = all;
  change();
}

function change(): void {
  names = new Map([...given, ...cached]);
  for (const listener of listeners) listener();
}

export function setAttribution(named: NamedSource): void {
  service = named;
  change();
}

/** The service that figures are attributed to. */
export const attribution = (): NamedSource => service;

/** Returns all names: another object once any has changed. */
export const sourceNames = (): SourceNames => names;

/** Has a listener called with each change; returns a function that ends that. */
export function onSourceNames(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the name and page of a figure's source, by the answer or else as this gateway knows it; null if there is only a key. */
export function sourceOf({ source, origin }: OfSource): NamedSource | null {
  if (source === null) return null;
  const namedBefore = names.get(source) ?? null;
  if (origin?.name == null) return namedBefore;
  return { name: origin.name, url: origin.url ?? namedBefore?.url ?? null };
}

/** The name of a figure's source, or its key; empty if the answer names none. */
export const sourceNameOf = (figure: OfSource): string => sourceOf(figure)?.name ?? figure.source ?? '';

/** Pages of the service and of the sources of figures, by the words for them in notes. */
export function pagesOf(figures: readonly OfSource[]): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  if (service.url !== null) pages.set(nameAndPage(service), service.url);
  for (const figure of figures) {
    const { name, url } = sourceOf(figure) ?? {};
    if (name !== undefined && url != null) pages.set(name, url);
  }
  return pages;
}
