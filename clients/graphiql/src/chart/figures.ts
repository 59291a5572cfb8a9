import { type FieldNode, type SelectionSetNode, type ValueNode, valueFromASTUntyped } from 'graphql';
import { atOnce } from '../turns.ts';
import { codeOf, nameOf } from './countries.ts';
import {
  defaultsOf,
  type FieldsOf,
  isObject,
  type JsonObject,
  parsedOperation,
  responseKey,
} from './document.ts';
import { COUNTRY_FIELDS, FIGURE_FIELDS } from './needed-fields.ts';

/** A figure found in a response, as far as the operation asked for it. */
export interface Figure {
  /** Code in upper case, or the name if only that was asked for; empty if neither was. */
  readonly country: string;
  readonly countryName: string;
  /** Key of the indicator, or its alias in the operation. */
  readonly indicator: string;
  readonly indicatorName: string;
  /** Null if the operation didn't ask for it. */
  readonly year: number | null;
  readonly period: string | null;
  /** The place within the country; null if the figure is the nation's. */
  readonly place: string | null;
  /** True if the figure is known to be the nation's. */
  readonly isNational: boolean;
  readonly value: number;
  readonly unit: string | null;
  readonly source: string | null;
  /** Facts of the source that the answer has; null if it has none but the key. */
  readonly origin: Origin | null;
  readonly status: string | null;
  readonly isModelled: boolean;
  readonly low: number | null;
  readonly high: number | null;
  /** The provider's release of the dataset. */
  readonly release: string | null;
  readonly retrievedAt: string | null;
  readonly isStale: boolean;
}

/** A source as the service tells of it. */
export interface Origin {
  readonly name: string | null;
  readonly url: string | null;
  readonly licence: string | null;
  /** Last refresh of the service from it. */
  readonly refreshedAt: string | null;
}

type Json = unknown;

/** Facts about a figure that follow from its place in the answer. */
interface Place {
  readonly country?: JsonObject | undefined;
  readonly indicator?: JsonObject | undefined;
  /** A country or indicator that an argument names. */
  readonly countryCode?: string | undefined;
  readonly metricKey?: string | undefined;
}

interface Scope {
  readonly fieldsOf: FieldsOf;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly figures: Figure[];
  /** Sources that the answer tells more of than their keys. */
  readonly origins: Map<string, Origin>;
}

const SOURCE_FIELDS: ReadonlySet<string> = new Set(['source', 'sources']);
const INDICATOR_FIELDS: ReadonlySet<string> = new Set(['indicator', 'indicators']);

/**
 * The figures in a response, found by the operation that asked for them: at any depth, under any alias. Empty
 * if there are none, or the operation can't be read.
 */
export function figuresIn(
  query: string,
  variables: Readonly<Record<string, unknown>>,
  operationName: string | undefined,
  data: Json,
): Figure[] {
  return atOnce(figureSteps(query, variables, operationName, data));
}

/** The same, some hundred figures a step. */
export function* figureSteps(
  query: string,
  variables: Readonly<Record<string, unknown>>,
  operationName: string | undefined,
  data: Json,
): Generator<void, Figure[]> {
  try {
    const { operation, fieldsOf } = parsedOperation(query, operationName);
    const scope: Scope = {
      fieldsOf,
      variables: { ...defaultsOf(operation), ...variables },
      figures: [],
      origins: new Map(),
    };
    if (operation === undefined) return [];
    for (const part of partsOf(data, 2)) {
      visit(operation.selectionSet, part, {}, scope);
      yield;
    }
    const { figures, origins } = scope;
    if (origins.size === 0) return figures;
    return figures.map((figure) => ({ ...figure, origin: origins.get(figure.source ?? '') ?? null }));
  } catch {
    return [];
  }
}

/** Items of a list that are looked through in one step. */
const MOST_ITEMS = 200;

/** An object as several, each with a part of its lists, and all else that it says. */
function* partsOf(value: Json, depth: number): Generator<Json> {
  if (!isObject(value)) {
    yield value;
    return;
  }
  const entries = Object.entries(value);
  const isLarge = ([, item]: readonly [string, Json]) =>
    typeof item === 'object' && item !== null && (Array.isArray(item) || depth > 1);
  const rest = Object.fromEntries(entries.filter((entry) => !isLarge(entry)));
  let isWhole = true;
  for (const [key, item] of entries.filter(isLarge)) {
    isWhole = false;
    if (!Array.isArray(item)) {
      for (const part of partsOf(item, depth - 1)) yield { ...rest, [key]: part };
      continue;
    }
    const most = item.some((one) => isObject(one) && Object.values(one).some(Array.isArray)) ? 2 : MOST_ITEMS;
    for (let at = 0; at < item.length; at += most) yield { ...rest, [key]: item.slice(at, at + most) };
  }
  if (isWhole || Object.values(rest).some(isObject)) yield rest;
}

