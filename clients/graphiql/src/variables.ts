/** The variables as an editor holds them; null if they are no object. */
export function variablesIn(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** An operation as it is written: its text, and its variables as JSON. */
export interface Written {
  readonly query: string;
  readonly variables?: string;
}
