import { type PluginServices, plain } from '../../plugin/index.ts';

type GraphField = ReturnType<PluginServices['fields']>[number];

const MAX_FOUND_FIELDS = 12;

const MAX_DESCRIPTION_CHARACTERS = 300;

/** Finds fields with all the words in their names or descriptions; matches of names come first. */
export function createFieldSearch(list: () => readonly GraphField[]) {
  let fields: ReturnType<typeof searchable> | undefined;
  return (words: string) => {
    const wanted = [...new Set(plain(words).split(/\s+/).filter(Boolean))];
    fields ??= searchable(list());
    const isIn = (place: string) => (word: string) => place.includes(word);
    return fields
      .filter(({ all }) => wanted.length > 0 && wanted.every(isIn(all)))
      .map(({ shown: text, name }) => ({ shown: text, rank: wanted.filter(isIn(name)).length }))
      .toSorted((a, b) => b.rank - a.rank)
      .slice(0, MAX_FOUND_FIELDS)
      .map(({ shown: text }) => text);
  };
}

function searchable(fields: readonly GraphField[]) {
  return fields
    .filter(({ parent }) => !parent.startsWith('_'))
    .map(({ parent, name: field, args, type, description }) => {
      const given = args.map(({ name, type }) => `${name}: ${type}`).join(', ');
      const words = `${parent}.${field} ${parent}${field}`;
      const name = plain(words.replaceAll(/([A-Z])/g, ' $1'));
      return {
        shown: {
          field: `${parent}.${field}${given === '' ? '' : `(${given})`}`,
          type,
          description: description.replaceAll(/\s+/g, ' ').slice(0, MAX_DESCRIPTION_CHARACTERS),
        },
        name,
        all: plain(`${name} ${parent}.${field} ${given} ${description}`),
      };
    });
}
