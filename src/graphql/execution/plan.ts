import {
  type DocumentNode,
  defaultFieldResolver,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLAbstractType,
  GraphQLBoolean,
  type GraphQLError,
  type GraphQLField,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLString,
  getArgumentValues,
  getNullableType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isUnionType,
  Kind,
  type OperationDefinitionNode,
  type ResponsePath,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  type ValueNode,
  visit,
} from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js';
import { inspect } from 'graphql/jsutils/inspect.js';

/**
 * Counts introspection. It takes no call and no key, and a document may ask for any text of the schema under as many
 * names as it has room for. So it is counted by its characters, beside the items of its lists, while it is resolved.
 */

/** Characters that count as one list item. */
const CHARACTERS_PER_ITEM = 128;

/** JSON around a field and its value. */
const JSON_LENGTH = 8;

const META_FIELDS: readonly GraphQLField<unknown, unknown>[] = [SchemaMetaFieldDef, TypeMetaFieldDef];

/** True for types of introspection. */
function isOfSchema({ name }: GraphQLObjectType): boolean {
  return name.startsWith('__');
}

/** 0 unless counted; values not included. */
function countedLength(type: GraphQLObjectType, fields: readonly FieldPlan[]): number {
  if (!isOfSchema(type)) return 0;
  let length = 0;
  for (const { key, by } of fields)
    length += key.length + JSON_LENGTH + (by === 'typename' ? type.name.length : 0);
  return length;
}

export function itemsIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_ITEM);
}

/** JavaScript over a variable `v` that serializes most values without asking the type. */
interface Shortcut {
  /** True for the values that `value` handles. */
  readonly test: string;
  /** Their form in the answer. */
  readonly value: string;
}

declare module 'graphql' {
  interface GraphQLScalarTypeExtensions {
    /** Must agree with `serialize`. */
    shortcut?: Shortcut;
  }
}

export interface LeafKind extends Shortcut {
  /**
   * Takes anything but null.
   * @throws if the type refuses the value
   */
  readonly serialize: (value: unknown) => unknown;
}

const STRING: Shortcut = { test: "typeof v === 'string'", value: 'v' };

const NONE: Shortcut = { test: 'false', value: 'v' };

const SHORTCUTS: ReadonlyMap<GraphQLLeafType, Shortcut> = new Map<GraphQLLeafType, Shortcut>([
  [GraphQLString, STRING],
  [GraphQLID, STRING],
  [GraphQLInt, { test: "typeof v === 'number' && (v | 0) === v", value: 'v' }],
  [GraphQLFloat, { test: "typeof v === 'number' && v - v === 0", value: 'v' }],
  [GraphQLBoolean, { test: "typeof v === 'boolean'", value: 'v' }],
]);

function createLeafKind(type: GraphQLLeafType): LeafKind {
  const shortcut = isScalarType(type) ? type.extensions.shortcut : undefined;
  const { test, value } = shortcut ?? SHORTCUTS.get(type) ?? NONE;
  const ask = (given: unknown): unknown => {
    const serialized = type.serialize(given);
    if (serialized != null) return serialized;
    const call = `${String(type)}.serialize(${inspect(given)})`;
    throw new Error(`Expected \`${call}\` to return non-nullable value, returned: ${inspect(serialized)}`);
  };
  return { test, value, serialize: new Function('ask', `return (v) => (${test}) ? ${value} : ask(v);`)(ask) };
}

/** Types live as long as the program. */
const leafKinds = new WeakMap<GraphQLLeafType, LeafKind>();

function leafKind(type: GraphQLLeafType): LeafKind {
  const cachedKind = leafKinds.get(type);
  if (cachedKind !== undefined) return cachedKind;
  const kind = createLeafKind(type);
  leafKinds.set(type, kind);
  return kind;
}

export interface ObjectBuilder {
  /**
   * @param odd handles a value that doesn't go into the answer as it is
   * @param columns JSON-ready values by slot, by index of the field in the selection; undefined for fields without a
   * column
   */
  readonly build: (
    object: object,
    slot: number,
    columns: readonly ({ valueAt(slot: number): unknown } | undefined)[],
    odd: (field: number, slot: number, value: unknown) => unknown,
  ) => object;
  /** True if no non-null property needs a check. */
  readonly isPlain: (object: object) => boolean;
}

/** The `info` of a batch resolver. `path` is that of the first parent. */
export interface BatchInfo extends GraphQLResolveInfo {
  /** The path for one of the parents, at any time. */
  readonly pathOf: (parent: number) => ResponsePath;
}

/** In order of the parents. An Error is the outcome of its parent, a rejection that of all. */
export type BatchResolver<Source, Args, Context, Value> = (
  sources: readonly Source[],
  args: Args,
  context: Context,
  info: BatchInfo,
) => readonly (Value | Error)[] | Promise<readonly (Value | Error)[]>;

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** Replaces `resolve` if many parents are at hand. */
    // biome-ignore lint/suspicious/noExplicitAny: as graphql-js types resolvers of a schema it knows nothing of
    batch?: BatchResolver<any, any, any, any>;
  }
}

