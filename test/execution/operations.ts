import {
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
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
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isUnionType,
} from 'graphql';
import type { Dice } from './dice.ts';

export interface DrawnOperation {
  /** The whole document. */
  readonly text: string;
  /** Name of the operation to run, if it has one. */
  readonly name: string | null;
  /** Variables as a client sends them. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * A document that is valid, and the operation of it to run.
 * @param size about how many selections it has
 */
export function drawOperation(schema: GraphQLSchema, dice: Dice, size: number): DrawnOperation {
  return new Draft(schema, dice, size).draw();
}

interface Variable {
  readonly name: string;
  /** Declaration in the document, with its default. */
  readonly declaration: string;
  /** Places at which it may stand. */
  readonly fits: string;
  /** None if the client leaves it out. */
  readonly values: readonly unknown[];
}

interface Fragment {
  readonly name: string;
  readonly type: GraphQLCompositeType;
  readonly text: string;
  readonly size: number;
}

/** Stands in an input for the variable that is written there. */
class Reference {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

const ALIASES = ['a', 'b', 'other', 'constructor', '__proto__', 'toString', 'length'] as const;
const MAX_DEPTH = 7;

class Draft {
  readonly #schema: GraphQLSchema;
  readonly #dice: Dice;
  readonly #fragments: Fragment[] = [];
  readonly #variables: Variable[] = [];
  /** Meaning of each response name: so fields of one name can be merged in any place. */
  readonly #meanings = new Map<string, string>();
  readonly #composites: readonly GraphQLCompositeType[];
  /** Selections that may still be drawn. */
  #budget: number;

  constructor(schema: GraphQLSchema, dice: Dice, size: number) {
    this.#schema = schema;
    this.#dice = dice;
    this.#composites = Object.values(schema.getTypeMap()).filter(
      (type): type is GraphQLCompositeType => isCompositeType(type) && !type.name.startsWith('__'),
    );
    this.#budget = size;
  }

