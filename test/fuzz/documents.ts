import {
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isRequiredArgument,
  isUnionType,
} from 'graphql';
import type { Dice } from '../execution/dice.ts';

export interface Document {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

interface Fragment {
  readonly name: string;
  readonly type: GraphQLCompositeType;
  readonly text: string;
  /** Depth of the fields, with those of the fragments that it spreads. */
  readonly depth: number;
}

/** The gateway takes 12. */
const MAX_DEPTH = 11;
const LIST_SIZES = [0, 1, 1, 2, 3, 5, 8, 20, 54, 200, 999, 1_001];
const COUNTRY_CODES = ['KE', 'ng', 'ZA', 'Eg', 'TZ', 'ug', 'GH', 'ma', 'SS', 'ZZ'];
const METRIC_KEYS = ['population_total', 'gdp_current_usd', 'inflation_cpi', 'no_such_metric', 'x'];
const YEARS = [1998, 2010, 2020, 2024, 0, -1, 2 ** 31 - 1];

/** Values of an argument, by its name and then by its type. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  key: ['population_total', 'world_bank_wdi', 'none', ''],
  keys: METRIC_KEYS,
  metricKey: METRIC_KEYS,
  metricKeys: METRIC_KEYS,
  exchangeCode: ['NGX', 'ngx', 'none'],
  symbol: ['SYN001', 'none'],
  category: ['demographics', 'none'],
  instrumentType: ['EQUITY', 'none'],
  fromYear: YEARS,
  toYear: YEARS,
  maxAge: [0, 60, 2 ** 31 - 1],
  CountryCode: COUNTRY_CODES,
  String: ['', 'text', '"""', '\u2028'],
  Int: [0, 1, -1, 2 ** 31 - 1],
  Boolean: [true, false],
  ID: [
    idOf('Country', 'KE'),
    idOf('Country', 'ZZ'),
    idOf('Indicator', 'population_total'),
    idOf('Source', 'world_bank_wdi'),
    idOf('Ticker', 'NGX', 'SYN001'),
    idOf('Office', 'KE', 'x', 'y'),
    'none',
  ],
  _Any: [
    { __typename: 'Country', code: 'KE' },
    { __typename: 'Indicator', key: 'population_total' },
    { __typename: 'Source', key: 'none' },
    { __typename: 'Ticker', exchangeCode: 'NGX', symbol: 'SYN001' },
    { __typename: 'Nothing' },
  ],
};

function idOf(...parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/**
 * A valid document whose fragments spread one another, each of them several times, without ever leading back to itself:
 * written out, it may be longer than anything that could be sent.
 * @param size about how many selections stand in its text
 */
export function drawDocument(schema: GraphQLSchema, dice: Dice, size: number): Document {
  return new Generator(schema, dice, size).draw();
}

class Generator {
  readonly #schema: GraphQLSchema;
  readonly #dice: Dice;
  readonly #composites: readonly GraphQLCompositeType[];
  readonly #fragments: Fragment[] = [];
  readonly #variables = new Map<string, { readonly type: string; readonly value: unknown }>();
  /** Response names by their meaning. */
  readonly #names = new Map<string, string>();
  readonly #longLists: boolean;
  #left: number;

  constructor(schema: GraphQLSchema, dice: Dice, size: number) {
    this.#schema = schema;
    this.#dice = dice;
    this.#left = size;
    this.#longLists = dice.chance(0.2);
    this.#composites = Object.values(schema.getTypeMap()).filter(
      (type): type is GraphQLCompositeType => isCompositeType(type) && !type.name.startsWith('__'),
    );
  }

