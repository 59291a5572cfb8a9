import type { GraphQLObjectType, GraphQLOutputType, GraphQLResolveInfo, ResponsePath } from 'graphql';
import type { Holder } from './columns.ts';
import type { BatchInfo, FieldPlan, Plan } from './plan.ts';

type Variables = Readonly<Record<string, unknown>>;

/** The type without the members that other packages add to it and graphql-js 16 doesn't have. */
type OwnInfo = Omit<GraphQLResolveInfo, 'getAbortSignal' | 'getAsyncHelpers'>;

/**
 * The `info` of resolvers of one field, one after the other. The path is made only if it is read, and has to be read
 * before the resolver returns: after that, it is the turn of other objects.
 */
export class FieldInfo implements OwnInfo {
  readonly fieldName: string;
  readonly fieldNodes: FieldPlan['nodes'];
  readonly returnType: GraphQLOutputType;
  readonly parentType: GraphQLObjectType;
  readonly schema: Plan['schema'];
  readonly fragments: Plan['fragments'];
  readonly rootValue = undefined;
  readonly operation: Plan['operation'];
  readonly variableValues: { [variable: string]: unknown };
  /** The slot whose resolver runs; negative if none does. */
  slot = 0;
  protected readonly holder: Holder;

  constructor(
    { schema, fragments, operation }: Plan,
    variables: Variables,
    field: FieldPlan,
    holder: Holder,
  ) {
    this.fieldName = field.name;
    this.fieldNodes = field.nodes;
    this.returnType = field.definition.type;
    this.parentType = field.parentType;
    this.schema = schema;
    this.fragments = fragments;
    this.operation = operation;
    this.variableValues = variables as { [variable: string]: unknown };
    this.holder = holder;
  }

  get path(): ResponsePath {
    if (this.slot >= 0) return this.holder.path(this.slot) as ResponsePath;
    throw new TypeError('A resolver reads info.path before it returns, or not at all.');
  }
}

/** The `info` of a batch resolver: with the path of its first parent, and at any time that of each other. */
export class TogetherInfo extends FieldInfo implements Pick<BatchInfo, keyof OwnInfo | 'pathOf'> {
  /** The arguments that it was made of. */
  readonly given: readonly [Plan, Variables, FieldPlan, Holder, readonly (object | null)[]];
  readonly #asked: readonly (object | null)[];
  #slots: readonly number[] | undefined;

  /** @param asked the objects by slot, null for those that are no parents */
  constructor(
    plan: Plan,
    variables: Variables,
    field: FieldPlan,
    holder: Holder,
    asked: readonly (object | null)[],
  ) {
    super(plan, variables, field, holder);
    this.#asked = asked;
    this.given = [plan, variables, field, holder, asked];
  }

  override get path(): ResponsePath {
    return this.pathOf(0);
  }

  pathOf(parent: number): ResponsePath {
    return this.holder.path(this.#slotOf(parent)) as ResponsePath;
  }

  #slotOf(parent: number): number {
    if (parent === 0) return this.#asked.findIndex((object) => object !== null);
    this.#slots ??= this.#asked.flatMap((object, slot) => (object === null ? [] : slot));
    return this.#slots[parent] as number;
  }
}

/**
 * The `info` of a batch resolver whose parents are of several runs: the parents of each run come after those of the one
 * before.
 */
export class PooledInfo extends TogetherInfo {
  readonly #infos: readonly (readonly [info: TogetherInfo, parents: number])[];

  constructor(infos: readonly (readonly [info: TogetherInfo, parents: number])[]) {
    super(...(infos[0] as [TogetherInfo, number])[0].given);
    this.#infos = infos;
  }

  override pathOf(parent: number): ResponsePath {
    let before = 0;
    for (const [info, parents] of this.#infos) {
      if (parent < before + parents) return info.pathOf(parent - before);
      before += parents;
    }
    return super.pathOf(parent);
  }
}
