import { setImmediate } from 'node:timers/promises';
import {
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  GraphQLDirective,
  GraphQLError,
  type GraphQLFormattedError,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  type InlineFragmentNode,
  isAbstractType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  typeFromAST,
  visit,
} from 'graphql';
import { byteLengthOf } from '../execution/columns.ts';
import { IncrementalRun } from '../execution/incremental.ts';
import { type DeferUsage, type FieldCollector, fragmentsIn, planOperation } from '../execution/plan.ts';
import type { Executed, runPlan } from '../execution/run.ts';
import { withoutMultipart } from './accept.ts';
import type { PlannedOperation } from './prepared-operation.ts';
import { readsSchemaAlone } from './schema-reads.ts';

/** The operation that a collector is made of, with the variables of its directives. */
interface DeferralScope {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  /** Coerced. */
  readonly variables: Readonly<Record<string, unknown>>;
}

interface FieldDetails {
  readonly node: FieldNode;
  readonly usage: DeferUsage | undefined;
}

/** The origin of a list of nodes: their selections, and the fragments that they are delivered with. */
interface Origin {
  readonly details: readonly FieldDetails[];
  readonly usages: UsageSet;
}

type UsageSet = ReadonlySet<DeferUsage>;

const NONE: UsageSet = new Set();

/**
 * True if an operation has a `@defer` that is not switched off. Others of its document have variables of
 * their own, and nothing is known of those.
 */
export function hasActiveDeferrals({ schema, operation, fragments, variables }: DeferralScope): boolean {
  let isActive = false;
  const look = (node: FieldNode | FragmentSpreadNode | InlineFragmentNode) => {
    for (const directive of node.directives ?? []) {
      if (directive.name.value !== 'defer') continue;
      if (valuesOf(schema, directive, node, variables) !== null) isActive = true;
    }
  };
  // A set goes through what is added on the way, too.
  const reached = new Set<OperationDefinitionNode | FragmentDefinitionNode>([operation]);
  const follow = (node: FragmentSpreadNode) => {
    look(node);
    const fragment = fragments[node.name.value];
    if (fragment !== undefined) reached.add(fragment);
  };
  for (const node of reached) visit(node, { Field: look, FragmentSpread: follow, InlineFragment: look });
  return isActive;
}

/** The values of a directive; null if it is switched off. */
function valuesOf(
  schema: GraphQLSchema,
  directive: DirectiveNode,
  node: { readonly directives?: readonly DirectiveNode[] },
  variables: DeferralScope['variables'],
) {
  const definition = schema.getDirective(directive.name.value);
  if (!(definition instanceof GraphQLDirective)) return null;
  const values = getDirectiveValues(definition, node, variables) ?? {};
  if (values.if === false) return null;
  return { label: typeof values.label === 'string' ? values.label : undefined };
}

/**
 * Collects selections by `@defer`, each field once, as the draft of the specification says (Incremental
 * Delivery, v0.2). A field that is selected outside of a deferred fragment too isn't deferred. One that several
 * fragments defer goes with the first of them to be complete.
 */
export function createDeferringCollector(scope: DeferralScope): FieldCollector {
  /** Nodes of a field, of which each plan has a list of its own, with their origin. */
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

  /** Keeps the fields that belong to the selection itself in place, and puts the others in groups. */
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
    return {
      fields: here,
      deferred: { begins, groups: groups.map(({ usages, fields }) => ({ usages: [...usages], fields })) },
    };
  }

  return { select };
}

