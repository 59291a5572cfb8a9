/**
 * Reads an operation into the figures that it selects. Null stands for anything that isn't understood to the last
 * argument: the gateway answers that, and says what is wrong with a document that isn't valid.
 */
import {
  type ArgumentNode,
  constantIn,
  type DefinitionNode,
  type DocumentNode,
  type Location,
  type SelectionNode,
  typeText,
} from './nodes.ts';
import { orNull, understood } from './understood.ts';

/** What an argument is given: a constant, or a variable and its default. */
export interface Given {
  readonly variable?: string;
  readonly value: unknown;
  /** Type of the argument in the schema. */
  readonly type: string;
  readonly isRequired: boolean;
}

/** Of a selection: what it calls each field, and the field's name, or the shape below it. */
export interface Shape {
  readonly [response: string]: string | Below;
}

interface Below {
  readonly name: string;
  readonly shape: Shape;
}

export interface FigurePlan {
  readonly kind: 'figures';
  readonly response: string;
  /** The latest figure of a country stands alone, others in a list. */
  readonly name: 'observation' | 'observations';
  readonly args: Readonly<Record<string, Given>>;
  readonly shape: Shape;
}

export interface CountryPlan {
  readonly kind: 'countries';
  readonly response: string;
  readonly name: 'country' | 'countries';
  readonly args: Readonly<Record<string, Given>>;
  /** Fields of the country itself, by what the operation calls them. */
  readonly leaves: Readonly<Record<string, string>>;
  readonly figures: readonly FigurePlan[];
  /** All response names, in order. */
  readonly order: readonly string[];
}

export interface Plan {
  readonly operationName: string | undefined;
  /** In the order of the operation; a text is `__typename`. */
  readonly roots: readonly (FigurePlan | CountryPlan | string)[];
  /** Variables that are used once, in no list: these alone may be given another value. */
  readonly ownVariables: ReadonlySet<string>;
  /** Of each field, by what it is called and what those around it are, with dots; none if the document names no places. */
  readonly locations: ReadonlyMap<string, readonly Location[]>;
}

const LEAVES =
  'id year period asOfPeriod locationName value unit valueStatus isModelled estimateLow estimateHigh datasetVersion retrievedAt';
const COUNTRY_LEAVES = 'id code name iso3 officialName capital region subregion';

/** Fields that don't change with the moment, and take no call of their own below a figure. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  Observation: {
    ...leaves(LEAVES),
    country: 'CountryOfFigure',
    indicator: 'Indicator',
    source: 'Source',
  },
  CountryOfFigure: leaves('id code name'),
  Country: { ...leaves(COUNTRY_LEAVES), observation: 'Observation', observations: 'Observation' },
  Indicator: leaves('id key name unit'),
  Source: leaves('id key'),
  Query: { country: 'Country', countries: 'Country', observations: 'Observation' },
};

function leaves(names: string): Readonly<Record<string, null>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, null]));
}

const OF_SERIES = {
  metricKeys: '[String!]',
  latest: 'Boolean',
  scope: 'ObservationScope',
  fromYear: 'Int',
  toYear: 'Int',
};
const ARGUMENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Query.country': { code: 'CountryCode!' },
  'Query.countries': { codes: '[CountryCode!]' },
  'Query.observations': { countryCodes: '[CountryCode!]', ...OF_SERIES },
  'Country.observation': { metricKey: 'String!' },
  'Country.observations': OF_SERIES,
};

/** Fields of one operation: beyond these, its gateway may refuse it. */
const MAX_FIELDS = 150;
const MAX_SPREADS = 20;
/** Names of fields that are added (`forms.ts`), and those that objects have by themselves. */
const RESERVED = /^(cg[A-Z].*|__proto__|constructor|toString|valueOf)$/;

interface Entry {
  readonly name: string;
  readonly args: readonly ArgumentNode[];
  readonly argsText: string;
  readonly below: (readonly SelectionNode[])[];
}

