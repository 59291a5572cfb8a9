import type { Figure } from './figures.ts';

/** What a table of figures says, column by column. */
export const COLUMNS = [
  ['country', ({ country }: Figure) => country],
  ['name', ({ countryName }: Figure) => countryName],
  ['indicator', ({ indicator }: Figure) => indicator],
  ['place', ({ place }: Figure) => place],
  ['year', ({ year }: Figure) => year],
  ['period', ({ period }: Figure) => period],
  ['value', ({ value }: Figure) => value],
  ['unit', ({ unit }: Figure) => unit],
  ['low', ({ low }: Figure) => low],
  ['high', ({ high }: Figure) => high],
  ['status', ({ status, isModelled }: Figure) => status ?? (isModelled ? 'modelled' : null)],
  ['source', ({ source }: Figure) => source],
  ['retrieved', ({ retrievedAt }: Figure) => retrievedAt],
] as const;

/** Comma-separated values as RFC 4180 has them. A text that a spreadsheet would take for a formula is marked as text. */
export function csvOf(figures: readonly Figure[]): string {
  const cell = (value: string | number | null) => {
    if (value === null) return '';
    const text = typeof value === 'string' && /^[=+\-@]/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = figures.map((figure) => COLUMNS.map(([, of]) => cell(of(figure))).join(','));
  return [COLUMNS.map(([name]) => name).join(','), ...rows, ''].join('\r\n');
}
