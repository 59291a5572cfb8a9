import {
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  GraphQLSkipDirective,
  getDirectiveValues,
  type InlineFragmentNode,
  isAbstractType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  typeFromAST,
} from 'graphql';
import type { DeferUsage, FieldCollector, Plan } from '../execution/plan.ts';

interface DeferralScope extends Omit<Plan, 'root'> {
  /** Coerced. */
  readonly variables: Readonly<Record<string, unknown>>;
}

interface DeferringCollector extends FieldCollector {
  /** True once a selection was collected of which something is deferred. */
  isUsed(): boolean;
}

interface FieldDetails {
  readonly node: FieldNode;
  readonly usage: DeferUsage | undefined;
}

/** The selections behind a list of nodes, and the fragments that they are delivered with. */
interface Origin {
  readonly details: readonly FieldDetails[];
  readonly usages: UsageSet;
}

type UsageSet = ReadonlySet<DeferUsage>;

const NONE: UsageSet = new Set();

/**
 * Collects each field once, by the draft specification (Incremental Delivery, v0.2). A field that is also selected
 * outside of deferred fragments isn't deferred; one that several fragments defer comes with the first to complete.
 */
export function createDeferringCollector(scope: DeferralScope): DeferringCollector {
  let isUsed = false;
  const origin = Symbol('origin');
  type Nodes = readonly FieldNode[] & { [origin]?: Origin };

  function select(type: GraphQLObjectType, nodes: Nodes | null) {
    const collected = new CollectedFields(scope, type);
    const { details, usages } = nodes?.[origin] ?? { details: [], usages: NONE };
    if (nodes === null) collected.add(scope.operation.selectionSet, undefined);
    for (const { node, usage } of details) {
      if (node.selectionSet) collected.add(node.selectionSet, usage);
    }
    return grouped(collected, usages);
  }

  function grouped(
    { fields, begins }: CollectedFields,
    usageSet: UsageSet,
  ): ReturnType<FieldCollector['select']> {
    const here = new Map<string, readonly FieldNode[]>();
    const groups: { readonly usages: UsageSet; readonly fields: Map<string, readonly FieldNode[]> }[] = [];
    for (const [key, details] of fields) {
      const usages = outermost(details);
      const isHere = isSame(usages, usageSet);
      let group = isHere ? undefined : groups.find((other) => isSame(other.usages, usages));
      if (!isHere && group === undefined) {
        group = { usages, fields: new Map() };
        groups.push(group);
      }
      const nodes: Nodes = Object.assign([...new Set(details.map(({ node }) => node))], {
        [origin]: { details, usages },
      });
      (group?.fields ?? here).set(key, nodes);
    }
    if (groups.length === 0 && begins.length === 0) return { fields: here };
    isUsed = true;
    return {
      fields: here,
      deferred: { begins, groups: groups.map(({ usages, fields }) => ({ usages: [...usages], fields })) },
    };
  }

  return { select, isUsed: () => isUsed };
}

class CollectedFields {
  readonly fields = new Map<string, FieldDetails[]>();
  readonly begins: DeferUsage[] = [];
  readonly #scope: DeferralScope;
  readonly #type: GraphQLObjectType;
  readonly #seen = new Map<DeferUsage | undefined, Set<string>>();

  constructor(scope: DeferralScope, type: GraphQLObjectType) {
    this.#scope = scope;
    this.#type = type;
  }

  add({ selections }: SelectionSetNode, usage: DeferUsage | undefined): void {
    for (const selection of selections) {
      if (!this.#isIncluded(selection)) continue;
      if (selection.kind === Kind.FIELD) this.#addField(selection, usage);
      else this.#addFragment(selection, usage);
    }
  }

  #addField(node: FieldNode, usage: DeferUsage | undefined): void {
    const key = (node.alias ?? node.name).value;
    const details = this.fields.get(key);
    if (details === undefined) this.fields.set(key, [{ node, usage }]);
    else details.push({ node, usage });
  }

  #addFragment(selection: FragmentSpreadNode | InlineFragmentNode, around: DeferUsage | undefined): void {
    const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
    const fragment = isSpread ? this.#scope.fragments[selection.name.value] : selection;
    if (fragment === undefined || !this.#applies(fragment)) return;
    const begun = this.#begunBy(selection, around);
    const usage = begun ?? around;
    if (isSpread && begun === undefined && !this.#isFirst(selection.name.value, usage)) return;
    if (begun !== undefined) this.begins.push(begun);
    this.add(fragment.selectionSet, usage);
  }

  /** Undefined if nothing is deferred here, or the directive is switched off. */
  #begunBy(selection: SelectionNode, parent: DeferUsage | undefined): DeferUsage | undefined {
    const { schema, variables } = this.#scope;
    const defer = schema.getDirective('defer');
    const values = defer && getDirectiveValues(defer, selection, variables);
    if (!values || values.if === false) return undefined;
    return { label: typeof values.label === 'string' ? values.label : undefined, parent };
  }

  #isFirst(name: string, usage: DeferUsage | undefined): boolean {
    const names = this.#seen.get(usage) ?? new Set();
    this.#seen.set(usage, names);
    if (names.has(name)) return false;
    names.add(name);
    return true;
  }

  #applies({ typeCondition }: FragmentDefinitionNode | InlineFragmentNode): boolean {
    if (typeCondition === undefined) return true;
    const { schema } = this.#scope;
    const condition = typeFromAST(schema, typeCondition);
    if (condition === this.#type) return true;
    return isAbstractType(condition) && schema.isSubType(condition, this.#type);
  }

  #isIncluded(selection: SelectionNode): boolean {
    if (!selection.directives?.length) return true;
    const { variables } = this.#scope;
    return (
      getDirectiveValues(GraphQLSkipDirective, selection, variables)?.if !== true &&
      getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.if !== false
    );
  }
}

/** Without those nested in others of them; none if the field isn't deferred. */
function outermost(details: readonly FieldDetails[]): UsageSet {
  const usages = new Set<DeferUsage>();
  for (const { usage } of details) {
    if (usage === undefined) return NONE;
    usages.add(usage);
  }
  for (const usage of usages) {
    for (let around = usage.parent; around !== undefined; around = around.parent) {
      if (!usages.has(around)) continue;
      usages.delete(usage);
      break;
    }
  }
  return usages;
}

function isSame(one: UsageSet, other: UsageSet): boolean {
  if (one.size !== other.size) return false;
  for (const usage of one) if (!other.has(usage)) return false;
  return true;
}
