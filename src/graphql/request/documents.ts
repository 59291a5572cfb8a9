import { hash } from 'node:crypto';
import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import {
  type ASTVisitor,
  type DirectiveNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';
import { BoundedCache, createLru, OVERHEAD_BYTES, type Shrinkable } from '../../cache/lru.ts';
import type { Config } from '../../config/config.ts';
import type { Learned } from '../../observations/planner/learned.ts';
import { Failure } from '../../shared/errors.ts';
import { boundOf, DOCUMENTED } from '../cost/bound.ts';
import { ERROR_BEHAVIORS } from '../execution/columns.ts';
import { conditionsOf, fragmentsIn, type Plan, planOperation } from '../execution/plan.ts';
import { errorOf } from '../schema/errors.ts';
import { leadsToFigures, type SelectionScope } from '../schema/selection.ts';

/** Texts of operations by the names that clients send in their place. */
export interface PersistedTexts {
  /** @param isProven true if it is for a key that the service has accepted lately */
  get(name: string, isProven?: boolean): string | undefined;
  /** Keeps a text, if clients may add any. */
  set(name: string, text: string): void;
  allows(text: string): boolean;
  /** Lets a text run that a part of the program has made of a listed one. Returns the name to ask for it by. */
  admit(text: string): string;
  /** True if an operation is among the trusted documents, though others may run too. */
  lists(text: string): boolean;
  /** The only documents that may run at the moment; null if any may. */
  readonly trusted: readonly TrustedDocument[] | null;
  /** The trusted documents at the moment, though others may run too: another list once they have changed. */
  readonly listed: readonly TrustedDocument[];
  /** Stops looking for changes. */
  stop(): void;
}

/** A document that may run if no others may. */
export interface TrustedDocument {
  /** The name that clients send as `documentId`. */
  readonly id: string;
  readonly text: string;
}

/** Makes the failure of a text that is none of those that may run. */
export function unlisted(): Failure {
  return new Failure(
    'DOCUMENT_NOT_ALLOWED',
    'This document is not among those that may run here (TRUSTED_DOCUMENTS); it has to be listed as it is, to the last blank.',
  );
}

/** Makes the failure of a request whose `onError` nobody knows. */
export function unknownOnError(): Failure {
  return new Failure(
    'BAD_USER_INPUT',
    `onError must be ${ERROR_BEHAVIORS.join(', ')} or left out. Nothing was run.`,
  );
}

/** Bytes of texts that are cached at once; the least recently used go first. */
const MAX_PERSISTED_BYTES = 16 * 1024 * 1024;

/** Bytes of texts that nobody has asked for by a key that the service has accepted: anybody can send texts. */
const MAX_NEW_BYTES = 2 * 1024 * 1024;

/** Holds texts that clients have sent with their SHA-256 once, and then name by it ("automatic persisted queries"). */
export function createPersisted(): PersistedTexts {
  const textsOf = (maxBytes: number) =>
    new BoundedCache<{ readonly text: string }>(
      maxBytes,
      ({ text }, name) => OVERHEAD_BYTES + 2 * (text.length + name.length),
    );
  const texts = textsOf(MAX_PERSISTED_BYTES);
  const newTexts = textsOf(MAX_NEW_BYTES);
  return {
    get(name, isProven = false) {
      const entry = texts.get(name) ?? newTexts.get(name);
      if (isProven && entry !== undefined && newTexts.delete(name)) texts.set(name, entry);
      return entry?.text;
    },
    set(name, text) {
      if (!texts.has(name)) newTexts.set(name, { text });
    },
    allows: () => true,
    admit: sha256Of,
    lists: () => false,
    trusted: null,
    listed: [],
    stop() {},
  };
}

/** Returns the name that clients give a text unless set otherwise. */
export function sha256Of(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Takes the name of the digest, which clients may put first, off a name. */
export function bareHash(name: string): string {
  return name.replace(/^sha256:/, '');
}

export interface AskedText {
  readonly text: string;
  readonly operationName: string | undefined;
}

const NO_VARIABLES: Readonly<Record<string, unknown>> = Object.freeze({});

/** Combinations of skipped and included fields that are cached of one operation. */
const MAX_PLANS = 32;

/*
 * Bytes that an operation takes while it is cached: more than `bench/footprint.ts` measures of any kind. Its text
 * is a small part of that.
 */
const PER_OPERATION = 8_000;
const PER_CHARACTER = 2;
/** Bytes of the syntax tree per token: the tree knows each token and its place. */
const PER_TOKEN = 400;
/** Bytes of a plan, for each field, */
const PER_SELECTION = 900;
/** and for the code that makes the objects of a selection. */
const PER_OBJECT = 5_000;

/** Fields that may give objects of as many types, each with a plan of its own. */
const ABSTRACT_FIELDS = /^(node|nodes|_entities)$/;
const MOST_TYPES = 6;

/** Bytes that an operation takes at the most while it is cached. */
export function footprintOf(
  text: string,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): number {
  const plans = Math.min(MAX_PLANS, 2 ** conditionsOf(document).length);
  return (
    PER_OPERATION +
    PER_CHARACTER * text.length +
    PER_TOKEN * tokensOf(document) +
    plans * planBytes(document, operation)
  );
}

function tokensOf({ loc }: DocumentNode): number {
  let count = 0;
  for (let token = loc?.startToken ?? null; token !== null; token = token.next) count += 1;
  return count;
}

/** Bytes of a plan, in which the fragments are written out. */
function planBytes(document: DocumentNode, operation: OperationDefinitionNode): number {
  const fragments = fragmentsIn(document);
  const bytesBelow = sumOfSelections(
    (name) => fragments[name],
    (selection, below) => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) return PER_OBJECT + below;
      const bytes = selection.selectionSet === undefined ? 0 : PER_OBJECT + below;
      const isAbstract = selection.kind === Kind.FIELD && ABSTRACT_FIELDS.test(selection.name.value);
      return PER_SELECTION + bytes * (isAbstract ? MOST_TYPES : 1);
    },
  );
  return PER_OBJECT + bytesBelow(operation.selectionSet);
}

