import { type FieldNode, Kind, parse, type SelectionSetNode, type ValueNode, visit } from 'graphql';
import { variablesIn, type Written } from '../variables.ts';
import { responseKey } from './document.ts';

/** The first year that is asked for once latest figures become series. */
export const FIRST_YEAR = 1990;

/** National figures or those of places, as the graph names them. */
export type Scope = 'ALL' | 'NATIONAL' | 'PLACES';

/**
 * The operation with all years in place of the latest figures of an indicator; null if it asks for no latest
 * figures of it, or can't be read.
 */
export function withYears(query: string, variables: string, indicator: string): Written | null {
  const given = variablesIn(variables) ?? {};
  const isOf = (node: ValueNode | undefined): boolean => {
    if (node === undefined) return false;
    if (node.kind === Kind.LIST) return node.values.some(isOf);
    const value =
      node.kind === Kind.VARIABLE ? given[node.name.value] : node.kind === Kind.STRING ? node.value : null;
    return [value].flat().includes(indicator);
  };
  return edited(query, variables, (field, siblings) => {
    const argument = (name: string) => field.arguments?.find((one) => one.name.value === name);
    if (field.name.value === 'observation') {
      const metric = argument('metricKey');
      // Below an indicator, its country is named.
      const only = metric ?? argument('countryCode');
      if (only === undefined || (metric !== undefined && !isOf(metric.value))) return [];
      const isTaken = field.alias === undefined && keysOf(siblings).includes('observations');
      const name = `${isTaken ? 'observation: ' : ''}observations`;
      return [
        replaced(field.name, name),
        replaced(only.name, `${only.name.value}s`),
        replaced(only.value, (text) => `[${text}], scope: NATIONAL, fromYear: ${FIRST_YEAR}`),
      ];
    }
    const latest = argument('latest');
    const isLatest = latest?.value.kind === Kind.BOOLEAN && latest.value.value;
    const metrics = argument('metricKeys');
    if (field.name.value !== 'observations' || !latest || !isLatest) return [];
    // The series of all indicators are more than anybody looks at.
    if (!isOf(metrics?.value)) return [];
    return [
      replaced(latest, argument('fromYear') === undefined ? `fromYear: ${FIRST_YEAR}` : 'latest: false'),
    ];
  });
}

/**
 * The scope that an operation asks for in so many words; null if it leaves it open, or puts it in a variable.
 */
export function scopeIn(query: string): Scope | null {
  let scope: Scope | null = null;
  edited(query, '', (field) => {
    for (const { name, value } of field.arguments ?? [])
      if (name.value === 'scope' && value.kind === Kind.ENUM) scope ??= value.value as Scope;
    return [];
  });
  return scope;
}

/** The operation with another scope at each place that names one. */
export function withScope(query: string, variables: string, scope: Scope): Written | null {
  return edited(query, variables, (field) =>
    (field.arguments ?? []).flatMap(({ name, value }) =>
      name.value === 'scope' && value.kind === Kind.ENUM ? [replaced(value, scope)] : [],
    ),
  );
}

type Placed = { readonly loc?: { readonly start: number; readonly end: number } | undefined };
type Replacement = readonly [node: Placed, text: string | ((text: string) => string)];

const replaced = (node: Placed, text: Replacement[1]): Replacement => [node, text];

const keysOf = ({ selections }: SelectionSetNode) =>
  selections.flatMap((one) => (one.kind === Kind.FIELD ? [responseKey(one)] : []));

/** Changes fields of an operation in its text; null if nothing changes, or it can't be read. */
function edited(
  query: string,
  variables: string,
  changesOf: (field: FieldNode, siblings: SelectionSetNode) => readonly Replacement[],
): Written | null {
  const changes: Replacement[] = [];
  try {
    visit(parse(query), {
      SelectionSet(set) {
        for (const one of set.selections) if (one.kind === Kind.FIELD) changes.push(...changesOf(one, set));
      },
    });
  } catch {
    return null;
  }
  return changes.length === 0 ? null : { query: replacedIn(query, changes), variables };
}

/** A text with others in the places of some of its nodes. */
export function replacedIn(text: string, replacements: readonly Replacement[]): string {
  const changes = replacements.flatMap(([{ loc }, put]) => (loc === undefined ? [] : [[loc, put] as const]));
  return changes
    .toSorted(([a], [b]) => b.start - a.start)
    .reduce((changed, [{ start, end }, put]) => {
      const written = typeof put === 'string' ? put : put(text.slice(start, end));
      return changed.slice(0, start) + written + changed.slice(end);
    }, text);
}
