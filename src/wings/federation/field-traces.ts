import type { ITrace, Trace } from '@apollo/usage-reporting-protobuf';
import { type GraphQLFormattedError, type ResponsePath, responsePathAsArray } from 'graphql';
import { isPromise } from 'graphql/jsutils/isPromise.js';
import type { FieldHolder, ObjectColumn } from '../../execution/columns.ts';
import type { FieldPlan } from '../../execution/plan.ts';
import type { GatewayRequest } from '../../operations/messages.ts';
import { inverted, type PrefixedNames } from './subgraph.ts';

/** Fields of objects that one trace may have. A longer answer has no trace, since it would take long to write. */
const MAX_FIELDS = 5_000;

/** Errors that one trace may have, as many as an answer lists. */
const MAX_ERRORS = 1_000;

/**
 * Opens traces of fields for routers that ask for them, in Apollo's format. If they are off, nothing of them is loaded.
 * @param names that routers have for ours; null if they are the same
 * @param now milliseconds since the epoch
 */
export async function openFieldTraces(names: PrefixedNames | null, now: () => number) {
  const { Trace } = await import('@apollo/usage-reporting-protobuf');
  const routers = routerNames(names);
  const areWanted = ({ headers }: GatewayRequest) => headers['apollo-federation-include-trace'] === 'ftv1';
  return {
    areWanted,
    /** Begins the trace of an operation; null if the request asks for none. */
    begin: (request: GatewayRequest) => (areWanted(request) ? new FieldTrace(now, routers, Trace) : null),
  };
}

/** Names types and fields in a trace as the router does. */
function routerNames(names: PrefixedNames | null) {
  const types = inverted(names?.types ?? new Map());
  const fields = inverted(names?.fields ?? new Map());
  return {
    // Of a list that may not be null, the name within is prefixed.
    type: (type: string) => type.replace(/\w+/, (name) => types.get(name) ?? name),
    field: (parentType: string, field: string) =>
      parentType === 'Query' ? (fields.get(field) ?? field) : field,
  };
}

/** A field that was resolved for all objects of a selection. */
interface SeenField {
  readonly holder: FieldHolder;
  /** The objects by slot; null if there was none. */
  readonly parents: readonly (object | null)[];
  readonly beganNs: number;
  /** The times by slot; 0 if the value never came. */
  readonly endedNs: number[];
}

/** Objects whose properties were read. */
interface SeenObjects {
  readonly objects: ObjectColumn;
  readonly there: readonly (object | null)[];
  readonly atNs: number;
}

interface Branch {
  readonly node: Trace.INode;
  below: Map<string | number, Branch> | undefined;
}

/**
 * The trace of one operation: the fields that our executor resolves, with their times. It holds no values and no words
 * of errors.
 *
 * A field is resolved for all objects of a selection together, so it begins at the same time for all of them. If one
 * call of its resolver serves all, it ends at the same time too.
 */
class FieldTrace {
  /** Base64 of the protocol buffer; undefined while the operation runs, and if nothing of it was seen. */
  written: string | undefined;
  readonly #names: ReturnType<typeof routerNames>;
  readonly #format: typeof Trace;
  readonly #startedAtMs: number;
  readonly #startedMs: number;
  readonly #fields: SeenField[] = [];
  readonly #objects: SeenObjects[] = [];
  readonly #root: Branch = { node: {}, below: undefined };
  #size = 0;
  /** Set once our executor has run the operation: the work of graphql-js isn't seen. */
  #isSeen = false;

  constructor(now: () => number, names: ReturnType<typeof routerNames>, format: typeof Trace) {
    this.#names = names;
    this.#format = format;
    this.#startedAtMs = now();
    this.#startedMs = performance.now();
  }

