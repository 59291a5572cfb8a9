import { readdirSync, readFileSync } from 'node:fs';
import { buildClientSchema, type GraphQLSchema, getIntrospectionQuery } from 'graphql';
import { WHOLE_GRAPH } from './golden-settings.ts';
import { openProgram } from './program.ts';

/** Contains each `<domain>/<name>.graphql` next to its response and its bill. */
export const GOLDEN_FOLDER = new URL('../queries/', import.meta.url);
export const goldenFiles = readdirSync(GOLDEN_FOLDER, { recursive: true, encoding: 'utf8' }).sort();
export const goldenNames = goldenFiles
  .filter((file) => file.endsWith('.graphql'))
  .map((file) => file.replace('.graphql', ''));

export const readGolden = (file: string) => readFileSync(new URL(file, GOLDEN_FOLDER), 'utf8');

export function goldenOperation(name: string) {
  const file = `${name}.variables.json`;
  return {
    query: readGolden(`${name}.graphql`),
    variables: goldenFiles.includes(file) ? JSON.parse(readGolden(file)) : undefined,
  };
}

/** A fixed time, since some responses contain the windows of the minute and the month. */
const clock = { now: () => Date.parse('2026-03-10T12:00:30Z'), sleep: async () => {} };

/** The program that golden responses come from. */
export function openGolden(env: Readonly<Record<string, string>> = {}) {
  return openProgram({ clock, sandbox: { now: clock.now }, env: { ...WHOLE_GRAPH, ...env } });
}

/** The schema of golden queries, by introspection, which takes no call. */
export async function goldenSchema(): Promise<GraphQLSchema> {
  await using program = await openGolden();
  const { data, upstream } = await program.ask(getIntrospectionQuery(), { key: null });
  if (upstream.calls !== 0) throw new Error(`The schema took ${upstream.calls} calls.`);
  return buildClientSchema(data);
}