export interface Plan {
  readonly root: ObjectPlan;
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
}

export interface ObjectPlan {
  readonly type: GraphQLObjectType;
  readonly fields: readonly FieldPlan[];
  /** Null until the first object: most plans have selections that are never reached. */
  builder: ObjectBuilder | null;
  /** See `countedLength`. */
  readonly countedLength: number;
  readonly deferral: ObjectDeferral | undefined;
  /**
   * The error of each object, if any: a default lets a nullable variable stand in a condition, and if it is null
   * nobody knows which fields are meant.
   */
  readonly error: GraphQLError | undefined;
}

/** What `@defer` delivers apart from the object. */
export interface ObjectDeferral {
  /** Those directly in the selection. */
  readonly begins: readonly DeferUsage[];
  /** Groups of fields that are delivered together, with their fragments. */
  readonly groups: readonly { readonly usages: readonly DeferUsage[]; readonly plan: ObjectPlan }[];
  /** With nothing delivered apart. */
  readonly whole: () => ObjectPlan;
}

export interface DeferUsage {
  readonly label: string | undefined;
  readonly parent: DeferUsage | undefined;
}

export interface FieldPlan {
  /** Name in the answer. */
  readonly key: string;
  readonly name: string;
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly isOfSchema: boolean;
  /** The same array in every run, so that findings can be cached by it. */
  readonly nodes: readonly FieldNode[];
  /** A leaf property is read when the answer is written, and has no column. */
  readonly by: 'typename' | 'leaf property' | 'property' | 'resolver' | 'batch';
  readonly shape: Shape;
  /** Coerced; null if they have variables. */
  readonly args: Record<string, unknown> | null;
}

export type Shape = LeafShape | ObjectShape | AbstractShape | ListShape;

interface Nullable {
  readonly isNonNull: boolean;
}

export interface LeafShape extends Nullable {
  readonly kind: 'leaf';
  readonly type: GraphQLLeafType;
  readonly leaf: LeafKind;
}

interface ObjectShape extends Nullable {
  readonly kind: 'object';
  readonly plan: ObjectPlan;
}

export interface AbstractShape extends Nullable {
  readonly kind: 'abstract';
  readonly type: GraphQLAbstractType;
  readonly planOf: (type: GraphQLObjectType) => ObjectPlan;
}

export interface ListShape extends Nullable {
  readonly kind: 'list';
  readonly item: Shape;
}

/** By name in the answer. */
type SelectedFields = ReadonlyMap<string, readonly FieldNode[]>;

export interface FieldCollector {
  /** @param nodes of the field whose value the object is; null for the operation itself */
  select(type: GraphQLObjectType, nodes: readonly FieldNode[] | null): CollectedSelection;
}

interface CollectedSelection {
  readonly fields: SelectedFields;
  readonly deferred?: {
    readonly begins: readonly DeferUsage[];
    readonly groups: readonly { readonly usages: readonly DeferUsage[]; readonly fields: SelectedFields }[];
  };
}

/**
 * Plans a valid operation. Variables decide which fields `@skip` and `@include` leave, so a plan holds for runs in
 * which those are equal (see {@link conditionsOf}).
 * @param collector collects selections; without one, nothing is delivered apart
 */
export function planOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
  collector?: FieldCollector,
): Plan {
  const rootType = schema.getRootType(operation.operation) as GraphQLObjectType;
  const fragments = fragmentsIn(document);
  const planner = new Planner(rootType, {
    select: (type, nodes) => ({
      fields:
        nodes === null
          ? collectFields(schema, fragments, variables as never, type, operation.selectionSet)
          : collectSubfields(schema, fragments, variables as never, type, nodes),
    }),
  });
  const root = planner.planSelected(rootType, null, collector ?? planner.wholly);
  return { root, schema, operation, fragments };
}

class Planner {
  readonly wholly: FieldCollector;
  readonly #rootType: GraphQLObjectType;
  /** A fragment spread under many parents shares its arguments. */
  readonly #argsByNode = new Map<FieldNode, Pick<FieldPlan, 'definition' | 'args'>>();

  constructor(rootType: GraphQLObjectType, wholly: FieldCollector) {
    this.#rootType = rootType;
    this.wholly = wholly;
  }

  planSelected(type: GraphQLObjectType, nodes: readonly FieldNode[] | null, by: FieldCollector): ObjectPlan {
    let selection: CollectedSelection;
    try {
      selection = by.select(type, nodes);
    } catch (error) {
      return objectPlan(type, [], undefined, error as GraphQLError);
    }
    const { fields, deferred } = selection;
    if (deferred === undefined) return this.planObject(type, fields, by);
    let whole: ObjectPlan | undefined;
    return this.planObject(type, fields, by, {
      begins: deferred.begins,
      groups: deferred.groups.map(({ usages, fields }) => ({
        usages,
        plan: this.planObject(type, fields, by),
      })),
      whole: () => {
        whole ??= this.planSelected(type, nodes, this.wholly);
        return whole;
      },
    });
  }

