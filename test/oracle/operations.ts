import {
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isAbstractType,
  isLeafType,
  isRequiredArgument,
  parse,
  validate,
} from 'graphql';
import type { Dice } from './dice.ts';
import type { Habits } from './habits.ts';
import { AFRICA, CATEGORIES, INSTRUMENTS, UNKNOWN_COUNTRIES, UNKNOWN_METRICS } from './names.ts';
import { figureIdOf, idOf, resolvers, schema } from './reference.ts';
import type { Json, World } from './world.ts';

export interface Operation {
  readonly text: string;
  readonly variables: Json;
}

export interface Drawing {
  readonly dice: Dice;
  /** Dice for later additions, which move no other draw. */
  readonly more: Dice;
  readonly world: World;
  readonly habits: Habits;
  /** Rows that one operation may be about, roughly. */
  readonly rows: number;
  /** Calls a country that one list may lead to. */
  readonly width: number;
}

/** A valid operation over the whole schema, about names of the world and some that nobody knows. */
export function drawOperation(drawing: Drawing): Operation {
  for (;;) {
    const operation = new Generator(drawing).operation();
    if (validate(schema, parse(operation.text)).length === 0) return operation;
  }
}

const MAX_DEPTH = 6;
/** Fields that take a call for each country. */
const CALL_A_COUNTRY = ['profile', 'signals', 'offices'];

const DERIVED = ['change', 'growthPercent', 'per', 'rank'];

interface Place {
  readonly depth: number;
  /** Number of objects that the selection is for. */
  readonly width: number;
  /** Response names that are taken here. */
  readonly taken: Set<string>;
  /** Set below a fragment on one of several types, in which equal names must not meet. */
  readonly prefix: string;
  /** Levels below figures. */
  readonly belowFigures: number;
}

class Generator {
  readonly #dice: Dice;
  readonly #drawing: Drawing;
  readonly #variables = new Map<string, { type: string; value: unknown }>();
  readonly #fragments: string[] = [];
  readonly #mayBeUnknown: boolean;
  readonly #asksByName: boolean;
  #aliases = 0;
  #rowsLeft: number;
  #fields = 40;

  constructor(drawing: Drawing) {
    this.#drawing = drawing;
    this.#dice = drawing.dice;
    this.#rowsLeft = drawing.rows;
    this.#mayBeUnknown = drawing.dice.chance(0.25);
    this.#asksByName = drawing.dice.chance(0.85);
  }