function visit(set: SelectionSetNode, value: Json, place: Place, scope: Scope): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(set, item, place, scope);
    return;
  }
  if (!isObject(value)) return;
  const named =
    value.__typename === 'Country' || value.__typename === 'Indicator' ? namedIn(set, value, scope) : {};
  for (const field of scope.fieldsOf(set)) {
    const below = value[responseKey(field)];
    if (below == null || field.selectionSet === undefined) continue;
    const name = field.name.value;
    if (SOURCE_FIELDS.has(name)) noteOrigins(field.selectionSet, below, scope);
    const here = placeOf(field, value, named, place, scope);
    if (FIGURE_FIELDS.has(name)) {
      for (const row of [below].flat()) if (isObject(row)) take(field, row, here, scope);
    } else {
      for (const item of [below].flat())
        visit(field.selectionSet, item, placeBelow(field, item, here, scope), scope);
    }
  }
}

/** Notes the sources that an answer tells more of than their keys. */
function noteOrigins(set: SelectionSetNode, below: Json, scope: Scope): void {
  for (const item of [below].flat()) {
    if (!isObject(item)) continue;
    const { key, name, url, lastSuccessfulRefresh, record } = namedIn(set, item, scope);
    const { licence, license } = isObject(record) ? record : {};
    const origin = {
      name: text(name) ?? null,
      url: text(url) ?? null,
      licence: text(licence) ?? text(license) ?? null,
      refreshedAt: text(lastSuccessfulRefresh) ?? null,
    };
    const isNamed = Object.values(origin).some((fact) => fact !== null);
    if (typeof key === 'string' && isNamed) scope.origins.set(key, origin);
  }
}

/** Facts about the figures below a field, from its arguments and the object it stands on. */
function placeOf(field: FieldNode, on: JsonObject, named: JsonObject, place: Place, scope: Scope): Place {
  const argument = (name: string) => {
    const node = field.arguments?.find((one) => one.name.value === name)?.value;
    const value = node === undefined ? undefined : resolved(node, scope);
    const only = Array.isArray(value) && value.length === 1 ? value[0] : value;
    return typeof only === 'string' ? only : undefined;
  };
  return {
    country: place.country ?? (on.__typename === 'Country' ? named : undefined),
    indicator: place.indicator ?? (on.__typename === 'Indicator' ? named : undefined),
    countryCode: argument('countryCode') ?? argument('countryCodes') ?? argument('code') ?? place.countryCode,
    metricKey: argument('metricKey') ?? argument('metricKeys') ?? argument('key') ?? place.metricKey,
  };
}

function placeBelow(field: FieldNode, item: Json, place: Place, scope: Scope): Place {
  if (field.selectionSet === undefined || !isObject(item)) return place;
  const name = field.name.value;
  const named = namedIn(field.selectionSet, item, scope);
  if (COUNTRY_FIELDS.has(name)) return { ...place, country: named };
  if (INDICATOR_FIELDS.has(name)) return { ...place, indicator: named };
  return place;
}

function take(field: FieldNode, row: JsonObject, place: Place, scope: Scope): void {
  if (field.selectionSet === undefined) return;
  const fields = namedIn(field.selectionSet, row, scope);
  if (typeof fields.value !== 'number') return;
  const inside = scope.fieldsOf(field.selectionSet);
  for (const node of inside)
    if (node.name.value === 'source' && node.selectionSet !== undefined)
      noteOrigins(node.selectionSet, row[responseKey(node)], scope);
  const below = (name: string): JsonObject => {
    const named: Record<string, Json> = {};
    for (const node of inside) {
      const value = row[responseKey(node)];
      if (node.name.value === name && node.selectionSet !== undefined && isObject(value))
        Object.assign(named, namedIn(node.selectionSet, value, scope));
    }
    return named;
  };
  const country = { ...place.country, ...below('country') };
  const indicator = { ...place.indicator, ...below('indicator') };
  const name = text(country.name);
  const code = text(country.code) ?? place.countryCode?.toUpperCase() ?? (name && codeOf(name)) ?? name ?? '';
  const key = text(indicator.key) ?? place.metricKey ?? text(indicator.name) ?? responseKey(field);
  scope.figures.push({
    country: code,
    countryName: name ?? nameOf(code) ?? code,
    indicator: key,
    indicatorName: text(indicator.name) ?? key,
    year: typeof fields.year === 'number' ? fields.year : null,
    period: text(fields.period) ?? null,
    place: text(fields.locationName) ?? null,
    // The single figure is the nation's by definition; of a list it has to be asked.
    isNational: field.name.value === 'observation' || fields.locationName === null,
    value: fields.value,
    unit: text(fields.unit) ?? text(indicator.unit) ?? null,
    source: text(below('source').key) ?? null,
    origin: null,
    status: text(fields.valueStatus) ?? null,
    isModelled: fields.isModelled === true || (text(fields.valueStatus) ?? 'reported') !== 'reported',
    low: typeof fields.estimateLow === 'number' ? fields.estimateLow : null,
    high: typeof fields.estimateHigh === 'number' ? fields.estimateHigh : null,
    release: text(fields.datasetVersion) ?? null,
    retrievedAt: text(fields.retrievedAt) ?? null,
    isStale: below('freshness').stale === true,
  });
}

/** The fields of an object by their names in the schema. */
function namedIn(set: SelectionSetNode, value: JsonObject, scope: Scope): Record<string, Json> {
  return Object.fromEntries(
    scope.fieldsOf(set).map((field) => [field.name.value, value[responseKey(field)]]),
  );
}

function resolved(node: ValueNode, { variables }: Scope): unknown {
  return valueFromASTUntyped(node, variables);
}

function text(value: Json): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
