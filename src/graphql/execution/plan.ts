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
  isIntrospectionType,
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
  TypeNameMetaFieldDef,
  type ValueNode,
  visit,
} from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js';
import { inspect } from 'graphql/jsutils/inspect.js';

/*
 * Introspection has to be bounded: it takes neither a call nor a key, and a document may select any text of the schema
 * under many aliases. So the characters of its response count as list items, beside the items of its lists.
 */

/** Characters of introspection that count as one list item. */
const CHARACTERS_PER_ITEM = 128;

/** Characters of JSON around a response name and its value. */
const JSON_LENGTH = 8;

const META_FIELDS: readonly GraphQLField<unknown, unknown>[] = [SchemaMetaFieldDef, TypeMetaFieldDef];

/** Characters of one object's JSON without its values; 0 for types other than those of introspection. */
function introspectionLength(type: GraphQLObjectType, fields: readonly FieldPlan[]): number {
  if (!isIntrospectionType(type)) return 0;
  let length = 0;
  for (const { key, by } of fields)
    length += key.length + JSON_LENGTH + (by === 'typename' ? type.name.length : 0);
  return length;
}

/** List items that so many characters of introspection count as. */
export function itemsFor(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_ITEM);
}

/** JavaScript over a variable `v` that serializes most values without a call of the type's `serialize`. */
interface Shortcut {
  /** True for the values that `value` handles. */
  readonly test: string;
  /** Their form in the response. */
  readonly value: string;
}

declare module 'graphql' {
  interface GraphQLScalarTypeExtensions {
    /** Must give the same results as `serialize`. */
    shortcut?: Shortcut;
  }
}

