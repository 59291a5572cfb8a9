/**
 * How an operation is sent for a part of its figures: with other values of its variables, if it has them for all that
 * may be narrowed and selects what its figures are of; or else as another document of the same fields, which has.
 */
import { isFixed } from '../fixed-documents.ts';
import { fieldNode, includedIf, type MadeNode, queryNode, textOf, variableDefinition } from './made-nodes.ts';
import type { DocumentNode } from './nodes.ts';
import type { CountryPlan, FigurePlan, Plan, Shape } from './plan.ts';

/** Variables of one field, by its arguments. */
export type Slots = Readonly<Record<string, string>>;

/** Where a row, or a country, says what it is of: names of the answer from the outside in. */
export type Place = readonly string[] | null;

export interface Places {
  readonly country: Place;
  readonly metric: Place;
  readonly year: Place;
}

export interface Form {
  readonly document: DocumentNode;
  /** Null for the operation's own document. */
  readonly text: string | null;
  slotsOf(plan: FigurePlan | CountryPlan): Slots;
  placesOf(plan: FigurePlan | CountryPlan): Places;
}

interface Forms {
  readonly own: Form | null;
  readonly made: Form | null;
}

const forms = new WeakMap<object, Forms>();

/** Null if the operation can't be sent for a part. */
export function formOf(document: DocumentNode, plan: Plan, isTextFixed: boolean): Form | null {
  let both = forms.get(document);
  if (both === undefined) {
    const own = ownForm(document, plan);
    const isEnough =
      own !== null && plan.roots.every((root) => typeof root === 'string' || isFree(root, plan));
    both = { own, made: isEnough || isFixed(document) ? null : madeForm(plan) };
    forms.set(document, both);
  }
  return isTextFixed ? both.own : (both.made ?? both.own);
}

function placesIn(plan: FigurePlan | CountryPlan): Places {
  if (plan.kind === 'countries') return { country: placeIn(plan.leaves, 'code'), metric: null, year: null };
  const { shape } = plan;
  return {
    country: placeIn(shape, 'code', 'country'),
    metric: placeIn(shape, 'key', 'indicator'),
    year: placeIn(shape, 'year'),
  };
}

function placeIn(shape: Shape, leaf: string, parent?: string): Place {
  for (const [response, one] of Object.entries(shape)) {
    if (typeof one === 'string') {
      if (parent === undefined && one === leaf) return [response];
    } else if (one.name === parent) {
      const inner = placeIn(one.shape, leaf);
      if (inner !== null) return [response, ...inner];
    }
  }
  return null;
}

/** True for whatever variables. */
const isLatest = ({ name, args: { latest } }: FigurePlan) =>
  name === 'observation' || (latest?.value === true && latest.variable === undefined);

/** Null unless it selects what each of its figures is of. */
function ownForm(document: DocumentNode, plan: Plan): Form | null {
  const isTold = (one: FigurePlan, isRoot: boolean) => {
    const { country, metric, year } = placesIn(one);
    if (isRoot && country === null) return false;
    if (one.name === 'observations' && metric === null) return false;
    return year !== null || isLatest(one);
  };
  for (const root of plan.roots) {
    if (typeof root === 'string') continue;
    if (root.kind === 'figures' && !isTold(root, true)) return null;
    if (root.kind !== 'countries') continue;
    if (root.name === 'countries' && placesIn(root).country === null) return null;
    if (!root.figures.every((one) => isTold(one, false))) return null;
  }
  const slotsOf = ({ args }: FigurePlan | CountryPlan): Slots =>
    Object.fromEntries(
      Object.entries(args).flatMap(([name, { variable }]) =>
        variable !== undefined && plan.ownVariables.has(variable) ? [[name, variable]] : [],
      ),
    );
  return { document, text: null, slotsOf, placesOf: placesIn };
}

