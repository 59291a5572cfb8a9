import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256Of } from '../../src/graphql/request/persisted.ts';

export const CARD = `# A country's capital and population.
# Figures are the latest.
query Card($code: CountryCode!) {
  country(code: $code) {
    capital
    population: observation(metricKey: "population_total") { value year }
  }
}`;

export const RANKED = `"Latest figures of some countries."
query Ranked(
  "Countries; all where none are given."
  $codes: [CountryCode!] = ["KE", "NG"]
  $metric: String!
  $scope: ObservationScope
  $order: [ObservationOrder!]
) {
  observations(countryCodes: $codes, metricKeys: [$metric], latest: true, scope: $scope, orderBy: $order) {
    country { code } value year
  }
}`;

export const CATALOGUE = '"Indicators that have figures."\nquery Catalogue { indicators { key record } }';

const DEAR = `"The governments of countries."
query Governments($codes: [CountryCode!]!) { countries(codes: $codes) { offices { id name } } }`;

/** Documents that are no tools: one has no description, the other no name. */
const OTHERS = [
  '\n# Not of the query.\n\nquery Plain { health { status } }',
  '# No name.\n{ health { status } }',
];

/** A file of trusted documents, which is removed with its folder. */
export function trustedFile(texts: readonly string[] = [CARD, RANKED, CATALOGUE, DEAR, ...OTHERS]) {
  const folder = mkdtempSync(join(tmpdir(), 'country-graph-tools-'));
  const path = join(folder, 'trusted.json');
  writeFileSync(path, JSON.stringify(Object.fromEntries(texts.map((text) => [sha256Of(text), text]))));
  return { path, folder, remove: () => rmSync(folder, { recursive: true }) };
}
