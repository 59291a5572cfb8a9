import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  buildASTSchema,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  getDirectiveValues,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
} from 'graphql';

type Path = readonly (string | number)[];

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly path?: Path }[];
}

const FOLDER = fileURLToPath(new URL('../../schema/', import.meta.url));

/** The schema of the folder `schema`, without directives for routers. */
const schema = buildASTSchema(
  {
    kind: Kind.DOCUMENT,
    definitions: globSync(`${FOLDER}*.graphql`)
      .sort()
      .flatMap((file) => parse(readFileSync(file, 'utf8')).definitions)
      .filter(({ kind }) => kind !== Kind.SCHEMA_EXTENSION),
  },
  { assumeValidSDL: true },
);

/** The list depths at which a field is null only with an error (`@semanticNonNull`). */
function levelsOf({ astNode }: GraphQLField<unknown, unknown>): readonly number[] {
  const directive = schema.getDirective('semanticNonNull');
  if (astNode == null || directive == null) return [];
  return (getDirectiveValues(directive, astNode)?.levels as readonly number[] | undefined) ?? [];
}

/** Fields with that directive, as `Type.field`. */
export const SEMANTIC_NON_NULL: readonly string[] = Object.values(schema.getTypeMap())
  .flatMap((type) =>
    isObjectType(type) || isInterfaceType(type)
      ? Object.values(type.getFields())
          .filter((field) => levelsOf(field).length > 0)
          .map((field) => `${type.name}.${field.name}`)
      : [],
  )
  .sort();

/** A null of a field with that directive. */
export interface FoundNull {
  /** `Type.field`. */
  readonly field: string;
  readonly path: Path;
  /** True if there is an error at its path or below. */
  readonly isTold: boolean;
}

/** All nulls of fields with that directive in a response. */
export function semanticNulls(document: string | DocumentNode, { data, errors = [] }: Answer): FoundNull[] {
  const { definitions } = typeof document === 'string' ? parse(document) : document;
  const fragments = new Map(
    definitions.flatMap((one) =>
      one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : [],
    ),
  );
  const walk = new Walk(
    fragments,
    errors.map(({ path = [] }) => path),
  );
  for (const one of definitions) {
    if (one.kind !== Kind.OPERATION_DEFINITION) continue;
    walk.object(schema.getRootType(one.operation), one.selectionSet, data, []);
  }
  return walk.found;
}

class Walk {
  readonly found: FoundNull[] = [];
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #errors: readonly Path[];

  constructor(fragments: ReadonlyMap<string, FragmentDefinitionNode>, errors: readonly Path[]) {
    this.#fragments = fragments;
    this.#errors = errors;
  }

  object(
    type: GraphQLNamedType | null | undefined,
    selected: SelectionSetNode,
    value: unknown,
    path: Path,
  ): void {
    if (!isRecord(value)) return;
    for (const selection of selected.selections) {
      if (selection.kind === Kind.FIELD) {
        this.#field(type, selection, value, path);
        continue;
      }
      const fragment =
        selection.kind === Kind.FRAGMENT_SPREAD ? this.#fragments.get(selection.name.value) : selection;
      const condition = fragment?.typeCondition?.name.value;
      const isOther =
        condition !== undefined && '__typename' in value && isObjectType(schema.getType(condition))
          ? value.__typename !== condition
          : false;
      if (fragment === undefined || isOther) continue;
      const narrowed = condition === undefined ? type : schema.getType(condition);
      this.object(narrowed, fragment.selectionSet, value, path);
    }
  }

  #field(
    type: GraphQLNamedType | null | undefined,
    { alias, name, selectionSet }: FieldNode,
    value: Readonly<Record<string, unknown>>,
    path: Path,
  ): void {
    const fields = isObjectType(type) || isInterfaceType(type) ? type.getFields() : {};
    const field = fields[name.value];
    const key = (alias ?? name).value;
    // Absent: skipped, or of another type's fragment.
    if (field === undefined || !(key in value)) return;
    const coordinate = `${type?.name}.${field.name}`;
    this.#value(coordinate, levelsOf(field), 0, value[key], [...path, key], (item, at) => {
      if (selectionSet !== undefined) this.object(getNamedType(field.type), selectionSet, item, at);
    });
  }

  #value(
    field: string,
    levels: readonly number[],
    level: number,
    value: unknown,
    path: Path,
    visit: (item: unknown, at: Path) => void,
  ): void {
    if (Array.isArray(value)) {
      for (const [i, item] of value.entries())
        this.#value(field, levels, level + 1, item, [...path, i], visit);
    } else if (value !== null) {
      visit(value, path);
    } else if (levels.includes(level)) {
      const isTold = this.#errors.some((error) => path.every((part, i) => error[i] === part));
      this.found.push({ field, path, isTold });
    }
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
