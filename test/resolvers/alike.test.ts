import { expect, it } from 'vitest';
import { alikeNames } from '../../src/graphql/resolvers/alike.ts';

const CATALOGUE = [
  'electricity_from_coal_pct',
  'access_electricity_rural_pct',
  'access_electricity_pct',
  'population_total',
  'life_expectancy',
];

it.each([
  ['electricity_access_pct', ['access_electricity_pct', 'access_electricity_rural_pct']],
  ['total_population', ['population_total']],
  ['Life-Expectancy', ['life_expectancy']],
  ['lief_expectancy', ['life_expectancy']],
  ['nothing_like_it', []],
])('%s may be meant for %j, in this order', (name, first) => {
  expect(alikeNames(name, CATALOGUE).slice(0, first.length || 1)).toEqual(first);
});
