import { Kind, type OperationDefinitionNode } from 'graphql';

/** Most texts don't, and needn't be looked up. */
export function mayReadSchema(text: string): boolean {
  return (
    text.includes('__schema') ||
    text.includes('_service') ||
    (text.includes('__type') && /__type(?!name)/.test(text))
  );
}

const SCHEMA_FIELDS = /^(__schema|__type|_service)$/;

export function readsSchemaAlone({ selectionSet }: OperationDefinitionNode): boolean {
  let count = 0;
  for (const selection of selectionSet.selections) {
    if (selection.kind !== Kind.FIELD) return false;
    const { value } = selection.name;
    if (SCHEMA_FIELDS.test(value)) count += 1;
    else if (value !== '__typename') return false;
  }
  return count > 0;
}
