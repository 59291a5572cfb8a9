import { type FieldNode, type SelectionSetNode, type ValueNode, valueFromASTUntyped } from 'graphql';
import { COUNTRY_NUMBERS, nameOf } from './countries.ts';
import { defaultsOf, type FieldsOf, parsedOperation } from './document.ts';
import type { Figure } from './figures.ts';
import { COUNTRY_FIELDS, FIGURE_FIELDS } from './needed-fields.ts';

/** Countries and indicators whose figures an operation asks for together, by their codes and keys. */
export interface Asked {
  readonly countries: readonly string[];
  /** Empty if it asks for all that there are. */
  readonly indicators: readonly string[];
}

/** Names in the words about what is missing, at the most; of more there is the number. */
const MAX_NAMES = 20;

/** What is known of a place in an operation from the arguments above it. */
interface Place {
  /** Null if only the answer tells. */
  readonly countries: readonly string[] | null;
  readonly indicators: readonly string[] | null;
}

/** Returns what an operation asks figures of, as far as its text tells; nothing if it can't be read. */
export function askedIn(
  query: string,
  variables: Readonly<Record<string, unknown>>,
  operationName: string | undefined,
): readonly Asked[] {
  const asked: Asked[] = [];
  try {
    const { operation, fieldsOf } = parsedOperation(query, operationName);
    if (operation !== undefined)
      note(operation.selectionSet, { countries: null, indicators: null }, true, {
        fieldsOf,
        variables: { ...defaultsOf(operation), ...variables },
        asked,
      });
  } catch {
    // A text that can't be read asks for nothing.
  }
  return asked;
}

interface Scope {
  readonly fieldsOf: FieldsOf;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly asked: Asked[];
}

function note(set: SelectionSetNode, above: Place, isRoot: boolean, scope: Scope): void {
  for (const field of scope.fieldsOf(set)) {
    if (field.selectionSet === undefined) continue;
    const name = field.name.value;
    const isFigure = FIGURE_FIELDS.has(name);
    const given = (...names: readonly string[]) => textsOf(field, names, scope);
    const countries = given(
      'countryCodes',
      'countryCode',
      'codes',
      ...(COUNTRY_FIELDS.has(name) ? ['code'] : []),
    );
    // A list of the root that names no countries is of all of them.
    const areAll = isRoot && (name === 'countries' || name === 'observations');
    const place: Place = {
      countries: countries ?? above.countries ?? (areAll ? Object.keys(COUNTRY_NUMBERS) : null),
      indicators:
        given(
          'metricKeys',
          'metricKey',
          ...(name === 'indicator' ? ['key'] : []),
          ...(name === 'indicators' ? ['keys'] : []),
        ) ?? above.indicators,
    };
    if (!isFigure) note(field.selectionSet, place, false, scope);
    else if (place.countries !== null)
      scope.asked.push({ countries: place.countries, indicators: place.indicators ?? [] });
    else if (above.indicators !== null || place.indicators !== null)
      // Below an indicator, or of a country that only the answer names.
      scope.asked.push({
        countries: name === 'observations' && above.indicators !== null ? Object.keys(COUNTRY_NUMBERS) : [],
        indicators: place.indicators ?? [],
      });
  }
}

/** Returns the texts of the first argument of these names that is given; null if none is. */
function textsOf(
  { arguments: given = [] }: FieldNode,
  names: readonly string[],
  { variables }: Scope,
): string[] | null {
  for (const name of names) {
    const node: ValueNode | undefined = given.find((one) => one.name.value === name)?.value;
    if (node === undefined) continue;
    const value = valueFromASTUntyped(node, variables);
    const texts = [value].flat().filter((one) => typeof one === 'string');
    if (texts.length > 0) return name.startsWith('c') ? texts.map((code) => code.toUpperCase()) : texts;
  }
  return null;
}

/**
 * Returns a function that names the countries of which figures of some indicators were asked for, and of which an answer has none;
 * empty if there is none.
 * @param all figures of the answer
 */
export function missingAmong(
  asked: readonly Asked[],
  all: readonly Figure[],
): (shown: readonly Figure[]) => string {
  const countriesOf = Map.groupBy(all, ({ indicator }) => indicator);
  return (shown) => {
    if (asked.length === 0) return '';
    const indicators = new Set(shown.map(({ indicator }) => indicator));
    const drawn = new Set<string>();
    for (const key of indicators) for (const { country } of countriesOf.get(key) ?? []) drawn.add(country);
    const meant = asked.filter(
      (one) => one.indicators.length === 0 || one.indicators.some((key) => indicators.has(key)),
    );
    const codes = new Set(meant.flatMap(({ countries }) => countries));
    const missing = [...codes].filter((code) => !drawn.has(code));
    return listed(
      missing.map((code) => nameOf(code) ?? code),
      'countries',
    );
  };
}

/** Names the indicators that were asked for and that an answer has no figure of; empty if there is none. */
export function undrawnOf(asked: readonly Asked[], all: readonly Figure[]): string {
  const drawn = new Set(all.map(({ indicator }) => indicator));
  const keys = new Set(asked.flatMap(({ indicators }) => indicators));
  return listed(
    [...keys].filter((key) => !drawn.has(key)),
    'indicators',
  );
}

function listed(names: readonly string[], what: string): string {
  if (names.length > MAX_NAMES) return `${names.length} ${what}`;
  return names.toSorted((a, b) => a.localeCompare(b)).join(', ');
}