export interface LeafSerializer extends Shortcut {
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

function createLeafSerializer(type: GraphQLLeafType): LeafSerializer {
  const shortcut = isScalarType(type) ? type.extensions.shortcut : undefined;
  const { test, value } = shortcut ?? SHORTCUTS.get(type) ?? NONE;
  const serializeByType = (outputValue: unknown): unknown => {
    const serialized = type.serialize(outputValue);
    if (serialized != null) return serialized;
    const call = `${String(type)}.serialize(${inspect(outputValue)})`;
    throw new Error(`Expected \`${call}\` to return non-nullable value, returned: ${inspect(serialized)}`);
  };
  const code = `return (v) => (${test}) ? ${value} : serializeByType(v);`;
  return { test, value, serialize: new Function('serializeByType', code)(serializeByType) };
}

/** Types live as long as the program. */
const leafSerializers = new WeakMap<GraphQLLeafType, LeafSerializer>();

function leafSerializer(type: GraphQLLeafType): LeafSerializer {
  const existing = leafSerializers.get(type);
  if (existing !== undefined) return existing;
  const serializer = createLeafSerializer(type);
  leafSerializers.set(type, serializer);
  return serializer;
}

export interface ObjectBuilder {
  /**
   * @param fallback makes the value of a property that its type's shortcut doesn't serialize
   * @param columns JSON-ready values by slot, by index of the field in the selection; undefined for fields without a
   * column
   */
  readonly build: (
    object: object,
    slot: number,
    columns: readonly ({ valueAt(slot: number): unknown } | undefined)[],
    fallback: (field: number, slot: number, value: unknown) => unknown,
  ) => object;
  /** True if shortcuts serialize all non-null leaf properties: then none is missing. */
  readonly isPlain: (object: object) => boolean;
}

/** The `info` of a batch resolver. `path` is that of the first parent. */
export interface BatchInfo extends GraphQLResolveInfo {
  /** The path of one of the parents. It may be read at any time, unlike `path` in other resolvers. */
  readonly pathOf: (parent: number) => ResponsePath;
}

/** Returns a value for each parent, in their order. An Error fails its parent alone, a rejection all of them. */
export type BatchResolver<Source, Args, Context, Value> = (
  sources: readonly Source[],
  args: Args,
  context: Context,
  info: BatchInfo,
) => readonly (Value | Error)[] | Promise<readonly (Value | Error)[]>;

declare module 'graphql' {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** Resolves the field for all parents of a selection together. This executor calls it in place of `resolve`. */
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
  /** With the deferred fields, without those of introspection. */
  readonly selected: readonly FieldPlan[];
  /** Null until the first objects: most plans have selections that are never reached. */
  builder: ObjectBuilder | null;
  /** For each object; see `introspectionLength`. */
  readonly introspectionLength: number;
  readonly deferral: ObjectDeferral | undefined;
  /**
   * Fails every object, if set. A nullable variable with a default may be the condition of `@skip` or `@include`: if
   * it is null, the selection is unknown.
   */
  readonly error: GraphQLError | undefined;
}

/** What `@defer` takes out of a selection. */
export interface ObjectDeferral {
  /** Deferred fragments directly in the selection. */
  readonly begins: readonly DeferUsage[];
  /** Fields that are delivered together, since they are in the same deferred fragments. */
  readonly groups: readonly { readonly usages: readonly DeferUsage[]; readonly plan: ObjectPlan }[];
  /** The same selection with nothing deferred. */
  readonly whole: () => ObjectPlan;
}

export interface DeferUsage {
  readonly label: string | undefined;
  readonly parent: DeferUsage | undefined;
}

export interface FieldPlan {
  /** Response name: the alias, if there is one. */
  readonly key: string;
  readonly name: string;
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly isIntrospection: boolean;
  /** The same array in every run, so that results can be cached by it. */
  readonly nodes: readonly FieldNode[];
  /** How the field gets its value. A leaf property is read when the response is built, and has no column. */
  readonly by: 'typename' | 'leaf property' | 'property' | 'resolver' | 'batch';
  readonly shape: Shape;
  /** The `selected` fields of the objects that it may yield, of all types that they can have. */
  readonly below: readonly FieldPlan[];
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
  readonly leaf: LeafSerializer;
}

interface ObjectShape extends Nullable {
  readonly kind: 'object';
  readonly plan: ObjectPlan;
}

export interface AbstractShape extends Nullable {
  readonly kind: 'abstract';
  readonly type: GraphQLAbstractType;
  readonly plans: ReadonlyMap<GraphQLObjectType, ObjectPlan>;
}

export interface ListShape extends Nullable {
  readonly kind: 'list';
  readonly item: Shape;
}

/** By response name. */
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
 * @param collector collects selections; without one, nothing is deferred
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
  const planner = new Planner(schema, rootType, {
    select: (type, nodes) => ({
      fields:
        nodes === null
          ? collectFields(schema, fragments, variables as never, type, operation.selectionSet)
          : collectSubfields(schema, fragments, variables as never, type, nodes),
    }),
  });
  const root = planner.planSelected(rootType, null, collector ?? planner.withoutDefer);
  return { root, schema, operation, fragments };
}

class Planner {
  readonly withoutDefer: FieldCollector;
  readonly #schema: GraphQLSchema;
  readonly #rootType: GraphQLObjectType;
  /** A fragment spread under many parents shares its arguments. */
  readonly #argsByNode = new Map<FieldNode, Pick<FieldPlan, 'definition' | 'args'>>();

  constructor(schema: GraphQLSchema, rootType: GraphQLObjectType, withoutDefer: FieldCollector) {
    this.#schema = schema;
    this.#rootType = rootType;
    this.withoutDefer = withoutDefer;
  }

  planSelected(
    type: GraphQLObjectType,
    nodes: readonly FieldNode[] | null,
    collector: FieldCollector,
  ): ObjectPlan {
    let selection: CollectedSelection;
    try {
      selection = collector.select(type, nodes);
    } catch (error) {
      return objectPlan(type, [], undefined, error as GraphQLError);
    }
    const { fields, deferred } = selection;
    if (deferred === undefined) return this.planObject(type, fields, collector);
    let whole: ObjectPlan | undefined;
    return this.planObject(type, fields, collector, {
      begins: deferred.begins,
      groups: deferred.groups.map(({ usages, fields }) => ({
        usages,
        plan: this.planObject(type, fields, collector),
      })),
      whole: () => {
        whole ??= this.planSelected(type, nodes, this.withoutDefer);
        return whole;
      },
    });
  }

