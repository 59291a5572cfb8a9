import type { PublicDocument } from './public-documents.ts';

/** By the endings of their addresses; the page has none. */
export const FORMS = {
  page: { type: 'text/html', kind: 'page' },
  json: { type: 'application/json', kind: 'data' },
  csv: { type: 'text/csv', kind: 'table' },
  arrow: { type: 'application/vnd.apache.arrow.stream', kind: 'table' },
  svg: { type: 'image/svg+xml', kind: 'picture' },
  png: { type: 'image/png', kind: 'picture' },
  html: { type: 'text/html', kind: 'picture' },
  'metadata.json': { type: 'application/json', kind: 'page' },
} as const;

export type Form = keyof typeof FORMS;

export const isForm = (ending: string): ending is Form => Object.hasOwn(FORMS, ending);

export function formsBeside({ table }: PublicDocument): readonly Form[] {
  return Object.keys(FORMS)
    .filter(isForm)
    .filter((form) => form !== 'page' && (table !== null || FORMS[form].kind !== 'table'));
}