  operation(): Operation {
    const query = schema.getQueryType() as GraphQLObjectType;
    const place = { depth: 0, width: 1, taken: new Set<string>(), prefix: '', belowFigures: 0 };
    const body = this.#selection(query, place);
    const declared = [...this.#variables].map(([name, { type }]) => `$${name}: ${type}`);
    const head = declared.length === 0 ? 'query' : `query (${declared.join(', ')})`;
    const variables = Object.fromEntries([...this.#variables].map(([name, { value }]) => [name, value]));
    return { text: [`${head} ${body}`, ...this.#fragments].join('\n'), variables };
  }

  #selection(type: GraphQLCompositeType, place: Place): string {
    if (isAbstractType(type)) return this.#abstractSelection(type, place);
    const object = type as GraphQLObjectType;
    const parts = this.#fieldsOf(object, place);
    if (this.#dice.chance(0.1)) parts.push(`... on ${object.name} { ${this.#one(object, place)} }`);
    if (this.#dice.chance(0.08) && place.depth > 0) {
      const name = `Part${this.#fragments.length}`;
      this.#fragments.push('');
      const at = this.#fragments.length - 1;
      this.#fragments[at] = `fragment ${name} on ${object.name} { ${this.#one(object, place)} }`;
      parts.push(`...${name}`);
    }
    return `{ ${parts.join(' ')} }`;
  }

  #abstractSelection(type: GraphQLCompositeType, place: Place): string {
    const types = schema.getPossibleTypes(type as never).filter(({ name }) => name in resolvers);
    const parts = ['__typename', ...(type.name === 'Node' ? ['id'] : [])];
    for (const object of this.#dice.some(types, this.#dice.between(2, types.length))) {
      const inner = { ...place, taken: new Set<string>(), prefix: `${object.name}_` };
      parts.push(`... on ${object.name} { ${this.#fieldsOf(object, inner).join(' ')} }`);
    }
    return `{ ${parts.join(' ')} }`;
  }

  #candidates(type: GraphQLObjectType, place: Place): GraphQLField<unknown, unknown>[] {
    return Object.values(type.getFields()).filter(
      (field) =>
        resolvers[type.name]?.[field.name] !== undefined &&
        !DERIVED.includes(field.name) &&
        this.#isAffordable(field, place),
    );
  }

  #fieldsOf(type: GraphQLObjectType, place: Place): string[] {
    const dice = this.#dice;
    const candidates = this.#candidates(type, place);
    const leaves = candidates.filter(({ type: of }) => isLeafType(getNamedType(of)));
    const composites = candidates.filter(({ type: of }) => !isLeafType(getNamedType(of)));
    const isDeep = place.depth >= MAX_DEPTH || this.#fields <= 0;
    const wide = place.depth === 0 ? dice.between(1, 3) : dice.chance(0.55) ? dice.between(1, 2) : 0;
    const chosen = [
      ...dice.some(leaves, dice.between(place.depth === 0 ? 0 : 1, 4)),
      ...(isDeep ? [] : Array.from({ length: wide }, () => dice.pick(composites))),
    ].filter((field) => field !== undefined);
    const texts = chosen.map((field) => this.#field(type, field, place)).filter((text) => text !== null);
    if (dice.chance(0.08) || texts.length === 0) texts.push('__typename');
    if (type.name === 'Observation') texts.push(...this.#derived(place));
    return texts;
  }

  /** Fields that are derived of a figure and others. */
  #derived({ prefix, width }: Place): string[] {
    const { more: dice, world, habits } = this.#drawing;
    if (prefix !== '' || width > 150 || !dice.chance(0.2)) return [];
    const code = () => dice.pick(world.countries).code;
    const since = () => (dice.chance(0.4) ? `(since: ${dice.between(2008, 2024)})` : '');
    const ranked = () => {
      const isAll = habits.size === 'full' && width <= 30 && dice.chance(0.3);
      const among = isAll ? [] : [`among: ${literal(Array.from({ length: dice.between(1, 5) }, code))}`];
      const args = [...among, ...(dice.chance(0.3) ? ['direction: ASC'] : [])];
      return args.length === 0 ? '' : `(${args.join(', ')})`;
    };
    const divisor = () => {
      const isUnknown = this.#mayBeUnknown && dice.chance(0.15);
      return isUnknown ? dice.pick(UNKNOWN_METRICS) : dice.pick(world.indicators).key;
    };
    const all = [
      () => `d0: change${since()}`,
      () => `d1: growthPercent${since()}`,
      () =>
        `d2: per(metricKey: ${literal(divisor())}) { value unit year operands { year period value source { key } } }`,
      () => `d3: rank${ranked()} { position of year }`,
    ];
    return dice.some(all, dice.between(1, 2)).map((make) => make());
  }

  /** One field, for a fragment. */
  #one(type: GraphQLObjectType, place: Place): string {
    const leaves = this.#candidates(type, place).filter(({ type: of }) => isLeafType(getNamedType(of)));
    const field = this.#dice.pick(leaves);
    return (field === undefined ? null : this.#field(type, field, place)) ?? '__typename';
  }

  #isAffordable(field: GraphQLField<unknown, unknown>, { width, belowFigures }: Place): boolean {
    const { world, width: most } = this.#drawing;
    if (CALL_A_COUNTRY.includes(field.name)) return width <= most;
    if (field.name === 'tickers') return width * Math.max(1, world.tickers.length) <= 600;
    if (field.name === 'observation') return width <= 120;
    if (field.name === 'observations') return belowFigures < 2 && width <= 24;
    if (field.name === 'record') return width <= 60;
    return true;
  }

  #field(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>, place: Place): string | null {
    this.#fields -= 1;
    const args = this.#args(type, field, place);
    if (args === null) return null;
    const name = place.prefix + field.name;
    const isTaken = place.taken.has(name);
    if (isTaken && isLeafType(getNamedType(field.type))) return null;
    const alias = isTaken || this.#dice.chance(0.06) ? `a${this.#aliases++}` : name;
    place.taken.add(alias);
    const head = (alias === field.name ? alias : `${alias}: ${field.name}`) + args.text + this.#condition();
    const named = getNamedType(field.type);
    if (isLeafType(named)) return head;
    const below = this.#selection(named as GraphQLCompositeType, {
      depth: place.depth + 1,
      width: Math.max(1, place.width * args.length),
      taken: new Set(),
      prefix: '',
      belowFigures: place.belowFigures + Number(field.name === 'observations'),
    });
    return `${head} ${below}`;
  }

  #condition(): string {
    if (!this.#dice.chance(0.03)) return '';
    const [directive, usual] = this.#dice.pick([
      ['skip', false],
      ['include', true],
    ] as const);
    const holds = this.#dice.chance(0.7) ? usual : !usual;
    return ` @${directive}(if: ${this.#dice.chance(0.5) ? holds : this.#variable('Boolean!', holds)})`;
  }

  /** Arguments as text, and the number of objects for each one above; null if it would be too much. */
  #args(
    type: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    place: Place,
  ): { text: string; length: number } | null {
    const values = this.#valuesFor(type, field, place);
    if (values === null) return null;
    const texts = Object.entries(values.args).map(([name, value]) => {
      const arg = field.args.find((one) => one.name === name) as GraphQLArgument;
      return `${name}: ${this.#input(arg, value)}`;
    });
    return { text: texts.length === 0 ? '' : `(${texts.join(', ')})`, length: values.length };
  }

  #input(arg: GraphQLArgument, value: unknown): string {
    const isLiteral = String(arg.type).includes('ID') ? false : this.#dice.chance(0.7);
    if (isLiteral) return literal(value);
    const type = String(arg.type);
    const isStricter = !type.endsWith('!') && value !== null && this.#dice.chance(0.3);
    return this.#variable(isStricter ? `${type}!` : type, value);
  }

  #variable(type: string, value: unknown): string {
    const name = `v${this.#variables.size}`;
    this.#variables.set(name, { type, value });
    return `$${name}`;
  }

  #valuesFor(
    type: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    place: Place,
  ): { args: Json; length: number } | null {
    const dice = this.#dice;
    const { world } = this.#drawing;
    const at = `${type.name}.${field.name}`;
    switch (at) {
      case 'Query.country':
        return { args: { code: this.#code() }, length: 1 };
      case 'Query.countries': {
        if (!this.#asksByName || dice.chance(0.25)) return { args: {}, length: world.countries.length };
        const codes = this.#codes(dice.between(0, 6));
        return { args: { codes }, length: codes.length };
      }
      case 'Query.indicator':
        return { args: { key: this.#catalogueKey() }, length: 1 };
      case 'Query.indicators': {
        const args: Record<string, unknown> = {};
        if (dice.chance(0.25)) args.category = dice.pick([...CATEGORIES, 'astrology']);
        if (dice.chance(0.2)) args.hasData = dice.chance(0.7);
        if (dice.chance(0.5)) args.keys = Array.from({ length: dice.below(5) }, () => this.#catalogueKey());
        return { args, length: (args.keys as string[] | undefined)?.length ?? world.indicators.length };
      }
      case 'Query.source':
        return { args: { key: this.#sourceKey() }, length: 1 };
      case 'Query.sources':
        return { args: {}, length: world.sources.length };
      case 'Query.ticker':
        return { args: this.#tickerKey(), length: 1 };
      case 'Query.tickers':
        return this.#tickersArgs();
      case 'Country.tickers':
        return { args: {}, length: Math.ceil(world.tickers.length / world.countries.length) };
      case 'Query.node':
        return { args: { id: this.#id() }, length: 1 };
      case 'Query.nodes':
        return { args: { ids: Array.from({ length: dice.between(1, 4) }, () => this.#id()) }, length: 3 };
      case 'Query._entities':
        return { args: { representations: this.#representations() }, length: 4 };
      case 'Country.observation':
        return { args: { metricKey: this.#key(), ...this.#maxAge() }, length: 1 };
      case 'Indicator.observation':
        return { args: { countryCode: this.#code(), ...this.#maxAge() }, length: 1 };
      case 'Query.observations':
      case 'Country.observations':
      case 'Indicator.observations':
        return this.#observationsArgs(type.name, place);
      default:
        if (field.args.some(isRequiredArgument)) return null;
        return {
          args: {},
          length: at === 'Query.health' ? 1 : 2 - Number(!String(field.type).includes('[')),
        };
    }
  }

  #observationsArgs(typeName: string, place: Place): { args: Json; length: number } | null {
    const dice = this.#dice;
    const { world } = this.#drawing;
    const args: Record<string, unknown> = {};
    const isDear = place.width > 6;
    if (typeName !== 'Country' && (isDear || dice.chance(0.85))) {
      args.countryCodes = this.#codes(dice.chance(0.04) ? 0 : dice.between(1, isDear ? 2 : 7));
    }
    if (typeName !== 'Indicator' && (isDear || dice.chance(0.85))) {
      args.metricKeys = this.#keys(dice.chance(0.04) ? 0 : dice.between(1, isDear ? 2 : 5));
    }
    if (dice.chance(0.5)) args.latest = dice.chance(0.85);
    if (dice.chance(args.latest === true ? 0.2 : 0.3)) args.fromYear = dice.between(1998, 2026);
    if (dice.chance(args.latest === true ? 0.2 : 0.3)) {
      args.toYear = Math.max(dice.between(1998, 2026), Number(args.fromYear ?? 0));
    }
    this.#chooseMore(args);
    Object.assign(args, this.#maxAge());
    const codes = (args.countryCodes as string[] | undefined)?.length ?? world.countries.length;
    const keys = (args.metricKeys as string[] | undefined)?.length ?? world.indicators.length;
    const pairs = (typeName === 'Country' ? 1 : codes) * (typeName === 'Indicator' ? 1 : keys);
    const each = args.latest === true ? 1 : 12;
    const rows = pairs * each * place.width;
    if (rows > this.#rowsLeft) return null;
    this.#rowsLeft -= rows;
    return { args, length: Math.max(1, pairs * each) };
  }

  /** The newest figures up to a year, or of whole countries or places alone. */
  #chooseMore(args: Record<string, unknown>): void {
    const { more: dice } = this.#drawing;
    if (dice.chance(0.08)) {
      args.latest = true;
      args.toYear = Math.max(dice.between(2010, 2026), Number(args.fromYear ?? 0));
    }
    if (dice.chance(0.08)) args.scope = dice.pick(['NATIONAL', 'PLACES', 'ALL']);
  }

  #tickersArgs(): { args: Json; length: number } {
    const dice = this.#dice;
    const { world } = this.#drawing;
    const args: Record<string, unknown> = {};
    const some = world.tickers[dice.below(world.tickers.length)];
    if (dice.chance(0.4)) args.exchangeCode = some?.exchangeCode ?? 'NGX';
    if (dice.chance(0.25)) args.countryCode = this.#code();
    if (dice.chance(0.25)) args.instrumentType = dice.pick(INSTRUMENTS);
    return { args, length: Math.max(1, world.tickers.length / (1 + Object.keys(args).length)) };
  }

  #tickerKey(): Json {
    const { world } = this.#drawing;
    const some = world.tickers[this.#dice.below(world.tickers.length)];
    if (some === undefined || this.#dice.chance(0.1)) return { exchangeCode: 'NGX', symbol: 'NONE' };
    return { exchangeCode: some.exchangeCode, symbol: some.symbol };
  }

  #maxAge(): Json {
    return this.#dice.chance(0.04) ? { maxAge: this.#dice.pick([0, 3600]) } : {};
  }

  #code(): string {
    const dice = this.#dice;
    const known = dice.pick(this.#drawing.world.countries).code;
    const isUnknown = this.#mayBeUnknown && dice.chance(0.25);
    const code = isUnknown ? dice.pick([...UNKNOWN_COUNTRIES, dice.pick([...AFRICA.keys()])]) : known;
    return dice.chance(0.25) ? code.toLowerCase() : code;
  }

  #codes(count: number): string[] {
    return Array.from({ length: count }, () => this.#code());
  }

  #key(): string {
    const dice = this.#dice;
    const known = dice.pick(this.#drawing.world.indicators).key;
    if (!this.#mayBeUnknown || !dice.chance(0.25)) return known;
    return dice.chance(0.3) ? known.toUpperCase() : dice.pick(UNKNOWN_METRICS);
  }

  #keys(count: number): string[] {
    return Array.from({ length: count }, () => this.#key());
  }

  /** A key of the catalogue in its own case: no promise says that others are found. */
  #catalogueKey(): string {
    if (this.#mayBeUnknown && this.#dice.chance(0.25)) return this.#dice.pick(UNKNOWN_METRICS);
    return this.#dice.pick(this.#drawing.world.indicators).key;
  }

  #sourceKey(): string {
    if (this.#mayBeUnknown && this.#dice.chance(0.25)) return 'nobody';
    return this.#dice.pick(this.#drawing.world.sources).key;
  }

  #id(): string {
    const dice = this.#dice;
    const { world } = this.#drawing;
    switch (dice.below(6)) {
      case 0:
        return idOf('Indicator', dice.pick(world.indicators).key);
      case 1:
        return idOf('Source', dice.pick(world.sources).key);
      case 2: {
        const ticker = world.tickers[dice.below(world.tickers.length)];
        if (ticker !== undefined) return idOf('Ticker', ticker.exchangeCode, ticker.symbol);
        return idOf('Country', dice.pick(world.countries).code);
      }
      case 3: {
        const rows = world.rows.filter((row) => row.value !== null);
        const row = rows[dice.below(rows.length)];
        if (row === undefined) return idOf('Country', dice.pick(world.countries).code);
        return figureIdOf(row);
      }
      case 4: {
        const offices = [...world.governments.values()].flatMap((government) => government.offices);
        const office = offices[dice.below(offices.length)];
        if (office !== undefined) return idOf('Office', office.code, office.name, office.roleType);
        return idOf('Country', dice.pick(world.countries).code);
      }
      default:
        return idOf('Country', dice.pick(world.countries).code);
    }
  }

  #representations(): Json[] {
    const dice = this.#dice;
    return Array.from({ length: dice.between(1, 6) }, () => {
      switch (dice.below(5)) {
        case 0:
          return { __typename: 'Indicator', key: this.#catalogueKey() };
        case 1:
          return { __typename: 'Source', key: this.#sourceKey() };
        case 2:
          return { __typename: 'Ticker', ...this.#tickerKey() };
        default:
          return { __typename: 'Country', code: this.#code() };
      }
    });
  }
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, item]) => `${name}: ${literal(item)}`)
    .join(', ')}}`;
}
