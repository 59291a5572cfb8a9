import { countries } from '../../src/sandbox/catalogue/countries.ts';
import { indicators } from '../../src/sandbox/catalogue/indicators.ts';
import { Dice } from '../../test/execution/dice.ts';
import { drawOperations } from '../race/mixed-operations.ts';

/** One request of a soak. */
export interface SoakRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const CODES = countries.map(({ code }) => code.toUpperCase());
const METRICS = indicators.map(({ key }) => key);

/** Operations that are drawn in one batch. */
const ROUND = 1_000;

/** Probabilities of what a request may have. */
const CHANCES = { wide: 0.3, madeUp: 0.02, ownText: 0.05, compressed: 0.5, table: 0.03 };

type Asked = Readonly<Record<string, unknown>>;
type Draw = (dice: Dice) => Asked;

const some = (dice: Dice, all: readonly string[], most: number) =>
  Array.from({ length: 1 + dice.below(most) }, () => dice.pick(all));

const SERIES = `query Series($codes: [CountryCode!], $keys: [String!], $from: Int) {
  observations(countryCodes: $codes, metricKeys: $keys, fromYear: $from) {
    country { code name } indicator { key unit } year period value unit source { key } change growthPercent
  }
}`;

const LATEST = `query Latest($keys: [String!], $maxAge: Int) {
  observations(metricKeys: $keys, latest: true, maxAge: $maxAge) {
    country { code name } indicator { key } year value source { key lastSuccessfulRefresh } record
  }
}`;

/** Operations with few cache hits: lists, and figures of all countries and metrics, uniformly drawn. */
const WIDE: readonly Draw[] = [
  (dice) => ({
    query: SERIES,
    variables: { codes: some(dice, CODES, 6), keys: some(dice, METRICS, 4), from: 1990 },
  }),
  (dice) => ({
    query: LATEST,
    variables: { keys: some(dice, METRICS, 8), maxAge: 100_000 + dice.below(1_000_000) },
  }),
  (dice) => ({
    query: `{ country(code: "${dice.pick(CODES)}") { name profile { indicators { year value } } offices { name terms { holder } } tickers { symbol closePrice } } }`,
  }),
  (dice) => {
    const figures = some(dice, METRICS, 12).map(
      (key, i) => `m${i}: observation(metricKey: "${key}") { value year }`,
    );
    return { query: `query Page { countries { name ${figures.join(' ')} } }` };
  },
];

/**
 * An endless sequence of requests under this many keys, the same for the same seed. Most are skewed operations with many
 * cache hits, the others wide ones with few. Some have a text that was never sent before, some a key that doesn't exist.
 */
export function* drawRequests(keys: number, seed: number): Generator<SoakRequest> {
  const dice = new Dice(seed);
  for (let round = 0; ; round += 1) {
    for (const operation of drawOperations(ROUND, seed + round))
      yield requestOf(
        dice,
        dice.chance(CHANCES.wide) ? dice.pick(WIDE)(dice) : { query: operation.query },
        keys,
      );
  }
}

function requestOf(dice: Dice, asked: Asked, keys: number): SoakRequest {
  const isMadeUp = dice.chance(CHANCES.madeUp);
  const isOwnText = isMadeUp || dice.chance(CHANCES.ownText);
  return {
    headers: {
      'content-type': 'application/json',
      'accept-encoding': dice.chance(CHANCES.compressed) ? 'gzip' : 'identity',
      authorization: `Bearer ${isMadeUp ? `made-up-${dice.next()}` : `key-${dice.below(keys)}`}`,
      ...(dice.chance(CHANCES.table) ? { accept: 'text/csv' } : {}),
    },
    body: JSON.stringify(isOwnText ? { ...asked, query: `${asked.query} # ${dice.next()}` } : asked),
  };
}
