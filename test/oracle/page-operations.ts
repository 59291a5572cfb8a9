import type { Dice } from './dice.ts';
import type { Operation } from './operations.ts';

const LEAVES = [
  'value',
  'year',
  'period',
  'unit',
  'id',
  'valueStatus',
  'locationName',
  'estimateLow',
  '__typename',
];
const BELOW = [
  'country { code }',
  'country { code name }',
  'indicator { key }',
  'indicator { key name unit }',
  'source { key }',
];

/** What the operations of one page have in common, so that they meet. */
export interface PageNames {
  readonly codes: readonly string[];
  readonly keys: readonly string[];
  /** What is drawn now and then, and what pages don't hold. */
  readonly odd: {
    readonly names: { readonly code: string; readonly key: string };
    readonly fields: readonly string[];
    readonly args: readonly string[];
    /** True if years may end before they begin, which is refused. */
    readonly mayBeReversed: boolean;
  };
}

/**
 * Mostly an operation whose figures a page can hold.
 * @param values draw names and years: with other ones, the same dice draw the same operation of other figures
 */
export function drawPageOperation(
  dice: Dice,
  { codes: known, keys: metrics, odd }: PageNames,
  values = dice,
): Operation {
  const variables: Record<string, unknown> = {};
  const types: string[] = [];
  const fragments: string[] = [];

  function given(value: unknown, type: string): string {
    if (dice.chance(0.4) && value !== undefined) return JSON.stringify(value);
    const name = `v${types.length}`;
    types.push(`$${name}: ${type}`);
    if (value !== undefined) variables[name] = value;
    return `$${name}`;
  }

  const code = () => (values.chance(0.02) ? odd.names.code : values.pick(known));
  const key = () => (values.chance(0.02) ? odd.names.key : values.pick(metrics));
  const codes = () => given(Array.from({ length: dice.between(1, 4) }, code), '[CountryCode!]');
  const keys = () => `metricKeys: ${given(Array.from({ length: dice.between(1, 3) }, key), '[String!]')}`;

  function span(): string[] {
    const [from, end] = [values.between(1990, 2024), values.between(2000, 2030)];
    const to = odd.mayBeReversed ? end : Math.max(from, end);
    const args = [];
    if (dice.chance(0.7)) args.push(`fromYear: ${given(dice.chance(0.1) ? undefined : from, 'Int')}`);
    if (dice.chance(0.7)) args.push(`toYear: ${given(dice.chance(0.1) ? null : to, 'Int')}`);
    return args;
  }

  function seriesArgs(): string[] {
    const args = dice.chance(0.25) ? [`latest: ${given(true, 'Boolean')}`] : span();
    if (dice.chance(0.2)) args.push(`scope: ${dice.pick(['ALL', 'NATIONAL', 'PLACES'])}`);
    if (dice.chance(0.04)) args.push(dice.pick(odd.args));
    return args;
  }

  function rows(): string {
    const leaves = dice.some(LEAVES, dice.between(1, 4));
    const below = dice.some(BELOW, dice.below(3)).filter((one, i, all) => i === 0 || all[0]?.[0] !== one[0]);
    const more = dice.chance(0.04) ? [dice.pick(odd.fields)] : [];
    const own = [...leaves, ...below, ...more].map((one) =>
      /^\w+$/.test(one) && dice.chance(0.1) ? `a_${one}: ${one}` : one,
    );
    if (dice.chance(0.15)) {
      const name = `F${fragments.length}`;
      fragments.push(`fragment ${name} on Observation { ${own.splice(0, 1).join(' ')} }`);
      own.push(`...${name}`);
    }
    if (dice.chance(0.1)) own.push('... on Observation { value }');
    return `{ ${own.join(' ')} }`;
  }

  function figuresOfCountry(alias: string): string {
    if (dice.chance(0.5)) return `${alias}: observation(metricKey: ${given(key(), 'String!')}) ${rows()}`;
    return `${alias}: observations(${[keys(), ...seriesArgs()].join(', ')}) ${rows()}`;
  }

  function root(alias: string): string {
    const kind = dice.below(3);
    if (kind === 0)
      return `${alias}: observations(${[`countryCodes: ${codes()}`, keys(), ...seriesArgs()].join(', ')}) ${rows()}`;
    const fields = dice.some(['code', 'name', 'id', 'capital'], dice.below(3));
    const figures = Array.from({ length: dice.between(1, 2) }, (_, i) => figuresOfCountry(`f${i}`));
    const head =
      kind === 1 ? `country(code: ${given(code(), 'CountryCode!')})` : `countries(codes: ${codes()})`;
    return `${alias}: ${head} { ${[...fields, ...figures].join(' ')} }`;
  }

  const roots = Array.from({ length: dice.chance(0.2) ? 2 : 1 }, (_, i) => root(`r${i}`));
  const head = types.length === 0 ? 'query' : `query Drawn(${types.join(', ')})`;
  return { text: [`${head} { ${roots.join(' ')} }`, ...fragments].join('\n'), variables };
}
