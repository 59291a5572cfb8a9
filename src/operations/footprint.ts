import { type DocumentNode, Kind, type OperationDefinitionNode, type SelectionSetNode } from 'graphql';
import { conditionsOf, fragmentsIn } from '../execution/plan.ts';

/** Combinations of skipped and included fields that are kept ready of one operation. */
export const MAX_PLANS = 32;

/*
 * Bytes that an operation takes while it is kept ready: more than `bench/footprint.ts` measures of any kind. Its text
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

/** Bytes that an operation takes at the most while it is kept ready. */
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
  const known = new Map<string, number>();

  function bytesOf(set: SelectionSetNode): number {
    let bytes = PER_OBJECT;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        bytes += bytesOfFragment(selection.name.value);
      } else {
        const below = selection.selectionSet === undefined ? 0 : bytesOf(selection.selectionSet);
        const isAbstract = selection.kind === Kind.FIELD && ABSTRACT_FIELDS.test(selection.name.value);
        bytes += PER_SELECTION + below * (isAbstract ? MOST_TYPES : 1);
      }
    }
    return bytes;
  }

  function bytesOfFragment(name: string): number {
    const fragment = fragments[name];
    let bytes = known.get(name);
    if (bytes === undefined && fragment !== undefined) {
      bytes = bytesOf(fragment.selectionSet);
      known.set(name, bytes);
    }
    return bytes ?? 0;
  }

  return bytesOf(operation.selectionSet);
}
