import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isCompositeType,
  isUnionType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { SelectionScope } from '../graph/selection.ts';

/** A sum over the fields of an operation. */
export interface FieldSum<Sum> {
  /** The sum of no fields. */
  readonly nothing: Sum;
  readonly both: (a: Sum, b: Sum) => Sum;
  /** Tells if a selection doesn't count; all do if this is left out. */
  readonly isLeftOut?: (selection: SelectionNode) => boolean;
  /**
   * Returns the sum of one field, and of its selection.
   * @param parents objects that have the field
   */
  ofField(
    field: GraphQLField<unknown, unknown>,
    node: FieldNode,
    type: GraphQLCompositeType,
    parents: number,
    below: SumOfSet<Sum>,
  ): Sum;
}

/** @param parents objects that have the selection */
export type SumOfSet<Sum> = (
  type: GraphQLNamedType | null | undefined,
  set: SelectionSetNode,
  parents: number,
) => Sum;

/**
 * Adds up over a selection set and its fragments. A fragment is walked once for each number of parents: those that spread
 * each other make more paths than can be walked.
 */
export function summing<Sum>(
  schema: GraphQLSchema,
  { fragments }: Pick<SelectionScope, 'fragments'>,
  { nothing, both, isLeftOut = () => false, ofField }: FieldSum<Sum>,
): SumOfSet<Sum> {
  const ofFragments = new Map<string, Sum>();

  const ofSet: SumOfSet<Sum> = (type, set, parents) => {
    if (!isCompositeType(type)) return nothing;
    let sum = nothing;
    for (const selection of set.selections) {
      if (!isLeftOut(selection)) sum = both(sum, ofSelection(selection, type, parents));
    }
    return sum;
  };

  function ofSelection(selection: SelectionNode, type: GraphQLCompositeType, parents: number): Sum {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value, parents);
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const condition = selection.typeCondition?.name.value;
      const onType = condition === undefined ? type : schema.getType(condition);
      return ofSet(onType, selection.selectionSet, parents);
    }
    const field = isUnionType(type) ? undefined : type.getFields()[selection.name.value];
    return field === undefined ? nothing : ofField(field, selection, type, parents, ofSet);
  }

  function ofFragment(name: string, parents: number): Sum {
    const fragment = fragments[name];
    if (fragment === undefined) return nothing;
    const key = `${name} ${parents}`;
    let sum = ofFragments.get(key);
    if (sum === undefined) {
      sum = ofSet(schema.getType(fragment.typeCondition.name.value), fragment.selectionSet, parents);
      ofFragments.set(key, sum);
    }
    return sum;
  }

  return ofSet;
}
