import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Disk } from './disk.ts';

/** Names a country in English by its code in upper case, as pictures do; undefined if they show none of this code. */
type NameOf = (code: string) => string | undefined;

/** A part of GraphiQL, as `npm run build` makes it. */
const COUNTRIES = 'dist/graphiql/pictures/countries.js';

/** Returns names of countries by codes in either case. A code of none stays, as do all where nothing is built. */
export async function countryNames(disk: Pick<Disk, 'ofPackage'>): Promise<(code: string) => string> {
  const file = disk.ofPackage(COUNTRIES);
  if (!existsSync(file)) return (code) => code;
  const { nameOf }: { readonly nameOf: NameOf } = await import(pathToFileURL(file).href);
  return (code) => nameOf(code.toUpperCase()) ?? code;
}

export type CountryNames = Awaited<ReturnType<typeof countryNames>>;
