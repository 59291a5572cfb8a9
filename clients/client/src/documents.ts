import { isFixed } from './fixed-documents.ts';
import { nodeTypes } from './keys.ts';
import { OBJECT_FIELDS } from './types-of-schema.ts';

/** Nodes of a document, as any version of `graphql` parses it. */
export interface Selection {
  readonly kind: string;
  readonly operation?: string;
  readonly name?: { readonly value: string };
  readonly alias?: { readonly value: string };
  readonly arguments?: readonly Argument[];
  readonly directives?: readonly {
    readonly name: { readonly value: string };
    readonly arguments?: readonly Argument[];
  }[];
  readonly typeCondition?: { readonly name: { readonly value: string } };
  readonly selectionSet?: { readonly selections: readonly Selection[] };
}

interface Argument {
  readonly name: { readonly value: string };
  readonly value: object;
}

const ROOTS: Readonly<Record<string, string>> = { query: 'Query', subscription: 'Subscription' };
const ID = { kind: 'Field', name: { kind: 'Name', value: 'id' } };

const made = new WeakMap<object, object>();

/**
 * Selects the `id` of each object that has one, which costs no call. Thereby a cache tells one object from
 * another, and merges all that several operations select of it.
 *
 * A document that is stored by its hash stays as it is, since the gateway answers the stored one: run this
 * before it is stored. So does a document in which another field is called `id`.
 */
export function withIds<Document extends object>(document: Document): Document {
  let found = made.get(document);
  if (found === undefined) {
    found = isFixed(document) ? document : identified(document);
    made.set(document, found);
    made.set(found, found);
  }
  return found as Document;
}

function identified(document: object): object {
  const { definitions } = document as { readonly definitions: readonly Selection[] };
  if (definitions.some(hasOtherId)) return document;
  // The place in a text, and the key that urql knows a text by, are those of the document before.
  const { loc, __key, ...rest } = document as { readonly loc?: unknown; readonly __key?: unknown };
  return {
    ...rest,
    definitions: definitions.map((one) => {
      const typename = one.typeCondition?.name.value ?? ROOTS[one.operation ?? ''];
      return selecting(one, typename, nodeTypes.has(typename));
    }),
  };
}

function hasOtherId({ name, alias, selectionSet }: Selection): boolean {
  if (alias?.value === 'id' && name?.value !== 'id') return true;
  return selectionSet?.selections.some(hasOtherId) ?? false;
}

/**
 * The node with the fields that are added below it. Objects of unknown types, such as those of other
 * subgraphs, are looked through.
 */
function selecting(node: Selection, typename: string | undefined, takesId: boolean): Selection {
  if (node.selectionSet === undefined) return node;
  const selections = node.selectionSet.selections.map((one) => {
    if (one.kind === 'Field') {
      const type = OBJECT_FIELDS[typename ?? '']?.[one.name?.value ?? ''];
      return selecting(one, type, nodeTypes.has(type));
    }
    const type = one.typeCondition?.name.value ?? typename;
    return selecting(one, type, nodeTypes.has(type) && !nodeTypes.has(typename));
  });
  const isThere = selections.some(isPlainId);
  return {
    ...node,
    selectionSet: {
      ...node.selectionSet,
      selections: takesId && !isThere ? [...selections, ID] : selections,
    },
  };
}

const isPlainId = ({ name, alias, directives = [] }: Selection) =>
  name?.value === 'id' && (alias ?? name).value === 'id' && directives.length === 0;
