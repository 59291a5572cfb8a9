import type { PublicDocument } from './public-documents.ts';

/** By the endings of their addresses; the page has none. */
export const FORMS = {
  page: { type: 'text/html', kind: 'page' },
  json: { type: 'application/json', kind: 'data' },
  csv: { type: 'text/csv', kind: 'table' },
  'wide.csv': { type: 'text/csv; shape=wide', kind: 'table' },
  arrow: { type: 'application/vnd.apache.arrow.stream', kind: 'table' },
  svg: { type: 'image/svg+xml', kind: 'picture' },
  png: { type: 'image/png', kind: 'picture' },
  html: { type: 'text/html', kind: 'picture' },
  'metadata.json': { type: 'application/json', kind: 'page' },
} as const;

export type Form = keyof typeof FORMS;

export const isForm = (ending: string): ending is Form => Object.hasOwn(FORMS, ending);

/** Why a document has no such form; null if it has. */
export function whyNot(form: Form, { table }: PublicDocument): string | null {
  if (FORMS[form].kind !== 'table') return null;
  if (table === null) return 'This answer makes no table.';
  return form === 'wide.csv' && typeof table.wide === 'string' ? table.wide : null;
}

export function formsBeside(document: PublicDocument): readonly Form[] {
  return Object.keys(FORMS)
    .filter(isForm)
    .filter((form) => form !== 'page' && whyNot(form, document) === null);
}

/** True for tables that may begin with a byte order mark. */
export const isCsv = (form: Form) => FORMS[form].type.startsWith('text/csv');
