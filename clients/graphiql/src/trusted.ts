/** An operation that may run if no others may. */
export interface TrustedDocument {
  /** The name by which it is sent. */
  readonly id: string;
  readonly text: string;
}

let documents: readonly TrustedDocument[] = [];

/** Editors end lines in a way of their own. */
const plain = (text: string) => text.replaceAll('\r\n', '\n').trim();

/** Has these be sent by name from now on, since a text that differs by a blank is refused. */
export function setTrusted(all: readonly TrustedDocument[]): void {
  documents = all;
}

/** Identifier of the operation in an editor, if it is one of the only ones that may run. */
export function trustedIdOf(text: string): string | null {
  if (documents.length === 0) return null;
  return documents.find((document) => plain(document.text) === plain(text))?.id ?? null;
}

/** A document that has an address of its own. */
export interface PublicDocument {
  readonly url: string;
  readonly title: string;
  readonly text: string;
}

let published: readonly PublicDocument[] = [];

/** Where pages are, and whether some may publish them from here. */
let pages = { base: '', isOpen: false };

export function setPages(all: typeof pages): void {
  pages = all;
}

export const canPublish = (): boolean => pages.isOpen;

export const pageUrlOf = (name: string): string => `${pages.base}c/${name}`;

export function setPublicDocuments(all: readonly PublicDocument[]): void {
  published = all;
}

export const publicDocuments = (): readonly PublicDocument[] => published;

const bare = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** True for one operation in two layouts. */
export const isAlike = (text: string, other: string): boolean => bare(text) === bare(other);

/** The public document of the text in an editor, in any layout: it is asked for by its name. */
export function publicDocumentOf(text: string): PublicDocument | null {
  return published.find((document) => isAlike(document.text, text)) ?? null;
}

/** Name of a document for people: the names of its operations. */
export function trustedNameOf({ id, text }: TrustedDocument): string {
  const names = Array.from(text.matchAll(/\b(?:query|mutation|subscription)\s+(\w+)/g), ([, name]) => name);
  return names.length === 0 ? id : names.join(', ');
}

/** Fills a document's variables in, each by its name, for people to write over. */
export function variablesFor({ text }: TrustedDocument): string {
  const names = Array.from(text.matchAll(/\$(\w+)\s*:\s*(\[?)/g));
  if (names.length === 0) return '';
  const given = names.map(([, name, list]) => [name, list === '' ? null : []]);
  return JSON.stringify(Object.fromEntries(given), null, 2);
}
