import { getNamedType, isObjectType } from 'graphql';
import { ID_MARK, schema, type Truth } from './reference.ts';
import { isSameTime, plainTime } from './times.ts';
import type { Json } from './world.ts';

export type Path = readonly (string | number)[];

/** A difference from the truth, and its place in the answer. */
export interface Difference {
  /** Kind of it: only `short` can be excused by an error. */
  readonly kind: 'short' | 'extra' | 'wrong' | 'order' | 'id';
  readonly path: Path;
  readonly detail: string;
  /** Share of the truth that is lacking. */
  readonly weight: number;
}

/**
 * Identifiers by object: those of the gateway are opaque, so each is only to stand for one object, and always
 * the same.
 */
export interface Ids {
  readonly byObject: Map<string, string>;
  readonly byId: Map<string, string>;
}

export function createIds(): Ids {
  return { byObject: new Map(), byId: new Map() };
}

/** Lists whose order is promised, or is that of the objects asked for. */
const ORDERED = new Set([
  'Query.countries',
  'Query._entities',
  'Query.nodes',
  'Query.observations',
  'Country.observations',
  'Indicator.observations',
]);

export function differences(truth: Truth, actual: unknown, ids: Ids): Difference[] {
  const found: Difference[] = [];
  new Comparison(truth, ids, found).values(truth.data, actual, [], '');
  return found;
}

class Comparison {
  readonly #truth: Truth;
  readonly #ids: Ids;
  readonly #found: Difference[];

  constructor(truth: Truth, ids: Ids, found: Difference[]) {
    this.#truth = truth;
    this.#ids = ids;
    this.#found = found;
  }

  values(expected: unknown, actual: unknown, path: Path, names: string): void {
    const field = this.#truth.fields.get(names) ?? '';
    if (isTheSame(field, expected, actual)) return;
    if (field.endsWith('.record')) {
      this.#records(expected, actual, path);
    } else if (expected === null || expected === undefined) {
      if (actual !== null && actual !== undefined) this.#add('extra', path, `null, got ${short(actual)}`);
    } else if (actual === null || actual === undefined) {
      this.#add('short', path, `${short(expected)}, got null`, leavesOf(expected));
    } else if (Array.isArray(expected)) {
      this.#lists(expected, actual, path, names, field);
    } else if (typeof expected === 'object') {
      this.#objects(expected as Json, actual as Json, path, names);
    } else if (typeof expected === 'string' && expected.startsWith(ID_MARK)) {
      this.#id(expected, actual, path);
    } else if (expected !== actual) {
      this.#add('wrong', path, `${short(expected)}, got ${short(actual)}`);
    }
  }