  objects(objects: ObjectColumn): void {
    this.#isSeen = true;
    const properties = objects.plan.fields.filter(({ by }) => by === 'leaf property').length;
    if (properties === 0) return;
    const there = objects.objects.slice();
    if (!this.#add(properties * countOf(there))) return;
    this.#objects.push({ objects, there, atNs: this.#elapsedNs() });
  }

  field(holder: FieldHolder): (values: readonly unknown[]) => void {
    const parents = holder.objects.objects.slice();
    if (!this.#add(countOf(parents))) return () => {};
    const endedNs = new Array<number>(parents.length).fill(0);
    this.#fields.push({ holder, parents, beganNs: this.#elapsedNs(), endedNs });
    return (values) => {
      for (const [slot, value] of values.entries()) {
        onSettled(value, () => {
          endedNs[slot] = this.#elapsedNs();
        });
      }
    };
  }

  end(errors: readonly GraphQLFormattedError[]): void {
    const hasSomething = this.#isSeen || errors.length > 0;
    if (!hasSomething || this.#size > MAX_FIELDS) return;
    const durationNs = this.#elapsedNs();
    for (const error of errors.slice(0, MAX_ERRORS)) this.#addError(error);
    for (const seen of this.#fields) this.#addField(seen, durationNs);
    for (const seen of this.#objects) this.#addProperties(seen);
    const trace: ITrace = {
      startTime: timestamp(this.#startedAtMs),
      endTime: timestamp(this.#startedAtMs + durationNs / 1e6),
      durationNs,
      root: this.#root.node,
      fieldExecutionWeight: 1,
    };
    this.written = Buffer.from(this.#format.encode(trace).finish()).toString('base64');
  }

  #elapsedNs(): number {
    return Math.round((performance.now() - this.#startedMs) * 1e6);
  }

  /** Adds to the count of fields. Returns false if there is no room for them. */
  #add(count: number): boolean {
    this.#size += count;
    if (this.#size <= MAX_FIELDS) return true;
    this.#fields.length = 0;
    this.#objects.length = 0;
    return false;
  }

  #addProperties({ objects, there, atNs }: SeenObjects): void {
    const properties = objects.plan.fields.filter(({ by }) => by === 'leaf property');
    // Most are alike for all objects, so that they share a node.
    const nodes = properties.map((field) => {
      const { key } = field;
      const node = { responseName: key, ...this.#describe(field), startTime: atNs, endTime: atNs };
      return { key, node };
    });
    for (const [slot, object] of there.entries()) {
      if (object === null) continue;
      const branch = this.#at(objects.holder.path(slot));
      branch.node.child ??= [];
      for (const { key, node } of nodes) {
        const known = branch.below?.get(key);
        if (known === undefined) branch.node.child.push(node);
        else Object.assign(known.node, node);
      }
    }
  }

  #addField({ holder, parents, beganNs, endedNs }: SeenField, durationNs: number): void {
    const about = this.#describe(holder.field);
    for (const [slot, object] of parents.entries()) {
      if (object === null) continue;
      const { node } = this.#at(holder.path(slot));
      Object.assign(node, about, { startTime: beganNs, endTime: endedNs[slot] || durationNs });
    }
  }

  /** Adds the place of an error and its code. Its words may tell the caller's own input. */
  #addError({ path, locations = [], extensions }: GraphQLFormattedError): void {
    let branch = this.#root;
    for (const key of path ?? []) branch = below(branch, key);
    const masked = { message: '<masked>', locations, path, extensions: { code: extensions?.code } };
    branch.node.error ??= [];
    branch.node.error.push({
      message: masked.message,
      location: locations.map(({ line, column }) => ({ line, column })),
      json: JSON.stringify(masked),
    });
  }

  #describe({ key, name, parentType, definition }: FieldPlan): Trace.INode {
    const field = this.#names.field(parentType.name, name);
    return {
      type: this.#names.type(String(definition.type)),
      parentType: this.#names.type(parentType.name),
      ...(field === key ? {} : { originalFieldName: field }),
    };
  }

  #at(path: ResponsePath | undefined): Branch {
    let branch = this.#root;
    for (const key of responsePathAsArray(path)) branch = below(branch, key);
    return branch;
  }
}

function below(branch: Branch, key: string | number): Branch {
  const known = branch.below?.get(key);
  if (known !== undefined) return known;
  const node: Trace.INode = typeof key === 'number' ? { index: key } : { responseName: key };
  const made = { node, below: undefined };
  branch.below ??= new Map();
  branch.below.set(key, made);
  branch.node.child ??= [];
  branch.node.child.push(node);
  return made;
}

function countOf(objects: readonly (object | null)[]): number {
  return objects.reduce((count, object) => (object === null ? count : count + 1), 0);
}

/** Calls back as soon as a value has settled; of a list, once all items have. */
function onSettled(value: unknown, callBack: () => void): void {
  if (isPromise(value)) {
    value.then((given) => onSettled(given, callBack), callBack);
    return;
  }
  const items = Array.isArray(value) ? value.filter(isPromise) : [];
  let missing = items.length;
  if (missing === 0) callBack();
  const settle = () => {
    missing -= 1;
    if (missing === 0) callBack();
  };
  for (const item of items) item.then(settle, settle);
}

function timestamp(ms: number): { readonly seconds: number; readonly nanos: number } {
  const seconds = Math.floor(ms / 1000);
  return { seconds, nanos: Math.round((ms - seconds * 1000) * 1e6) };
}
