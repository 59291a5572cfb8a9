/** What the server tells the page about itself. */
export interface Settings {
  /** Demo keys of the embedded sandbox by name; null where the figures are real. */
  readonly demoKeys: Readonly<Record<string, string>> | null;
}

export const ENDPOINT = '/graphql';

export async function loadSettings(): Promise<Settings> {
  const response = await fetch('/graphiql/settings.json');
  if (!response.ok) throw new Error(`The gateway answered ${response.status}.`);
  return (await response.json()) as Settings;
}
