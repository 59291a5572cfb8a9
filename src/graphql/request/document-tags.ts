import { type GraphQLSchema, getNamedType, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { BoundedCache, OVERHEAD_BYTES } from '../../cache/lru.ts';
import { partOf } from '../schema/key-checks.ts';

/** Bytes of texts whose tags are cached: anybody has a page's key, and may send texts of any length. */
const MAX_TAGGED_BYTES = 4 * 1024 * 1024;

/** Reads the tags of all types in a document, whichever of its operations runs. */
export function createTagReader(schema: GraphQLSchema, maxTokens: number) {
  const cached = new BoundedCache<readonly string[]>(
    MAX_TAGGED_BYTES,
    (_, text) => OVERHEAD_BYTES + 2 * text.length,
  );
  return (text: string): readonly string[] => {
    const cachedTags = cached.get(text);
    if (cachedTags !== undefined) return cachedTags;
    const tags = tagsIn(text, schema, maxTokens);
    cached.set(text, tags);
    return tags;
  };
}

function tagsIn(text: string, schema: GraphQLSchema, maxTokens: number): readonly string[] {
  const tags = new Set<string>();
  const types = new TypeInfo(schema);
  const note = () => {
    for (const type of [types.getParentType(), getNamedType(types.getType())]) {
      const part = type == null ? 'base' : partOf(type);
      if (part !== 'base') tags.add(part);
    }
  };
  try {
    const document = parse(text, { maxTokens, noLocation: true });
    visit(
      document,
      visitWithTypeInfo(types, { Field: note, InlineFragment: note, FragmentDefinition: note }),
    );
  } catch {
    // Other stages refuse it.
  }
  return [...tags];
}
