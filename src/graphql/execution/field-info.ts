import type { GraphQLObjectType, GraphQLOutputType, GraphQLResolveInfo, ResponsePath } from 'graphql';
import type { FieldPlan, Plan } from './plan.ts';
import type { Holder } from './positions.ts';

type Variables = Readonly<Record<string, unknown>>;

declare module 'graphql' {
  interface GraphQLResolveInfo {
    /** That of the operation, and of the field that is being resolved; graphql-js has none. */
    readonly plan: Plan;
    readonly field: FieldPlan;
  }
}

/** Without the members that other packages declare, and that graphql-js 16 doesn't set. */
type OwnInfo = Omit<GraphQLResolveInfo, 'getAbortSignal' | 'getAsyncHelpers'>;

/** One object for all objects that a field is resolved on, in turn: a resolver has to read `path` before it returns. */
export class FieldInfo implements OwnInfo {
  readonly plan: Plan;
  readonly field: FieldPlan;
  readonly fieldName: string;
  readonly fieldNodes: FieldPlan['nodes'];
  readonly returnType: GraphQLOutputType;
  readonly parentType: GraphQLObjectType;
  readonly schema: Plan['schema'];
  readonly fragments: Plan['fragments'];
  readonly rootValue = undefined;
  readonly operation: Plan['operation'];
  readonly variableValues: { [variable: string]: unknown };
  /** Of the object that the field is being resolved on; negative while no resolver runs. */
  slot = 0;
  protected readonly holder: Holder;

  constructor(plan: Plan, variables: Variables, field: FieldPlan, holder: Holder) {
    const { schema, fragments, operation } = plan;
    this.plan = plan;
    this.field = field;
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

/** An `info` of one path for good: for reading after a resolver has returned, or as that of another field. */
export function infoAt(info: GraphQLResolveInfo, path: ResponsePath): GraphQLResolveInfo {
  return Object.create(info, { path: { value: path } });
}

export type ResolveBatch = (call: {
  readonly field: FieldPlan;
  readonly objects: readonly object[];
  readonly args: Record<string, unknown>;
  readonly context: unknown;
  readonly info: FieldBatchInfo;
}) => readonly unknown[] | PromiseLike<readonly unknown[]>;

/** The `info` of a batch resolver (`BatchInfo`): it can be read at any time. */
export class FieldBatchInfo extends FieldInfo {
  /** Its constructor arguments. */
  readonly constructedWith: readonly [Plan, Variables, FieldPlan, Holder, readonly (object | null)[]];
  readonly #objects: readonly (object | null)[];
  #slots: readonly number[] | undefined;

  /** @param objects by slot; null where there is no parent */
  constructor(
    plan: Plan,
    variables: Variables,
    field: FieldPlan,
    holder: Holder,
    objects: readonly (object | null)[],
  ) {
    super(plan, variables, field, holder);
    this.#objects = objects;
    this.constructedWith = [plan, variables, field, holder, objects];
  }

  override get path(): ResponsePath {
    return this.pathOf(0);
  }

  pathOf(parent: number): ResponsePath {
    return this.holder.path(this.#slotOf(parent)) as ResponsePath;
  }

  #slotOf(parent: number): number {
    if (parent === 0) return this.#objects.findIndex((object) => object !== null);
    this.#slots ??= this.#objects.flatMap((object, slot) => (object === null ? [] : slot));
    return this.#slots[parent] as number;
  }
}
