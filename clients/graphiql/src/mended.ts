import { Kind, parse, visit } from 'graphql';

/**
 * An operation whose texts of a name are replaced by another name; the same text if it has none, or can't be
 * read.
 */
export function mendedQuery(query: string, name: string, better: string): string {
  const places: { readonly start: number; readonly end: number }[] = [];
  try {
    visit(parse(query), {
      [Kind.STRING](node) {
        if (node.value === name && node.loc !== undefined) places.push(node.loc);
      },
    });
  } catch {
    return query;
  }
  return places
    .sort((a, b) => b.start - a.start)
    .reduce((text, { start, end }) => text.slice(0, start) + JSON.stringify(better) + text.slice(end), query);
}

/** Variables, as an editor holds them, whose texts of a name are replaced; names of variables stay. */
export function mendedVariables(variables: string, name: string, better: string): string {
  const literal = JSON.stringify(name).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return variables.replace(new RegExp(`${literal}(?!\\s*:)`, 'g'), () => JSON.stringify(better));
}
