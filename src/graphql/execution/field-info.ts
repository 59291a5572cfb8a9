import type { GraphQLObjectType, GraphQLOutputType, GraphQLResolveInfo, ResponsePath } from 'graphql';
import type { FieldPlan, Plan } from './plan.ts';
import type { Holder } from './positions.ts';

type Variables = Readonly<Record<string, unknown>>;

/** Without members that other packages add, and graphql-js 16 doesn't have. */
type OwnInfo = Omit<GraphQLResolveInfo, 'getAbortSignal' | 'getAsyncHelpers'>;

/** Shared by all resolvers of a field in turn: each has to read the path before it returns. */
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
  /** Negative while no resolver runs. */
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

export type ResolveTogether = (call: {
  readonly field: FieldPlan;
  readonly objects: readonly object[];
  readonly args: Record<string, unknown>;
  readonly context: unknown;
  readonly info: TogetherInfo;
}) => readonly unknown[] | PromiseLike<readonly unknown[]>;

/** `path` is that of the first parent. */
export class TogetherInfo extends FieldInfo {
  /** Its own constructor arguments. */
  readonly given: readonly [Plan, Variables, FieldPlan, Holder, readonly (object | null)[]];
  readonly #asked: readonly (object | null)[];
  #slots: readonly number[] | undefined;

  /** @param asked objects by slot, null for those that are no parents */
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