  draw(): Document {
    const dice = this.#dice;
    const layers = dice.below(9);
    const query = this.#schema.getQueryType() as GraphQLCompositeType;
    for (let i = 0; i < layers && this.#left > 0; i += 1) this.#addFragment(dice.pick(this.#composites));
    for (let i = dice.below(4); i > 0; i -= 1) {
      this.#left += 4;
      this.#addFragment(query);
    }
    this.#left += 4;
    const { text } = this.#selectionSet(query, MAX_DEPTH);
    const needed = this.#reached(text);
    const all = [text, ...needed.map((fragment) => fragment.text)].join(' ');
    const used = [...this.#variables].filter(([name]) => new RegExp(`\\$${name}\\b`).test(all));
    const declared = used.map(([name, { type }]) => `$${name}: ${type}`).join(', ');
    const definitions = [
      `query Drawn${declared === '' ? '' : `(${declared})`} ${text}`,
      ...needed.map(({ name, type, text }) => `fragment ${name} on ${type.name} ${text}`),
    ];
    if (dice.chance(0.3)) definitions.reverse();
    return {
      query: definitions.join('\n'),
      variables: Object.fromEntries(used.map(([name, { value }]) => [name, value])),
    };
  }

  #reached(text: string, found = new Set<Fragment>()): readonly Fragment[] {
    for (const [, name] of text.matchAll(/\.\.\.(\w+)/g)) {
      const fragment = this.#fragments.find((one) => one.name === name);
      if (fragment === undefined || found.has(fragment)) continue;
      found.add(fragment);
      this.#reached(fragment.text, found);
    }
    return [...found];
  }

  #addFragment(type: GraphQLCompositeType): void {
    const { text, depth } = this.#selectionSet(type, 1 + this.#dice.below(MAX_DEPTH - 1));
    this.#fragments.push({ name: `F${this.#fragments.length}`, type, text, depth });
  }

  #selectionSet(type: GraphQLCompositeType, most: number): { text: string; depth: number } {
    const parts: string[] = [];
    let deepest = 1;
    const count = 1 + this.#dice.below(5);
    for (let i = 0; i < count && (i === 0 || this.#left > 0); i += 1) {
      this.#left -= 1;
      const { text, depth } = this.#selection(type, most);
      parts.push(text);
      deepest = Math.max(deepest, depth);
    }
    return { text: `{ ${parts.join(' ')} }`, depth: deepest };
  }