/** The fields of one selection, and the deferred fragments that begin there. */
class CollectedFields {
  readonly fields = new Map<string, FieldDetails[]>();
  readonly begins: DeferUsage[] = [];
  readonly #scope: DeferralScope;
  readonly #type: GraphQLObjectType;
  /** Names of the fragments that were looked into, by the deferred fragment around them. */
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
    const directive = selection.directives?.find(({ name }) => name.value === 'defer');
    const values = directive && valuesOf(this.#scope.schema, directive, selection, this.#scope.variables);
    const begun = values == null ? undefined : { label: values.label, parent: around };
    const usage = begun ?? around;
    if (isSpread && begun === undefined && !this.#isFirst(selection.name.value, usage)) return;
    if (begun !== undefined) this.begins.push(begun);
    this.add(fragment.selectionSet, usage);
  }

  /** True if a fragment that is spread as it is has anything to add. */
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

/** The deferred fragments that a field belongs to, but for those within others of them; none if it isn't deferred. */
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

/** A part of an answer, written: an object's fields. */
interface WrittenPart {
  /** True if nothing has come of it: then its errors are those of the part that it belongs to. */
  readonly isLost: boolean;
  /** JSON; null if the part is lost. */
  readonly data: string | null;
  readonly errors: readonly GraphQLFormattedError[];
}

type DeliveredPart = ReturnType<IncrementalRun<WrittenPart>['take']>[number];

/** The form of the parts of an answer: members of one JSON object, without those that all formats have. */
interface DeliveryFormat {
  /** The parameter of `Content-Type` beside the boundary. */
  readonly parameter: string;
  /** Writes the members of the first part that announce the parts to come. */
  first(pending: readonly DeliveredPart[]): string;
  /** Returns an empty text if there is nothing to say. */
  next(parts: readonly DeliveredPart[]): string;
}

/**
 * The draft of 2022-08-24: each part names its path and label. A part whose object is within the fragment comes before
 * the fragment's own, which has the label.
 */
const DRAFT_2022: DeliveryFormat = {
  parameter: 'deferSpec=20220824',
  first: () => '',
  next: (parts) => list('incremental', parts.flatMap(entriesOf2022)),
};

/** The format of graphql-js 17 (alpha 9): each part to come is announced by an identifier, and said to be complete. */
const DRAFT_V02: DeliveryFormat = {
  parameter: 'incrementalSpec=v0.2',
  first: (pending) => list('pending', pending.flatMap(pendingOf)),
  next: (parts) =>
    [
      list('pending', parts.flatMap(pendingOf)),
      list('incremental', parts.flatMap(entriesOfV02)),
      list('completed', parts.flatMap(completedOf)),
    ].join(''),
};

/**
 * Opens the delivery of an answer whose client accepts parts.
 * @returns the delivery, and the `Accept` header without the types of such answers; null if no known format is asked for
 */
export function openDelivery(accepts: string) {
  const format = deliveryFormatFor(accepts);
  return format && { delivery: new Delivery(format), accept: withoutMultipart(accepts) };
}

/**
 * Returns the format that an `Accept` header asks for; null if it asks for none that is known. Clients that name no
 * version, as GraphiQL and urql do, know the older one.
 */
function deliveryFormatFor(accepts: string): DeliveryFormat | null {
  for (const range of accepts.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (type !== 'multipart/mixed' || parameters.some((parameter) => RULED_OUT.test(parameter))) continue;
    const versions = parameters
      .map((parameter) => parameter.replace(/ *= *"?([^"]*)"?$/, '=$1'))
      .filter((parameter) => /^(defer|incremental)spec=/.test(parameter));
    if (versions.length === 0) return DRAFT_2022;
    const format = [DRAFT_2022, DRAFT_V02].find(({ parameter }) =>
      versions.includes(parameter.toLowerCase()),
    );
    if (format !== undefined) return format;
  }
  return null;
}

const RULED_OUT = /^q *= *0(\.0*)?$/;

function entriesOf2022(delivered: DeliveredPart): string[] {
  const { path, label } = delivered.of;
  const labelled = label === undefined ? '' : `"label":${JSON.stringify(label)},`;
  if (delivered.kind === 'pending') return [];
  const at = JSON.stringify(path);
  if (delivered.failed !== null)
    return [`{${labelled}"path":${at},"data":null${errorsOf(delivered.failed)}}`];
  const isWithin = (part: (typeof delivered.parts)[number]) => part.path.length > path.length;
  const within = delivered.parts
    .filter(isWithin)
    .map(({ path, part }) => `{"path":${JSON.stringify(path)},"data":${part.data}${errorsOf(part)}}`);
  const newParts = delivered.parts.filter((part) => !isWithin(part)).map(({ part }) => part);
  const last = newParts.pop();
  return [
    ...within,
    ...newParts.map((part) => `{"path":${at},"data":${part.data}${errorsOf(part)}}`),
    `{${labelled}"path":${at},"data":${last?.data ?? '{}'}${last === undefined ? '' : errorsOf(last)}}`,
  ];
}

function pendingOf(delivered: DeliveredPart): string[] {
  if (delivered.kind !== 'pending') return [];
  const { id, path, label } = delivered.of;
  return [JSON.stringify({ id: String(id), path, label })];
}

function entriesOfV02(delivered: DeliveredPart): string[] {
  if (delivered.kind !== 'fragment') return [];
  const id = idOf(delivered.of);
  const above = delivered.of.path.length;
  return delivered.parts.map(({ path, part }) => {
    const below = path.slice(above);
    const subPath = below.length === 0 ? '' : `,"subPath":${JSON.stringify(below)}`;
    return `{${id}${subPath},"data":${part.data}${errorsOf(part)}}`;
  });
}

function completedOf(delivered: DeliveredPart): string[] {
  if (delivered.kind !== 'fragment') return [];
  return [`{${idOf(delivered.of)}${delivered.failed === null ? '' : errorsOf(delivered.failed)}}`];
}

const idOf = ({ id }: DeliveredPart['of']) => `"id":"${id}"`;

function errorsOf({ errors }: WrittenPart): string {
  return errors.length === 0 ? '' : `,"errors":${JSON.stringify(errors)}`;
}

function list(name: string, entries: readonly string[]): string {
  return entries.length === 0 ? '' : `"${name}":[${entries.join(',')}],`;
}

interface FirstPart {
  /** JSON. */
  readonly data: string;
  readonly errors: readonly GraphQLFormattedError[];
  /** Called with all errors once all parts are there. Returns the last part's members that concern the whole. */
  readonly onOver: (errors: readonly GraphQLFormattedError[]) => object;
}

const BOUNDARY = '-';

/**
 * One answer on its way in parts, from its request to the last of them. Parts are written once they are there, and sent
 * as fast as their reader takes them. Parts that come in between go together.
 */
export class Delivery {
  readonly contentType: string;
  readonly #format: DeliveryFormat;
  #run: IncrementalRun<WrittenPart> | null = null;
  #first: FirstPart = { data: 'null', errors: [], onOver: () => ({}) };
  #errors: GraphQLFormattedError[] = [];
  #bytes = 0;
  #over: Promise<void> | null = null;
  #isOver = false;
  /** The error that kept the whole from being sent; the connection of its reader is cut. */
  #failed: unknown;
  #extensions: object = {};
  #changed = Promise.withResolvers<void>();

  constructor(format: DeliveryFormat) {
    this.#format = format;
    this.contentType = `multipart/mixed; boundary="${BOUNDARY}"; ${format.parameter}`;
  }

  /** Settles once everything is executed; null if the answer comes whole. */
  get over(): Promise<void> | null {
    return this.#over;
  }

  /**
   * Returns the function that runs an operation so that it may come in parts; null if it comes whole.
   * @param maxAnswerBytes bytes of all parts together
   * @param formatErrors words errors
   * @param tooLong makes the error of an answer that is longer than may be sent
   */
  runner(
    planned: PlannedOperation,
    schema: GraphQLSchema,
    maxAnswerBytes: number,
    formatErrors: (errors: readonly GraphQLError[]) => readonly GraphQLFormattedError[],
    tooLong: () => GraphQLError,
  ): typeof runPlan | null {
    const { document, operation } = planned.prepared;
    const scope = scopeOf(planned, schema);
    if (readsSchemaAlone(operation) || !hasActiveDeferrals(scope)) return null;
    const plan = planOperation(schema, document, operation, scope.variables, createDeferringCollector(scope));
    if (plan.root.error !== undefined) return null;
    const written = (executed: Executed, isLost: boolean): WrittenPart => {
      const data = isLost ? null : executed.data.join('');
      this.#bytes += data === null ? 0 : Buffer.byteLength(data);
      const isLong = this.#bytes > maxAnswerBytes;
      const errors = formatErrors(isLong ? [tooLong()] : executed.errors);
      this.#errors.push(...errors);
      return { isLost: isLost || isLong, data: isLong ? null : data, errors };
    };
    return async (given): Promise<Executed> => {
      const run = new IncrementalRun<WrittenPart>(
        { ...given, plan },
        written,
        (error) => written({ data: ['null'], errors: [asGraphQLError(error)] }, true),
        () => this.#wake(),
      );
      const first = await run.first();
      this.#bytes += byteLengthOf(first.data);
      const isLong = this.#bytes > maxAnswerBytes;
      // If everything that was deferred is lost, only the calls under way are left to wait for.
      while ((isLong || !run.hasMore) && run.isRunning) await this.#change();
      if (isLong) return { data: ['null'], errors: [tooLong()] };
      if (run.hasMore) this.#run = run;
      return first;
    };
  }

  /**
   * Begins to deliver, if parts are to come.
   * @returns true if it has begun
   */
  begin(first: FirstPart): boolean {
    if (this.#run === null) return false;
    this.#first = first;
    this.#errors.push(...first.errors);
    this.#over = this.#untilOver(this.#run);
    return true;
  }

  async *body(): AsyncGenerator<string> {
    const run = this.#run as IncrementalRun<WrittenPart>;
    const waiting = [...run.take()];
    const announced = waiting.findIndex(({ kind }) => kind !== 'pending');
    const pending = waiting.splice(0, announced < 0 ? waiting.length : announced);
    const { data, errors } = this.#first;
    const errorsMember = errors.length === 0 ? '' : `"errors":${JSON.stringify(errors)},`;
    const members = `${errorsMember}"data":${data},${this.#format.first(pending)}`;
    yield `\r\n--${BOUNDARY}${this.#part(members, true)}`;
    for (;;) {
      waiting.push(...run.take());
      if (waiting.length > 0) {
        const members = this.#format.next(waiting.splice(0));
        if (members !== '') yield this.#part(members, true);
      } else if (this.#isOver) break;
      else await this.#change();
    }
    if (this.#failed !== undefined) throw this.#failed;
    yield this.#part(`"extensions":${JSON.stringify(this.#extensions)},`, false);
  }

  #part(members: string, hasNext: boolean): string {
    const end = hasNext ? '' : '--';
    return `\r\ncontent-type: application/json; charset=utf-8\r\n\r\n{${members}"hasNext":${hasNext}}\r\n--${BOUNDARY}${end}${hasNext ? '' : '\r\n'}`;
  }

  async #untilOver(run: IncrementalRun<WrittenPart>): Promise<void> {
    while (run.isRunning) await this.#change();
    try {
      this.#extensions = this.#first.onOver(this.#errors);
    } catch (error) {
      this.#failed = error;
    }
    this.#isOver = true;
    this.#wake();
  }

  /** Waits for the next change. Changes at the same time are taken together. */
  async #change(): Promise<void> {
    await this.#changed.promise;
    await setImmediate();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

function scopeOf({ prepared, variables }: PlannedOperation, schema: GraphQLSchema): DeferralScope {
  const { document, operation } = prepared;
  return { schema, operation, fragments: fragmentsIn(document), variables };
}

function asGraphQLError(error: unknown): GraphQLError {
  const cause = error instanceof Error ? error : new Error(String(error));
  return new GraphQLError(cause.message, { originalError: cause });
}