  planObject(
    type: GraphQLObjectType,
    selected: SelectedFields,
    by: FieldCollector,
    deferral?: ObjectDeferral,
  ): ObjectPlan {
    const fields: FieldPlan[] = [];
    for (const [key, nodes] of selected) {
      const field = this.#planField(type, key, nodes, by);
      if (field !== null) fields.push(field);
    }
    return objectPlan(type, fields, deferral);
  }

  #planField(
    parentType: GraphQLObjectType,
    key: string,
    nodes: readonly FieldNode[],
    collecting: FieldCollector,
  ): FieldPlan | null {
    const node = nodes[0] as FieldNode;
    const name = node.name.value;
    if (name === '__typename')
      return {
        by: 'typename',
        isOfSchema: false,
        args: {},
        key,
        name,
        parentType,
        nodes,
      } as unknown as FieldPlan;
    const isRoot = parentType === this.#rootType;
    const meta = isRoot ? META_FIELDS.find((field) => field.name === name) : undefined;
    const definition = meta ?? parentType.getFields()[name];
    if (definition === undefined) return null;
    const shape = this.#shapeOf(definition.type, nodes, collecting);
    const isProperty = definition.resolve === undefined || definition.resolve === defaultFieldResolver;
    const args = this.#argsOf(definition, node);
    const by =
      definition.extensions.batch !== undefined
        ? 'batch'
        : !isProperty
          ? 'resolver'
          : // Arguments that are known with the variables may be an error.
            shape.kind === 'leaf' && args !== null
            ? 'leaf property'
            : 'property';
    return {
      key,
      name,
      parentType,
      definition,
      isOfSchema: isOfSchema(parentType),
      nodes,
      by,
      shape,
      args,
    };
  }

  #argsOf(definition: FieldPlan['definition'], node: FieldNode): FieldPlan['args'] {
    const cachedArgs = this.#argsByNode.get(node);
    if (cachedArgs?.definition === definition) return cachedArgs.args;
    const args = node.arguments?.some(({ value }) => hasVariable(value))
      ? null
      : getArgumentValues(definition, node);
    this.#argsByNode.set(node, { definition, args });
    return args;
  }

  #shapeOf(outer: GraphQLOutputType, nodes: readonly FieldNode[], by: FieldCollector): Shape {
    const isNonNull = isNonNullType(outer);
    const type = getNullableType(outer) as GraphQLOutputType;
    if (isListType(type)) return { kind: 'list', isNonNull, item: this.#shapeOf(type.ofType, nodes, by) };
    if (isLeafType(type)) return { kind: 'leaf', isNonNull, type, leaf: leafKind(type) };
    if (isObjectType(type)) return { kind: 'object', isNonNull, plan: this.planSelected(type, nodes, by) };
    if (isInterfaceType(type) || isUnionType(type)) {
      const plans = new Map<GraphQLObjectType, ObjectPlan>();
      const planOf = (concrete: GraphQLObjectType): ObjectPlan => {
        const plan = plans.get(concrete) ?? this.planSelected(concrete, nodes, by);
        plans.set(concrete, plan);
        return plan;
      };
      return { kind: 'abstract', isNonNull, type, planOf };
    }
    throw new TypeError(`No value can have the type ${String(outer)}.`);
  }
}

function objectPlan(
  type: GraphQLObjectType,
  fields: readonly FieldPlan[],
  deferral: ObjectDeferral | undefined,
  error?: GraphQLError,
): ObjectPlan {
  return { type, fields, builder: null, countedLength: countedLength(type, fields), deferral, error };
}

function hasVariable(value: ValueNode): boolean {
  if (value.kind === Kind.LIST) return value.values.some(hasVariable);
  if (value.kind === Kind.OBJECT) return value.fields.some((field) => hasVariable(field.value));
  return value.kind === Kind.VARIABLE;
}

export function fragmentsIn(document: DocumentNode): Record<string, FragmentDefinitionNode> {
  const fragments: Record<string, FragmentDefinitionNode> = {};
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  return fragments;
}

/** Variables of `@skip` and `@include`, which alone decide the selection. */
export function conditionsOf(document: DocumentNode): readonly string[] {
  // Most texts lack both words, and need no walk.
  const text = document.loc?.source.body;
  if (text !== undefined && !/skip|include/.test(text)) return [];
  const names = new Set<string>();
  visit(document, {
    Directive(node) {
      if (node.name.value !== 'skip' && node.name.value !== 'include') return;
      for (const { value } of node.arguments ?? []) {
        if (value.kind === Kind.VARIABLE) names.add(value.name.value);
      }
    },
  });
  return [...names];
}