/**
 * Adds up over selections, and walks each fragment once. One that is being walked counts as nothing, so that those that
 * spread themselves come to an end.
 * @param worthOf returns the sum of a selection by that of the selections below it
 */
function sumOfSelections(
  fragmentOf: (name: string) => FragmentDefinitionNode | null | undefined,
  worthOf: (selection: SelectionNode, below: number) => number,
): (set: SelectionSetNode | undefined) => number {
  const sums = new Map<string, number>();

  function ofSet(set: SelectionSetNode | undefined): number {
    let sum = 0;
    for (const selection of set?.selections ?? []) {
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      sum += worthOf(selection, isSpread ? ofFragment(selection.name.value) : ofSet(selection.selectionSet));
    }
    return Math.min(sum, Number.MAX_SAFE_INTEGER);
  }

  function ofFragment(name: string): number {
    const before = sums.get(name);
    if (before !== undefined) return before;
    sums.set(name, 0);
    const sum = ofSet(fragmentOf(name)?.selectionSet);
    sums.set(name, sum);
    return sum;
  }

  return ofSet;
}

type Prepared = ReturnType<typeof prepareOperation>;

/** An operation and its variables, coerced. */
export interface PlannedOperation {
  readonly prepared: Prepared;
  readonly plan: Plan;
  readonly variables: Readonly<Record<string, unknown>>;
  /** True if it can ask for figures, as its text shows. */
  readonly leadsToFigures: boolean;
  /** Returns the most calls that it can take, if one brings so many rows. */
  readonly bound: (maxRows: number) => number;
}

/** Bytes of operations that are cached for keys that were accepted lately; other keys have the share below. */
const MAX_BYTES = 64_000_000;
const UNPROVEN_SHARE = 1 / 8;

/** Operations that are known to have come before. */
const MAX_SEEN = { proven: 20_000, unproven: 2_000 };

/** Operations that were found valid, and are cached if they come again. */
export class PreparedOperations implements Shrinkable {
  readonly #schema: GraphQLSchema;
  readonly #learned: Learned | null;
  readonly #proven: OperationsTable;
  readonly #unproven: OperationsTable;