  #add(kind: Difference['kind'], path: Path, detail: string, weight = 1): void {
    this.#found.push({ kind, path, detail, weight });
  }

  #records(expected: unknown, actual: unknown, path: Path): void {
    if (sorted(expected) === sorted(actual)) return;
    const kind = actual == null ? 'short' : 'wrong';
    this.#add(kind, path, `${short(expected)}, got ${short(actual)}`);
  }

  #objects(expected: Json, actual: Json, path: Path, names: string): void {
    for (const name of Object.keys(expected)) {
      const below = names === '' ? name : `${names}.${name}`;
      this.values(expected[name], actual[name], [...path, name], below);
    }
    for (const name of Object.keys(actual)) {
      if (!(name in expected)) this.#add('extra', [...path, name], `nothing, got ${short(actual[name])}`);
    }
  }

  #id(expected: string, actual: unknown, path: Path): void {
    const { byObject, byId } = this.#ids;
    const object = byId.get(String(actual));
    const known = byObject.get(expected);
    if (object !== undefined && object !== expected) {
      this.#add('id', path, `one id for ${expected.slice(1)} and ${object.slice(1)}`);
    } else if (known !== undefined && known !== actual) {
      this.#add('id', path, `two ids for ${expected.slice(1)}`);
    } else {
      byId.set(String(actual), expected);
      byObject.set(expected, String(actual));
    }
  }

  #lists(expected: readonly unknown[], actual: unknown, path: Path, names: string, field: string): void {
    if (!Array.isArray(actual)) {
      this.#add('wrong', path, `a list, got ${short(actual)}`);
    } else if (ORDERED.has(field) && expected.length === actual.length) {
      expected.forEach((item, i) => {
        this.values(item, actual[i], [...path, i], names);
      });
    } else {
      this.#multisets(expected, actual, path, names);
    }
  }

  /** Pairs equal items; the rest is paired by likeness, to tell the differences. */
  #multisets(expected: readonly unknown[], actual: readonly unknown[], path: Path, names: string): void {
    const waiting = new Map<string, number[]>();
    actual.forEach((item, i) => {
      const key = this.#canonical(item, names);
      waiting.set(key, [...(waiting.get(key) ?? []), i]);
    });
    const groups = new Map<string, { wanted: unknown[]; got: number[] }>();
    const left: unknown[] = [];
    for (const item of expected) {
      const key = this.#canonical(item, names);
      const at = waiting.get(key)?.shift();
      if (at === undefined) {
        left.push(item);
        continue;
      }
      const group = groups.get(key) ?? { wanted: [], got: [] };
      group.wanted.push(item);
      group.got.push(at);
      groups.set(key, group);
    }
    for (const [key, { wanted, got }] of groups) {
      // Learns identifiers of a lone item: if several look alike, nothing tells which is which.
      if (wanted.length === 1 && waiting.get(key)?.length === 0)
        this.values(wanted[0], actual[got[0] as number], [...path, got[0] as number], names);
    }
    this.#leftOver(left, [...waiting.values()].flat(), actual, path, names);
  }

  #leftOver(left: unknown[], free: number[], actual: readonly unknown[], path: Path, names: string): void {
    // Very many look alike, so that each two kinds are compared once.
    const kindOf = new Map<unknown, string>();
    for (const item of [...left, ...free.map((at) => actual[at])])
      kindOf.set(item, this.#canonical(item, names));
    if (new Set(kindOf.values()).size > 400) {
      if (left.length > 0) this.#add('short', path, `${left.length} more items, such as ${short(left[0])}`);
      if (free.length > 0)
        this.#add('extra', path, `${free.length} items, such as ${short(actual[free[0] as number])}`);
      return;
    }
    const known = new Map<string, number>();
    const scoreOf = (item: unknown, other: unknown) => {
      const pair = `${kindOf.get(item)} ${kindOf.get(other)}`;
      let score = known.get(pair);
      if (score === undefined) {
        score = this.#likeness(item, other, names);
        known.set(pair, score);
      }
      return score;
    };
    const rest = [...free];
    for (const item of left) {
      const scores = rest.map((at) => scoreOf(item, actual[at]));
      const best = scores.reduce((top, score, i) => (score > (scores[top] ?? -1) ? i : top), 0);
      if (rest.length === 0 || (left.length !== free.length && (scores[best] as number) < 0.5)) {
        // More than all that may be null: so lists whose items all failed are paired by their length.
        this.#add('short', path, `an item ${short(item)}, which is missing`, 1000);
        continue;
      }
      const at = rest.splice(best, 1)[0] as number;
      // Learns nothing of identifiers here: the object isn't certain.
      new Comparison(this.#truth, createIds(), this.#found).values(item, actual[at], [...path, at], names);
    }
    for (const at of rest) this.#add('extra', [...path, at], `no item ${short(actual[at])}`);
  }

  /**
   * Likeness above 1 if nothing differs but that some of it is null, which an error may excuse: the less, the
   * higher.
   */
  #likeness(expected: unknown, actual: unknown, names: string): number {
    const found: Difference[] = [];
    new Comparison(this.#truth, createIds(), found).values(expected, actual, [], names);
    const isShorter = found.every(({ kind }) => kind === 'short');
    const lacking = found.reduce((sum, { weight }) => sum + weight, 0);
    return isShorter ? 1 + 1 / (1 + lacking) : likeness(expected, actual);
  }

  /** Equal for values that are the same but for identifiers and the order of lists without one. */
  #canonical(value: unknown, names: string): string {
    const field = this.#truth.fields.get(names) ?? '';
    if (field.endsWith('.id')) return '#';
    if (field.endsWith('.record')) return sorted(value);
    if (field.endsWith('.locationName') && isBlank(value)) return 'null';
    if (field === 'Indicator.sources' && isNone(value)) return 'null';
    if (isTime(field) && typeof value === 'string') return plainTime(value);
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#canonical(item, names));
      return `[${(ORDERED.has(field) ? items : items.sort()).join()}]`;
    }
    if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
    const entries = Object.entries(value).map(([name, item]) => {
      return `${name}:${this.#canonical(item, names === '' ? name : `${names}.${name}`)}`;
    });
    return `{${entries.sort().join()}}`;
  }
}

function leavesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, item) => sum + leavesOf(item), 0) || 1;
}

/** Two ways to say that there is nothing, if the description leaves the choice open. */
function isTheSame(field: string, expected: unknown, actual: unknown): boolean {
  if (field.endsWith('.locationName')) return isBlank(expected) && isBlank(actual);
  if (isTime(field) && typeof expected === 'string' && typeof actual === 'string') {
    return isSameTime(expected, actual);
  }
  return field === 'Indicator.sources' && isNone(expected) && isNone(actual);
}

/** Fields whose answers are RFC 3339 in UTC, for any time as sent. */
const TIMES = new Set(
  Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type))
    .flatMap((type) =>
      Object.values(type.getFields())
        .filter((field) => getNamedType(field.type).name === 'DateTime')
        .map((field) => `${type.name}.${field.name}`),
    ),
);

function isTime(field: string): boolean {
  return TIMES.has(field);
}

function isBlank(value: unknown): boolean {
  return value === null || value === undefined || value === '';
}

/** True if there are none: for a catalogue that names no sources, both null and none are true. */
function isNone(value: unknown): boolean {
  return value == null || (Array.isArray(value) && value.length === 0);
}

function likeness(a: unknown, b: unknown): number {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Number(a === b);
  const names = Object.keys(a);
  const same = names.filter((name) => sorted((a as Json)[name]) === sorted((b as Json)[name]));
  return names.length === 0 ? 1 : same.length / names.length;
}

/** JSON with the names of objects in order. */
function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${sorted(item)}`).join()}}`;
}

function short(value: unknown): string {
  const text = JSON.stringify(value)?.replaceAll('\\u0001', '') ?? 'undefined';
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