  draw(): DrawnOperation {
    const dice = this.#dice;
    const root = this.#schema.getQueryType() as GraphQLCompositeType;
    const selectionSet = this.#selectionSet(root, 0);
    const isOneOfTwo = dice.chance(0.15);
    const name = isOneOfTwo || dice.chance(0.5) ? 'Wanted' : null;
    const definitions = [this.#operation(name, selectionSet)];
    if (isOneOfTwo) {
      this.#budget = 5;
      definitions.push(this.#operation('Other', this.#selectionSet(root, 0)));
    }
    definitions.push(...this.#fragments.map(fragmentText));
    if (dice.chance(0.3)) definitions.reverse();
    const wanted = this.#variablesOf(selectionSet);
    return {
      text: definitions.join('\n\n'),
      name,
      variables: Object.fromEntries(
        wanted.flatMap(({ name, values }) => (values.length === 0 ? [] : [[name, values[0]]])),
      ),
    };
  }

  #operation(name: string | null, selectionSet: string): string {
    const declarations = this.#variablesOf(selectionSet).map(({ declaration }) => declaration);
    if (name === null && declarations.length === 0) return selectionSet;
    const variables = declarations.length === 0 ? '' : `(${declarations.join(', ')})`;
    return `query ${name ?? ''}${variables} ${selectionSet}`;
  }

  /** Variables in a selection set and in the fragments that it leads to. */
  #variablesOf(selectionSet: string): Variable[] {
    const names = new Set<string>();
    const spread = new Set<string>();
    const look = (text: string) => {
      for (const [, name] of text.matchAll(/\$(\w+)/g)) names.add(name as string);
      for (const [, name] of text.matchAll(/\.\.\.(\w+)/g)) {
        if (spread.has(name as string)) continue;
        spread.add(name as string);
        look(this.#fragments.find((fragment) => fragment.name === name)?.text ?? '');
      }
    };
    look(selectionSet);
    return this.#variables.filter(({ name }) => names.has(name));
  }

  #selectionSet(type: GraphQLCompositeType, depth: number): string {
    const selections: string[] = [];
    const count = 1 + this.#dice.below(depth === 0 ? 4 : 5);
    for (let i = 0; i < count && (i === 0 || this.#budget > 0); i += 1) {
      this.#budget -= 1;
      selections.push(...this.#selections(type, depth));
    }
    return `{ ${selections.join(' ')} }`;
  }

  /** One selection, or a field in two pieces. */
  #selections(type: GraphQLCompositeType, depth: number): string[] {
    const dice = this.#dice;
    if (depth < MAX_DEPTH && this.#budget > 0) {
      if (dice.chance(isAbstractType(type) ? 0.4 : 0.12)) return [this.#inlineFragment(type, depth)];
      if (dice.chance(isAbstractType(type) ? 0.25 : 0.12)) return [this.#spread(type, depth)];
    }
    if (isUnionType(type) || dice.chance(0.08)) return [this.#typename()];
    return this.#field(type, depth);
  }

  #typename(): string {
    const key = this.#dice.chance(0.3) ? this.#keyFor('kind', '__typename') : '__typename';
    return `${label(key, '__typename')}${this.#conditions()}`;
  }

  #inlineFragment(type: GraphQLCompositeType, depth: number): string {
    if (this.#dice.chance(0.2)) return `...${this.#conditions()} ${this.#selectionSet(type, depth)}`;
    const narrowed = this.#dice.pick(this.#overlapping(type));
    return `... on ${narrowed.name}${this.#conditions()} ${this.#selectionSet(narrowed, depth)}`;
  }

  #spread(type: GraphQLCompositeType, depth: number): string {
    const types = this.#overlapping(type);
    const known = this.#fragments.filter(
      (fragment) => types.includes(fragment.type) && fragment.size <= this.#budget,
    );
    const fragment =
      known.length > 0 && this.#dice.chance(0.5)
        ? this.#dice.pick(known)
        : this.#newFragment(this.#dice.pick(types), depth);
    this.#budget -= fragment.size;
    return `...${fragment.name}${this.#conditions()}`;
  }

  /** Adds a fragment to be spread once it is drawn, so that none leads back to itself. */
  #newFragment(type: GraphQLCompositeType, depth: number): Fragment {
    const before = this.#budget;
    const text = this.#selectionSet(type, depth + 1);
    const size = before - this.#budget;
    this.#budget = before;
    const fragment = { name: `On${type.name}${this.#fragments.length}`, type, text, size };
    this.#fragments.push(fragment);
    return fragment;
  }

  #overlapping(type: GraphQLCompositeType): GraphQLCompositeType[] {
    const possible = (of: GraphQLCompositeType) =>
      isAbstractType(of) ? this.#schema.getPossibleTypes(of) : [of];
    const here = possible(type);
    return this.#composites.filter((other) => possible(other).some((concrete) => here.includes(concrete)));
  }