  /**
   * @param learned knows the sizes that the service's own lists have shown: operations are bounded by them
   * @param maxBytes of the operations that are cached
   */
  constructor(schema: GraphQLSchema, learned: Learned | null = null, maxBytes = MAX_BYTES) {
    this.#schema = schema;
    this.#learned = learned;
    this.#proven = createTable('proven', maxBytes);
    this.#unproven = createTable('unproven', maxBytes * UNPROVEN_SHARE);
  }

  find(asked: AskedText, isProven: boolean): Prepared | undefined {
    const name = nameOf(asked);
    const cachedOperation = this.#proven.ready.get(name);
    if (cachedOperation !== undefined) return cachedOperation.prepared;
    const entry = this.#unproven.ready.get(name);
    if (entry !== undefined && isProven) this.#proven.ready.set(name, entry);
    return entry?.prepared;
  }

  /** Prepares a valid operation, and keeps it ready if it has come before. */
  prepare({ text, operationName, document, operation }: ValidOperation, isProven: boolean): Prepared {
    const prepared = prepareOperation(this.#schema, document, operation, this.#learned);
    const { seen, ready } = isProven ? this.#proven : this.#unproven;
    const name = nameOf({ text, operationName });
    const digest = hash('sha1', name);
    if (this.#proven.seen.has(digest) || this.#unproven.seen.has(digest))
      ready.set(name, { prepared, bytes: footprintOf(text, document, operation) });
    else seen.set(digest, true);
    return prepared;
  }

  shrink(share: number): void {
    this.#proven.ready.shrink(share);
    this.#unproven.ready.shrink(share);
  }
}

function nameOf({ text, operationName }: AskedText): string {
  return `${operationName ?? ''}\n${text}`;
}

type OperationsTable = ReturnType<typeof createTable>;

/** Makes a table. Operations are cached from their second use on: most that are made up are never seen again. */
function createTable(whose: 'proven' | 'unproven', maxBytes: number) {
  return {
    seen: createLru<true>(MAX_SEEN[whose]),
    ready: new BoundedCache<{ readonly prepared: Prepared; readonly bytes: number }>(
      maxBytes,
      ({ bytes }) => bytes,
    ),
  };
}

/** The parts of an operation that change with no variables but those that `@skip` and `@include` ask. */
interface PlannedFor {
  readonly plan: Plan;
  readonly leadsToFigures: boolean;
  /** The bound of an operation without variables, for lists of some sizes. */
  bounded: { readonly sizes: typeof DOCUMENTED; readonly bound: PlannedOperation['bound'] } | null;
}

/** Makes ready an operation that was found valid, so that it can run without another parse and validation. */
function prepareOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  learned: Learned | null,
) {
  const conditions = conditionsOf(document);
  const definitions = operation.variableDefinitions ?? [];
  const plans = new Map<string, PlannedFor>();

  function planFor(variables: PlannedOperation['variables']): PlannedFor {
    const signature = conditions.map((name) => String(variables[name])).join();
    const cachedPlan = plans.get(signature);
    if (cachedPlan !== undefined) return cachedPlan;
    const plan = planOperation(schema, document, operation, variables);
    const leads = leadsToFigures(plan.root.type, operation.selectionSet, scopeOf(plan, variables));
    const made = { plan, leadsToFigures: leads, bounded: null };
    if (plans.size === MAX_PLANS) plans.clear();
    plans.set(signature, made);
    return made;
  }

  function boundFor(planned: PlannedFor, variables: PlannedOperation['variables']) {
    const sizes = learned === null ? DOCUMENTED : sizesOf(learned);
    const { plan, bounded } = planned;
    const isSame = bounded?.sizes.countries === sizes.countries && bounded.sizes.metrics === sizes.metrics;
    if (bounded !== null && isSame) return bounded.bound;
    const bound = boundOf(schema, operation, scopeOf(plan, variables), sizes);
    if (definitions.length === 0) planned.bounded = { sizes, bound };
    return bound;
  }

  const prepared = {
    document,
    operation,
    /** Plans the operation for some variables; null if they don't fit. */
    with(given: PlannedOperation['variables']): PlannedOperation | null {
      const variables =
        definitions.length === 0 ? NO_VARIABLES : getVariableValues(schema, definitions, given).coerced;
      if (variables === undefined) return null;
      const planned = planFor(variables);
      const { plan, leadsToFigures } = planned;
      return { prepared, variables, plan, leadsToFigures, bound: boundFor(planned, variables) };
    },
  };
  return prepared;
}

function sizesOf({ listed }: Learned) {
  return { countries: listed.countries.size, metrics: listed.metrics.size };
}

function scopeOf({ schema, fragments }: Plan, variables: PlannedOperation['variables']): SelectionScope {
  return { schema, fragments, variableValues: { ...variables } };
}

/** Fields of the root that read the schema, and one that reads nothing. */
const SCHEMA_FIELDS = /^(__schema|__type|_service)$/;

/** True if an operation reads the schema and nothing else. */
export function readsSchemaAlone({ selectionSet }: OperationDefinitionNode): boolean {
  let count = 0;
  for (const selection of selectionSet.selections) {
    if (selection.kind !== Kind.FIELD) return false;
    const { value } = selection.name;
    if (SCHEMA_FIELDS.test(value)) count += 1;
    else if (value !== '__typename') return false;
  }
  return count > 0;
}

/** An operation that Apollo Server has found valid. */
export interface ValidOperation extends AskedText {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Checks labels. They tell parts of an answer apart: each is a text of its own, known before anything runs. */
const deferralLabelRule: ValidationRule = (context) => {
  const labels = new Map<string, DirectiveNode>();
  return {
    Directive(node) {
      if (node.name.value !== 'defer') return;
      const label = node.arguments?.find(({ name }) => name.value === 'label')?.value;
      if (label === undefined || label.kind === Kind.NULL) return;
      if (label.kind !== Kind.STRING) {
        const message = `The label of @defer has to be a text in the document, and no variable.`;
        context.reportError(new GraphQLError(message, { nodes: node }));
        return;
      }
      const other = labels.get(label.value);
      labels.set(label.value, node);
      if (other === undefined) return;
      const message = `Two directives have the label "${label.value}". Give each a label of its own, or none.`;
      context.reportError(new GraphQLError(message, { nodes: [other, node] }));
    },
  };
};

/**
 * Validation rules for limits that an operation's text alone can break: such an operation never runs. One more rule has
 * it that there are queries only: without it, the executor would find that out, as if it were an error of our own.
 */
export function limitRules({
  maxDepth,
  maxAliases,
  maxRootFields,
  maxTokens,
  maxListItems,
}: Config): ValidationRule[] {
  return [
    // With no `allowList` the rule would overlook aliases of `__typename`.
    armored(
      maxAliasesRule({
        n: maxAliases,
        allowList: [],
        ...refusing((count) => `has ${count} aliases`, maxAliases),
      }),
    ),
    armored(
      maxDepthRule({
        n: maxDepth,
        flattenFragments: true,
        ...refusing((count) => `is ${count} levels deep`, maxDepth),
      }),
    ),
    maxRootFieldsRule(maxRootFields),
    maxSelectionsRule(maxTokens),
    maxListItemsRule(maxListItems),
    knownOperationRule,
    // By the draft of the specification.
    deferralLabelRule,
  ];
}

const armored =
  (rule: (context: ValidationContext) => object): ValidationRule =>
  (context) =>
    rule(context) as ASTVisitor;

/** Turns the rejection of a rule, which tells its finding in its message alone, into the failure of our table. */
function refusing(is: (count: number) => string, limit: number) {
  return {
    propagateOnRejection: false,
    onReject: [
      (context: ValidationContext | null, error: GraphQLError) => {
        // A count that no number holds is only said to be above the limit.
        const count = Number(/found (\d+)\.$/.exec(error.message)?.[1] ?? limit + 1);
        context?.reportError(tooExpensive(is(count), count, limit));
      },
    ],
  };
}

function maxRootFieldsRule(limit: number): ValidationRule {
  return (context) => ({
    OperationDefinition(operation) {
      const count = countFields(operation.selectionSet, context);
      if (count > limit) context.reportError(tooExpensive(`has ${count} root fields`, count, limit));
    },
  });
}

/**
 * Counts selections before anything walks them. A few fragments that spread each other stand for more selections than
 * anybody can work through: an operation may not be larger for its fragments than it could be without any.
 */
function maxSelectionsRule(limit: number): ValidationRule {
  return (context) => {
    const countIn = sumOfSelections(
      (name) => context.getFragment(name),
      (_, below) => 1 + below,
    );
    return {
      OperationDefinition({ selectionSet }) {
        const count = countIn(selectionSet);
        if (count > limit)
          context.reportError(
            tooExpensive(`has ${count} selections, its fragments written out`, count, limit, 'MAX_TOKENS'),
          );
      },
    };
  };
}

function maxListItemsRule(limit: number): ValidationRule {
  return (context) => ({
    ListValue(node) {
      const { length } = node.values;
      if (length > limit)
        context.reportError(new GraphQLError(tooLong('A list', length, limit), { nodes: node }));
    },
    StringValue(node, key) {
      const { length } = node.value;
      if (length > MAX_LENGTH && key !== 'description')
        context.reportError(new GraphQLError(tooLongText('A text', length), { nodes: node }));
    },
  });
}

/** The reason to refuse a list or a text in the variables; null if there is none. A rule refuses those in the document. */
export function inputRefusal(
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
  limit: number,
): GraphQLError | null {
  for (const { variable } of variableDefinitions) {
    const name = variable.name.value;
    const { items, characters } = longestIn(given[name], { items: 0, characters: 0 });
    const what = `Variable "$${name}"`;
    if (items > limit)
      return errorOf(new Failure('BAD_USER_INPUT', tooLong(what, items, limit), { limit }), 400);
    if (characters > MAX_LENGTH)
      return errorOf(
        new Failure('BAD_USER_INPUT', tooLongText(what, characters), { limit: MAX_LENGTH }),
        400,
      );
  }
  return null;
}

/** Characters of one text that an operation is given: no name, identifier or cursor is as long. */
const MAX_LENGTH = 4_096;

/** Measures the longest list and the longest text in a value. */
function longestIn<Longest extends { items: number; characters: number }>(
  value: unknown,
  longest: Longest,
): Longest {
  if (typeof value === 'string') longest.characters = Math.max(longest.characters, value.length);
  if (typeof value !== 'object' || value === null) return longest;
  if (Array.isArray(value)) longest.items = Math.max(longest.items, value.length);
  for (const item of Object.values(value)) longestIn(item, longest);
  return longest;
}

function tooLong(what: string, length: number, limit: number): string {
  return `${what} has ${length} items; this gateway takes ${limit} (MAX_LIST_ITEMS). Ask in several operations.`;
}

function tooLongText(what: string, length: number): string {
  return `${what} has a text of ${length} characters; this gateway takes ${MAX_LENGTH}.`;
}

const knownOperationRule: ValidationRule = (context) => ({
  OperationDefinition(node) {
    if (context.getSchema().getRootType(node.operation)) return;
    const message = `This graph has no ${node.operation}s.`;
    context.reportError(new GraphQLError(message, { nodes: node }));
  },
});

/** Number of fields of a selection, with those of its fragments, each fragment once. */
function countFields(set: SelectionSetNode, context: ValidationContext, seen = new Set<string>()): number {
  return set.selections.reduce((count, selection) => {
    if (selection.kind === Kind.FIELD) return count + 1;
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      return count + countFields(selection.selectionSet, context, seen);
    }
    const name = selection.name.value;
    const fragment = seen.has(name) ? undefined : context.getFragment(name);
    seen.add(name);
    return fragment ? count + countFields(fragment.selectionSet, context, seen) : count;
  }, 0);
}

function tooExpensive(is: string, planned: number, limit: number, setting?: string): GraphQLError {
  const named = setting === undefined ? '' : ` (${setting})`;
  const message = `The operation ${is}; this gateway takes ${limit}${named}.`;
  return errorOf(new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit }));
}
