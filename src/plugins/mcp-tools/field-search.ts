import { type GraphQLSchema, isObjectType } from 'graphql';
import { plain, wordsIn } from '../../graphql/resolvers/ordering.ts';

const MAX_FOUND_FIELDS = 12;

const MAX_DESCRIPTION_CHARACTERS = 300;

/** Finds fields with all the words in their names or descriptions; matches of names come first. */
export function createFieldSearch(schema: GraphQLSchema) {
  let fields: ReturnType<typeof fieldsOf> | undefined;
  return (words: string) => {
    const wanted = wordsIn(words);
    fields ??= fieldsOf(schema);
    const isIn = (place: string) => (word: string) => place.includes(word);
    return fields
      .filter(({ all }) => wanted.length > 0 && wanted.every(isIn(all)))
      .map(({ shown: text, name }) => ({ shown: text, rank: wanted.filter(isIn(name)).length }))
      .toSorted((a, b) => b.rank - a.rank)
      .slice(0, MAX_FOUND_FIELDS)
      .map(({ shown: text }) => text);
  };
}

function fieldsOf(schema: GraphQLSchema) {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  return types
    .filter(({ name }) => !name.startsWith('_'))
    .flatMap((type) =>
      Object.values(type.getFields()).map((field) => {
        const given = field.args.map(({ name, type }) => `${name}: ${type}`).join(', ');
        const words = `${type.name}.${field.name} ${type.name}${field.name}`;
        const name = plain(words.replaceAll(/([A-Z])/g, ' $1'));
        return {
          shown: {
            field: `${type.name}.${field.name}${given === '' ? '' : `(${given})`}`,
            type: String(field.type),
            description: (field.description ?? '')
              .replaceAll(/\s+/g, ' ')
              .slice(0, MAX_DESCRIPTION_CHARACTERS),
          },
          name,
          all: plain(`${name} ${type.name}.${field.name} ${given} ${field.description ?? ''}`),
        };
      }),
    );
}