  planObject(
    type: GraphQLObjectType,
    selected: SelectedFields,
    collector: FieldCollector,
    deferral?: ObjectDeferral,
  ): ObjectPlan {
    const fields: FieldPlan[] = [];
    for (const [key, nodes] of selected) {
      const field = this.#planField(type, key, nodes, collector);
      if (field !== null) fields.push(field);
    }
    return objectPlan(type, fields, deferral);
  }

  #planField(
    parentType: GraphQLObjectType,
    key: string,
    nodes: readonly FieldNode[],
    collector: FieldCollector,
  ): FieldPlan | null {
    const node = nodes[0] as FieldNode;
    const name = node.name.value;
    if (name === '__typename')
      return {
        by: 'typename',
        definition: TypeNameMetaFieldDef,
        shape: this.#shapeOf(TypeNameMetaFieldDef.type, nodes, collector),
        below: [],
        isIntrospection: false,
        args: {},
        key,
        name,
        parentType,
        nodes,
      };
    const isRoot = parentType === this.#rootType;
    const meta = isRoot ? META_FIELDS.find((field) => field.name === name) : undefined;
    const definition = meta ?? parentType.getFields()[name];
    if (definition === undefined) return null;
    const shape = this.#shapeOf(definition.type, nodes, collector);
    const isProperty = definition.resolve === undefined || definition.resolve === defaultFieldResolver;
    const args = this.#argsOf(definition, node);
    const by =
      definition.extensions.batch !== undefined
        ? 'batch'
        : !isProperty
          ? 'resolver'
          : // With variables, the arguments may be invalid, which only a run shows.
            shape.kind === 'leaf' && args !== null
            ? 'leaf property'
            : 'property';
    return {
      key,
      name,
      parentType,
      definition,
      isIntrospection: isIntrospectionType(parentType),
      nodes,
      by,
      shape,
      below: selectedBelow(shape),
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

  #shapeOf(outer: GraphQLOutputType, nodes: readonly FieldNode[], collector: FieldCollector): Shape {
    const isNonNull = isNonNullType(outer);
    const type = getNullableType(outer) as GraphQLOutputType;
    if (isListType(type))
      return { kind: 'list', isNonNull, item: this.#shapeOf(type.ofType, nodes, collector) };
    if (isLeafType(type)) return { kind: 'leaf', isNonNull, type, leaf: leafSerializer(type) };
    if (isObjectType(type))
      return { kind: 'object', isNonNull, plan: this.planSelected(type, nodes, collector) };
    if (isInterfaceType(type) || isUnionType(type)) {
      const types = this.#schema.getPossibleTypes(type);
      const plans = new Map(types.map((one) => [one, this.planSelected(one, nodes, collector)]));
      return { kind: 'abstract', isNonNull, type, plans };
    }
    throw new TypeError(`No value can have the type ${String(outer)}.`);
  }
}

function selectedBelow(shape: Shape): readonly FieldPlan[] {
  switch (shape.kind) {
    case 'leaf':
      return [];
    case 'object':
      return shape.plan.selected;
    case 'list':
      return selectedBelow(shape.item);
    case 'abstract':
      return [...shape.plans.values()].flatMap(({ selected }) => selected);
  }
}

function objectPlan(
  type: GraphQLObjectType,
  fields: readonly FieldPlan[],
  deferral: ObjectDeferral | undefined,
  error?: GraphQLError,
): ObjectPlan {
  const deferred = deferral?.groups.flatMap(({ plan }) => plan.fields) ?? [];
  return {
    type,
    fields,
    selected: [...fields, ...deferred].filter(({ name }) => !name.startsWith('__')),
    builder: null,
    introspectionLength: introspectionLength(type, fields),
    deferral,
    error,
  };
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
  // Most documents have neither word, and needn't be walked.
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