/** Fields of one selection. */
interface Collection {
  readonly type: string;
  /** What the fields around it are called, with a dot after each. */
  readonly prefix: string;
  readonly entries: Map<string, Entry>;
}

const plans = new WeakMap<object, Plan | null>();

export function planOf(document: DocumentNode): Plan | null {
  let plan = plans.get(document);
  if (plan === undefined) {
    plan = orNull(() => new Reader(document.definitions).plan());
    plans.set(document, plan);
  }
  return plan;
}

class Reader {
  readonly #operation: DefinitionNode;
  readonly #fragments = new Map<string, DefinitionNode>();
  readonly #usedFragments = new Set<string>();
  readonly #defined = new Map<string, { readonly type: string; readonly value: unknown }>();
  readonly #uses = new Map<string, number>();
  readonly #locations = new Map<string, Location[]>();
  #fields = 0;
  #spreads = 0;

  constructor(definitions: readonly DefinitionNode[]) {
    const operations = definitions.filter(({ kind }) => kind === 'OperationDefinition');
    this.#operation = understood(operations.length === 1 && operations[0]);
    for (const one of definitions) {
      if (one === this.#operation) continue;
      const name = understood(one.kind === 'FragmentDefinition' && one.name?.value);
      understood(!this.#fragments.has(name));
      this.#fragments.set(name, one);
    }
  }

  plan(): Plan {
    const { operation, directives = [], variableDefinitions = [], name } = this.#operation;
    understood(operation === 'query' && directives.length === 0);
    for (const { variable, type, defaultValue, directives: others = [] } of variableDefinitions) {
      const text = typeText(type);
      const value = defaultValue === undefined ? undefined : constantIn(defaultValue, text);
      understood(others.length === 0 && !this.#defined.has(variable.name.value));
      understood(defaultValue === undefined || value !== undefined);
      this.#defined.set(variable.name.value, { type: text, value });
    }
    const roots = [...this.#collected('Query', [this.#selectionsOf(this.#operation)], '')].map(
      ([response, entry]) => this.#root(response, entry),
    );
    understood(this.#usedFragments.size === this.#fragments.size);
    understood(this.#uses.size === this.#defined.size);
    const own = [...this.#uses].flatMap(([variable, uses]) => (uses === 1 ? [variable] : []));
    return { operationName: name?.value, roots, ownVariables: new Set(own), locations: this.#locations };
  }

  #selectionsOf({ selectionSet }: SelectionNode): readonly SelectionNode[] {
    return understood(selectionSet?.selections);
  }

  #root(response: string, entry: Entry): FigurePlan | CountryPlan | string {
    const { name, args, below } = entry;
    if (name === '__typename') return response;
    if (name === 'observations') return this.#figures('Query', response, entry, response);
    const figures: FigurePlan[] = [];
    const leaves: Record<string, string> = {};
    const fields = this.#collected('Country', below, `${response}.`);
    for (const [inner, field] of fields) {
      if (field.name === 'observation' || field.name === 'observations')
        figures.push(this.#figures('Country', inner, field, `${response}.${inner}`));
      else leaves[inner] = this.#leaf(field);
    }
    const country = {
      response,
      name: name as 'country' | 'countries',
      args: this.#args('Query', name, args),
    };
    return { kind: 'countries', ...country, leaves, figures, order: [...fields.keys()] };
  }

  #figures(parent: string, response: string, { name, args, below }: Entry, path: string): FigurePlan {
    return {
      kind: 'figures',
      response,
      name: name as FigurePlan['name'],
      args: this.#args(parent, name, args),
      shape: this.#shape('Observation', below, `${path}.`),
    };
  }

  #shape(type: string, below: readonly (readonly SelectionNode[])[], prefix: string): Shape {
    return Object.fromEntries(
      [...this.#collected(type, below, prefix)].map(([response, field]) => {
        const inner = FIELDS[type]?.[field.name] ?? null;
        if (inner === null) return [response, this.#leaf(field)];
        understood(field.args.length === 0);
        return [
          response,
          { name: field.name, shape: this.#shape(inner, field.below, `${prefix}${response}.`) },
        ];
      }),
    );
  }

  #leaf({ name, args, below }: Entry): string {
    understood(args.length === 0 && below.length === 0);
    return name;
  }

  /** Fields by what they are called, those of fragments among them, in the order of an answer. */
  #collected(
    type: string,
    selections: readonly (readonly SelectionNode[])[],
    prefix: string,
  ): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    for (const some of selections) this.#collect({ type, prefix, entries }, some);
    understood(entries.size > 0);
    return entries;
  }

  #collect(collection: Collection, selections: readonly SelectionNode[]): void {
    understood(selections.length > 0);
    for (const one of selections) {
      understood((one.directives ?? []).length === 0);
      if (one.kind === 'Field') this.#add(collection, one);
      else this.#spread(collection, one);
    }
  }

  #spread(collection: Collection, one: SelectionNode): void {
    const { type } = collection;
    this.#spreads += 1;
    // Of a fragment that contains itself there is no end.
    understood(this.#spreads <= MAX_SPREADS);
    const fragment = one.kind === 'InlineFragment' ? one : this.#fragment(one.name?.value ?? '');
    const condition = fragment.typeCondition?.name.value ?? type;
    understood((fragment.directives ?? []).length === 0);
    understood(condition === type || (condition === 'Country' && type === 'CountryOfFigure'));
    this.#collect(collection, this.#selectionsOf(fragment));
  }

  #fragment(name: string): DefinitionNode {
    this.#usedFragments.add(name);
    return understood(this.#fragments.get(name));
  }

  #add({ type, prefix, entries }: Collection, node: SelectionNode): void {
    const { name, alias, arguments: args = [], selectionSet, loc } = node;
    this.#fields += 1;
    const own = understood(name).value;
    const response = alias?.value ?? own;
    const inner = own === '__typename' ? null : FIELDS[type]?.[own];
    understood(inner !== undefined && this.#fields <= MAX_FIELDS && !RESERVED.test(response));
    understood((inner === null) === (selectionSet === undefined));
    const argsText = args
      .map((arg) => JSON.stringify([arg.name.value, valueText(arg.value)]))
      .sort()
      .join();
    const entry = entries.get(response) ?? { name: own, args, argsText, below: [] };
    understood(entry.name === own && entry.argsText === argsText);
    if (selectionSet !== undefined) entry.below.push(selectionSet.selections);
    entries.set(response, entry);
    if (loc?.startToken !== undefined) {
      const { line, column } = loc.startToken;
      const path = prefix + response;
      this.#locations.set(path, [...(this.#locations.get(path) ?? []), { line, column }]);
    }
    for (const { value } of args) {
      if (value.kind !== 'Variable') continue;
      const variable = value.name?.value ?? '';
      this.#uses.set(variable, (this.#uses.get(variable) ?? 0) + 1);
    }
  }

  #args(parent: string, name: string, args: readonly ArgumentNode[]): Readonly<Record<string, Given>> {
    const types = ARGUMENTS[`${parent}.${name}`] ?? {};
    understood(new Set(args.map((arg) => arg.name.value)).size === args.length);
    return Object.fromEntries(
      args.map((arg) => {
        const type = understood(types[arg.name.value]);
        return [arg.name.value, this.#given(type, arg)];
      }),
    );
  }

  #given(type: string, { value: node }: ArgumentNode): Given {
    if (node.kind !== 'Variable') {
      const value = constantIn(node, type);
      understood(value !== undefined);
      return { value, type, isRequired: false };
    }
    const variable = node.name?.value ?? '';
    const definition = understood(this.#defined.get(variable));
    understood(definition.type === type || definition.type === `${type}!`);
    return { variable, value: definition.value, type, isRequired: definition.type.endsWith('!') };
  }
}

function valueText({ kind, name, value, values }: ArgumentNode['value']): unknown {
  return [kind, name?.value, value, values?.map(valueText)];
}