/** True if all that may be narrowed is a variable of its own. */
function isFree(root: FigurePlan | CountryPlan, plan: Plan): boolean {
  const { args } = root;
  const isOwn = (name: string) => plan.ownVariables.has(args[name]?.variable ?? '');
  const isNarrow = (name: string) => {
    const { value, variable } = args[name] ?? {};
    return variable === undefined && (!Array.isArray(value) || value.length < 2);
  };
  const areListsFree = ['countryCodes', 'metricKeys', 'codes'].every((name) => isOwn(name) || isNarrow(name));
  const years = ['fromYear', 'toYear'];
  const areYearsFree = years.every(isOwn) || years.every((name) => args[name] === undefined);
  const areAllFree = areListsFree && areYearsFree;
  return root.kind === 'figures' ? areAllFree : areAllFree && root.figures.every((one) => isFree(one, plan));
}

function madeForm(plan: Plan): Form {
  const slots = new Map<FigurePlan | CountryPlan, Slots>();
  const places = new Map<FigurePlan | CountryPlan, Places>();
  const definitions: MadeNode[] = [];

  function made(one: FigurePlan | CountryPlan, own: string, selections: readonly MadeNode[]): MadeNode {
    const given = Object.entries(one.args).map(([arg, { type }]) => [arg, type]);
    const types: Record<string, string> = Object.fromEntries(given);
    if (one.name === 'observations') Object.assign(types, { fromYear: 'Int', toYear: 'Int' });
    const variables = Object.fromEntries(Object.keys(types).map((arg) => [arg, `${own}${arg}`]));
    const include = `${own}include`;
    for (const [arg, type] of Object.entries(types))
      definitions.push(variableDefinition(`${own}${arg}`, type));
    definitions.push(variableDefinition(include, 'Boolean!'));
    slots.set(one, { ...variables, include });
    return fieldNode(one.response, one.name, selections, variables, [includedIf(include)]);
  }

  function figures(one: FigurePlan, own: string, isRoot: boolean): MadeNode {
    const there = placesIn(one);
    const needs = { country: isRoot, metric: one.name === 'observations', year: !isLatest(one) };
    const added: MadeNode[] = [];
    if (needs.country && there.country === null)
      added.push(fieldNode('cgCountry', 'country', [fieldNode('code', 'code')]));
    if (needs.metric && there.metric === null)
      added.push(fieldNode('cgIndicator', 'indicator', [fieldNode('key', 'key')]));
    if (needs.year && there.year === null) added.push(fieldNode('cgYear', 'year'));
    places.set(one, {
      country: there.country ?? (needs.country ? ['cgCountry', 'code'] : null),
      metric: there.metric ?? (needs.metric ? ['cgIndicator', 'key'] : null),
      year: there.year ?? (needs.year ? ['cgYear'] : null),
    });
    return made(one, own, [...selectionsOf(one.shape), ...added]);
  }

  const roots = plan.roots.flatMap((root, i) => {
    if (typeof root === 'string') return [];
    const own = `cg${i}_`;
    if (root.kind === 'figures') return [figures(root, own, true)];
    const there = placesIn(root);
    places.set(root, { ...there, country: there.country ?? ['cgCode'] });
    const selections = [
      ...selectionsOf(root.leaves),
      ...(there.country === null ? [fieldNode('cgCode', 'code')] : []),
      ...root.figures.map((one, j) => figures(one, `${own}${j}_`, false)),
    ];
    return [made(root, own, selections)];
  });
  const document = { kind: 'Document', definitions: [queryNode(plan.operationName, definitions, roots)] };
  return {
    document: document as DocumentNode,
    text: textOf(document.definitions[0]),
    slotsOf: (one) => slots.get(one) ?? {},
    placesOf: (one) => places.get(one) ?? placesIn(one),
  };
}

function selectionsOf(shape: Shape): readonly MadeNode[] {
  return Object.entries(shape).map(([response, one]) =>
    typeof one === 'string'
      ? fieldNode(response, one)
      : fieldNode(response, one.name, selectionsOf(one.shape)),
  );
}