  #field(type: Exclude<GraphQLCompositeType, { getTypes: unknown }>, depth: number): string[] {
    const dice = this.#dice;
    const isDeepEnough = depth >= MAX_DEPTH || this.#budget <= 0;
    const fields = Object.values(type.getFields()).filter(
      (field) => !isDeepEnough || isLeafType(getNamedType(field.type)),
    );
    if (fields.length === 0) return [this.#typename()];
    const composites = fields.filter((field) => isCompositeType(getNamedType(field.type)));
    const field = dice.pick(composites.length > 0 && dice.chance(0.4) ? composites : fields);
    const args = this.#args(field);
    const head = label(this.#key(type, field, args), field.name) + args;
    const below = getNamedType(field.type);
    if (!isCompositeType(below)) return [`${head}${this.#conditions()}`];
    const piece = () => `${head}${this.#conditions()} ${this.#selectionSet(below, depth + 1)}`;
    return dice.chance(0.15) && this.#budget > 0 ? [piece(), piece()] : [piece()];
  }

  /** A response name under which a field merges with all others of that name. */
  #key(type: GraphQLNamedType, field: GraphQLField<unknown, unknown>, args: string): string {
    const isPlain = isObjectType(type) && isLeafType(getNamedType(field.type)) && args === '';
    if (isPlain && this.#dice.chance(0.15)) {
      // Another field on each type: only the type of a leaf has to be the same if those can't meet.
      const key = `either${String(field.type).replace(/\W/g, '_')}`;
      const name = `${type.name}.${key}`;
      if ((this.#meanings.get(name) ?? field.name) === field.name) {
        this.#meanings.set(name, field.name);
        return key;
      }
    }
    const wanted = this.#dice.chance(0.25) ? this.#dice.pick(ALIASES) : field.name;
    return this.#keyFor(wanted, `${field.name}${args}: ${String(field.type)}`);
  }

  #keyFor(wanted: string, meaning: string): string {
    let key = wanted;
    while ((this.#meanings.get(key) ?? meaning) !== meaning) key += '_';
    this.#meanings.set(key, meaning);
    return key;
  }

  #conditions(): string {
    const dice = this.#dice;
    const condition = (directive: string, usual: boolean) => {
      if (!dice.chance(0.07)) return '';
      const holds = dice.chance(0.75) ? usual : !usual;
      return ` @${directive}(if: ${dice.chance(0.5) ? holds : this.#conditionVariable(holds)})`;
    };
    return condition('skip', false) + condition('include', true);
  }

  #conditionVariable(holds: boolean): string {
    const { name } =
      this.#variables.find(({ fits }) => fits === `if ${holds}` && this.#dice.chance(0.5)) ??
      this.#addVariable(`if ${holds}`, [
        { type: 'Boolean!', values: [holds] },
        { type: `Boolean = ${holds}`, values: [] },
        { type: `Boolean! = ${!holds}`, values: [holds] },
      ]);
    return `$${name}`;
  }

  #args({ args }: GraphQLField<unknown, unknown>): string {
    const given = args.filter((arg) => isRequiredArgument(arg) || this.#dice.chance(0.5));
    const texts = given.map((arg) => `${arg.name}: ${this.#literal(this.#input(arg, true), arg.type)}`);
    return texts.length === 0 ? '' : `(${texts.join(', ')})`;
  }

  #input(place: GraphQLArgument | GraphQLInputField, mayRefer: boolean, depth = 0): unknown {
    const hasDefault = place.defaultValue !== undefined;
    return this.#inputOf(place.type, { mayRefer, hasDefault, depth });
  }

  #inputOf(
    type: GraphQLInputType,
    { mayRefer, hasDefault, depth }: { mayRefer: boolean; hasDefault: boolean; depth: number },
  ): unknown {
    const dice = this.#dice;
    if (mayRefer && dice.chance(0.35)) return this.#reference(type, hasDefault);
    if (!isNonNullType(type) && (depth > 3 || dice.chance(0.1))) return null;
    const nullable = getNullableType(type);
    if (isListType(nullable)) {
      const inner = { mayRefer, hasDefault: false, depth: depth + 1 };
      // One item stands for a list of it.
      if (dice.chance(0.2)) return this.#presentInput(nullable.ofType, depth + 1);
      return Array.from({ length: dice.below(3) }, () => this.#inputOf(nullable.ofType, inner));
    }
    if (isInputObjectType(nullable)) {
      const fields = Object.values(nullable.getFields()).filter(
        (field) => isRequiredInputField(field) || dice.chance(0.5),
      );
      return Object.fromEntries(fields.map((field) => [field.name, this.#input(field, mayRefer, depth + 1)]));
    }
    return this.#leaf(nullable);
  }

  #presentInput(type: GraphQLInputType, depth: number): unknown {
    const input = this.#inputOf(type, { mayRefer: false, hasDefault: false, depth });
    if (input !== null) return input;
    const item = getNamedType(type);
    return isInputObjectType(item) ? { ...this.#required(item.getFields()) } : this.#leaf(item);
  }

  #required(fields: Readonly<Record<string, GraphQLInputField>>): Record<string, unknown> {
    const required = Object.values(fields).filter(isRequiredInputField);
    return Object.fromEntries(required.map((field) => [field.name, this.#input(field, false)]));
  }

  #leaf(type: GraphQLInputType): unknown {
    const dice = this.#dice;
    if (isEnumType(type)) return dice.pick(type.getValues()).name;
    return dice.pick(INPUTS[String(type)] ?? ['text', 'with "quotes"', '']);
  }

  #reference(type: GraphQLInputType, hasDefault: boolean): Reference {
    const fits = `${String(type)}${hasDefault ? ' or default' : ''}`;
    const known = this.#variables.filter((variable) => variable.fits === fits);
    if (known.length > 0 && this.#dice.chance(0.4)) return new Reference(this.#dice.pick(known).name);
    const draw = (of: GraphQLInputType) =>
      this.#inputOf(of, { mayRefer: false, hasDefault: false, depth: 1 });
    const nullable = getNullableType(type);
    const declared = (of: GraphQLInputType) => `${String(of)} = ${this.#literal(draw(type), type)}`;
    const kinds = [
      { type: String(type), values: [draw(type)] },
      { type: declared(type), values: [draw(type)] },
      { type: declared(type), values: [] },
    ];
    if (isNonNullType(type)) {
      // Adds one that may stand in place of a non-null type by its default; and is refused there if null is
      // sent.
      kinds.push({ type: declared(nullable), values: [] });
      kinds.push({ type: declared(nullable), values: [draw(nullable)] });
    } else {
      kinds.push({ type: String(type), values: [] });
      kinds.push({ type: `${String(type)}!`, values: [this.#presentInput(type, 1)] });
    }
    if (isNonNullType(type) && hasDefault) kinds.push({ type: String(nullable), values: [draw(nullable)] });
    if (isNonNullType(type) && hasDefault) kinds.push({ type: String(nullable), values: [] });
    return new Reference(this.#addVariable(fits, kinds).name);
  }

  #addVariable(fits: string, kinds: readonly { type: string; values: readonly unknown[] }[]): Variable {
    const { type, values } = this.#dice.pick(kinds);
    const name = `v${this.#variables.length}`;
    const variable = { name, fits, declaration: `$${name}: ${type}`, values };
    this.#variables.push(variable);
    return variable;
  }

  #literal(input: unknown, type: GraphQLInputType): string {
    if (input instanceof Reference) return `$${input.name}`;
    if (input === null) return 'null';
    const nullable = getNullableType(type);
    if (isListType(nullable)) {
      if (!Array.isArray(input)) return this.#literal(input, nullable.ofType);
      return `[${input.map((item) => this.#literal(item, nullable.ofType)).join(', ')}]`;
    }
    if (isInputObjectType(nullable)) {
      const fields = nullable.getFields();
      const texts = Object.entries(input as object).map(
        ([name, value]) => `${name}: ${this.#literal(value, (fields[name] as GraphQLInputField).type)}`,
      );
      return `{${texts.join(', ')}}`;
    }
    return isEnumType(nullable) ? String(input) : untyped(input);
  }
}

function fragmentText({ name, type, text }: Fragment): string {
  return `fragment ${name} on ${type.name} ${text}`;
}

function label(key: string, name: string): string {
  return key === name ? name : `${key}: ${name}`;
}

function untyped(input: unknown): string {
  if (Array.isArray(input)) return `[${input.map(untyped).join(', ')}]`;
  if (typeof input !== 'object' || input === null) return JSON.stringify(input);
  return `{${Object.entries(input).map(([name, value]) => `${name}: ${untyped(value)}`)}}`;
}

const INPUTS: Readonly<Record<string, readonly unknown[]>> = {
  Int: [0, 1, -7, 2 ** 31 - 1],
  Float: [0, 1.5, -2, 1e21],
  Boolean: [true, false],
  ID: ['main', 7, ''],
  CountryCode: ['KE', 'ng'],
  DateTime: ['2026-07-24T03:12:45Z'],
  Even: [2, 4],
  JSON: [1, 'text', { a: [true, null] }],
  _Any: [
    { __typename: 'Country', code: 'KE' },
    { __typename: 'Source', key: 'x' },
  ],
};
