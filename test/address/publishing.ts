import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from '../../src/graphql/request/persisted.ts';
import { openFolder, openIssuing } from '../issued/issuing.ts';
import type { ProgramOptions } from '../support/program.ts';

/** Fields that pictures draw and tell of a figure. */
export const FIGURE =
  'value unit year period isModelled estimateLow estimateHigh locationName country { code name } indicator { key name unit } source { key }';

/** Documents of each kind of picture, by their names. */
export const DOCUMENTS = {
  lines: `"The population of some countries, year by year."
query Lines($codes: [CountryCode!] = ["KE", "NG"], $from: Int) {
  observations(countryCodes: $codes, metricKeys: ["population_total"], fromYear: $from) { ${FIGURE} }
}`,
  bars: `query Bars($codes: [CountryCode!]! = ["KE", "NG", "ZA"], $metric: String = "gdp_current_usd") {
  observations(countryCodes: $codes, metricKeys: [$metric], latest: true) { ${FIGURE} }
}`,
  map: `query Map($metric: String! = "population_total") {
  observations(metricKeys: [$metric], latest: true, scope: NATIONAL) { ${FIGURE} }
}`,
  scatter: `query Scatter {
  observations(metricKeys: ["population_total", "gdp_current_usd"], latest: true, scope: NATIONAL) { ${FIGURE} }
}`,
  card: 'query Card($code: CountryCode!) { country(code: $code) { name capital } }',
  dear: 'query Dear { countries { offices { name } } }',
  kept: 'query Kept { countries(codes: ["KE"]) { capital } }',
};

interface Published {
  readonly [name: string]: object;
}

/** All of them but one, under the key `page`. */
export const PUBLISHED: Published = {
  lines: { document: 'Lines', key: 'page', title: 'People & <years>' },
  bars: { document: 'Bars', key: 'page' },
  map: { document: sha256Of(DOCUMENTS.map), key: 'page' },
  scatter: { document: 'Scatter', key: 'page', picture: { kind: 'scatter', isLog: true } },
  card: { document: 'Card', key: 'page' },
  dear: { document: 'Dear', key: 'page' },
};

/** A folder with the files of public documents, and the settings that name them. */
export function openFiles(documents: Readonly<Record<string, string>> = DOCUMENTS, published = PUBLISHED) {
  const folder = openFolder();
  const trusted = join(folder.path, 'trusted.json');
  const named = join(folder.path, 'public.json');
  const texts = Object.values(documents).map((text) => [sha256Of(text), text]);
  writeFileSync(trusted, JSON.stringify(Object.fromEntries(texts)));
  writeFileSync(named, JSON.stringify(published));
  return { folder, env: { TRUSTED_DOCUMENTS: trusted, PUBLIC_DOCUMENTS: named } };
}

/** A gateway with public documents, and the desk of its operator. */
export async function openPublishing({
  published,
  documents,
  env = {},
  clock: _,
  ...options
}: ProgramOptions & {
  readonly published?: Published;
  readonly documents?: Readonly<Record<string, string>>;
} = {}) {
  const { folder, env: files } = openFiles(documents, published);
  const { cacheUrl } = folder;
  const program = await openIssuing({ ...options, cacheUrl, env: { ...files, ...env } });
  const origin = new URL(program.url).origin;
  const close = program[Symbol.asyncDispose].bind(program);
  return Object.assign(program, {
    origin,
    /** The file of the pages. */
    published: files.PUBLIC_DOCUMENTS,
    at: (path: string, init?: RequestInit) => fetch(origin + path, { redirect: 'manual', ...init }),
    /** Everything that the store of keys has on disk. */
    stored: () => readFileSync(`${folder.path}/figures.db.keys`),
    async [Symbol.asyncDispose]() {
      await close();
      folder[Symbol.dispose]();
    },
  });
}