  #selection(type: GraphQLCompositeType, most: number): { text: string; depth: number } {
    const dice = this.#dice;
    const spread = this.#fragments.filter(
      (fragment) => fragment.depth <= most && this.#meet(fragment.type, type),
    );
    if (spread.length > 0 && dice.chance(0.5)) return this.#spreads(spread);
    if (this.#left > 0 && dice.chance(isAbstractType(type) ? 0.6 : 0.1)) {
      const narrowed = dice.pick(this.#composites.filter((other) => this.#meet(other, type)));
      const { text, depth } = this.#selectionSet(narrowed, most);
      return { text: `... on ${narrowed.name}${this.#conditions()} ${text}`, depth };
    }
    if (isUnionType(type)) return { text: `__typename${this.#conditions()}`, depth: 1 };
    return this.#field(type, most);
  }

  /** Some of those that there are, the same ones several times. */
  #spreads(fragments: readonly Fragment[]): { text: string; depth: number } {
    const chosen = Array.from({ length: 1 + this.#dice.below(4) }, () => this.#dice.pick(fragments));
    return {
      text: chosen.map(({ name }) => `...${name}${this.#conditions()}`).join(' '),
      depth: Math.max(...chosen.map(({ depth }) => depth)),
    };
  }

  #meet(a: GraphQLCompositeType, b: GraphQLCompositeType): boolean {
    const possible = (type: GraphQLCompositeType) =>
      isAbstractType(type) ? this.#schema.getPossibleTypes(type) : [type];
    return possible(a).some((type) => possible(b).includes(type));
  }

  #field(
    type: Exclude<GraphQLCompositeType, { getTypes: unknown }>,
    most: number,
  ): { text: string; depth: number } {
    const dice = this.#dice;
    const isLast = most <= 1 || this.#left <= 0;
    const fields = Object.values(type.getFields()).filter(
      (field) => !isLast || isLeafType(getNamedType(field.type)),
    );
    if (fields.length === 0) return { text: '__typename', depth: 1 };
    const composites = fields.filter((field) => isCompositeType(getNamedType(field.type)));
    const field = dice.pick(composites.length > 0 && dice.chance(0.6) ? composites : fields);
    const args = this.#args(field);
    const head = `${this.#nameOf(field, args)}${args}${this.#conditions()}`;
    const below = getNamedType(field.type);
    if (!isCompositeType(below)) return { text: head, depth: 1 };
    const { text, depth } = this.#selectionSet(below, most - 1);
    return { text: `${head} ${text}`, depth: depth + 1 };
  }

  /** One response name for each field with its arguments and its type: fields that meet can be merged. */
  #nameOf(field: GraphQLField<unknown, unknown>, args: string): string {
    const meaning = `${field.name}${args} ${String(field.type)}${this.#dice.chance(0.1) ? ' again' : ''}`;
    const known = this.#names.get(meaning);
    const isTaken = [...this.#names.values()].includes(field.name);
    const name = known ?? (isTaken ? `${field.name}_${this.#names.size}` : field.name);
    this.#names.set(meaning, name);
    return name === field.name ? name : `${name}: ${field.name}`;
  }

  #conditions(): string {
    const dice = this.#dice;
    if (!dice.chance(0.1)) return '';
    const directive = dice.pick(['skip', 'include']);
    const holds = dice.chance(0.3);
    return ` @${directive}(if: ${dice.chance(0.5) ? holds : this.#variable('Boolean!', holds)})`;
  }

  #args({ args }: GraphQLField<unknown, unknown>): string {
    // A list that is left out stands for all that there are.
    const given = args.filter(
      (arg) => isRequiredArgument(arg) || this.#dice.chance(isListType(arg.type) ? 0.97 : 0.5),
    );
    const texts = given.map((arg) => `${arg.name}: ${this.#input(arg)}`);
    return texts.length === 0 ? '' : `(${texts.join(', ')})`;
  }

  #input(arg: GraphQLArgument): string {
    const named = getNamedType(arg.type);
    const values = VALUES[arg.name] ?? VALUES[named.name] ?? this.#valuesOf(named);
    const isList = isListType(getNullableType(arg.type));
    const value = isList ? this.#list(values) : this.#dice.pick(values);
    const isShort = !Array.isArray(value) || value.length <= 20;
    if (isShort && this.#dice.chance(0.7)) return literal(value);
    return this.#variable(String(arg.type), value);
  }

  /** Names of an enum; objects of an input type. */
  #valuesOf(type: GraphQLNamedType): readonly unknown[] {
    if (isEnumType(type)) return type.getValues().map(({ name }) => new Word(name));
    if (!isInputObjectType(type)) return [null];
    const object = () =>
      Object.values(type.getFields()).map((field) => [
        field.name,
        this.#dice.pick(this.#valuesOf(getNamedType(field.type))),
      ]);
    return Array.from({ length: 3 }, () => Object.fromEntries(object()));
  }

  #list(values: readonly unknown[]): unknown[] {
    const sizes = this.#longLists ? LIST_SIZES : LIST_SIZES.slice(0, 7);
    return Array.from({ length: this.#dice.pick(sizes) }, () => this.#dice.pick(values));
  }

  #variable(type: string, value: unknown): string {
    const known = [...this.#variables].filter(([, variable]) => variable.type === type);
    if (known.length > 0 && this.#dice.chance(0.6)) return `$${this.#dice.pick(known)[0]}`;
    const name = `v${this.#variables.size}`;
    this.#variables.set(name, { type, value });
    return `$${name}`;
  }
}

/** The name of an enum, which is no string in a document and one in variables. */
class Word {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  toJSON(): string {
    return this.name;
  }
}

function literal(value: unknown): string {
  if (value instanceof Word) return value.name;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, field]) => `${name}: ${literal(field)}`)}}`;
}
