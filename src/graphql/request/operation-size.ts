import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { fragmentsIn } from '../execution/plan.ts';
import type { Prepared } from './prepared-operation.ts';

/*
 * Bytes that an operation takes while it is cached: more than `bench/footprint.ts` measures of any kind. Its text
 * is a small part of that.
 */
const PER_OPERATION = 8_000;
const PER_CHARACTER = 2;
/** Bytes of the syntax tree per token: the tree knows each token and its place. */
const PER_TOKEN = 400;
/** Bytes of a plan: for each field, and below for the code that makes the objects of a selection. */
const PER_SELECTION = 900;
const PER_OBJECT = 5_000;

/** Fields of objects of several types, each with a plan of its own. */
const ABSTRACT_FIELDS = /^(node|nodes|_entities)$/;
const MOST_TYPES = 6;

/** The most that an operation takes while it is cached. */
export function footprintOf(text: string, { document, operation, maxPlans }: Prepared): number {
  return (
    PER_OPERATION +
    PER_CHARACTER * text.length +
    PER_TOKEN * tokensOf(document) +
    maxPlans * planBytes(document, operation)
  );
}

function tokensOf({ loc }: DocumentNode): number {
  let count = 0;
  for (let token = loc?.startToken ?? null; token !== null; token = token.next) count += 1;
  return count;
}

/** With its fragments written out. */
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

type FragmentOf = (name: string) => FragmentDefinitionNode | null | undefined;

/** Fragments are written out: a few that spread each other stand for more selections than can be worked through. */
export function selectionCounter(fragmentOf: FragmentOf): (set: SelectionSetNode) => number {
  return sumOfSelections(fragmentOf, (_, below) => 1 + below);
}

/** Direct fields, those of fragments included. */
export function fieldCounter(fragmentOf: FragmentOf): (set: SelectionSetNode) => number {
  return sumOfSelections(fragmentOf, ({ kind }, below) => (kind === Kind.FIELD ? 1 : below));
}

/**
 * Walks each fragment once. A fragment being walked counts as nothing, so that recursion ends.
 * @param worthOf returns the sum of a selection by that of the selections below it
 */
function sumOfSelections(
  fragmentOf: FragmentOf,
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
