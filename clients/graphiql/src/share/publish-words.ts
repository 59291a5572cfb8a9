import { astFromValue, type GraphQLSchema, isInputType, parse, print, typeFromAST, visit } from 'graphql';
import { plain } from '../../../../src/shared/plain-text.ts';
import type { Operation } from '../operation.ts';
import { quoted } from './snippets.ts';

/** What somebody is about to publish. */
export interface Draft {
  readonly operation: Operation;
  /** The operation's text, whose variables begin with the values that are shown. */
  readonly text: string;
  /** Variables that the address has to give, since the text may not be changed. */
  readonly variables: Operation['variables'];
  readonly title: string;
  /** The look of the picture, as parameters of addresses. */
  readonly look: URLSearchParams;
}

export interface PageWords {
  readonly name: string;
  readonly title: string;
  readonly note: string;
  readonly theme: string;
}

/** Has an operation's variables begin with given values, so that its page shows them at its plain address. */
export function withDefaults(
  query: string,
  variables: Operation['variables'] = {},
  schema: GraphQLSchema,
): string {
  const changes: { readonly start: number; readonly end: number; readonly text: string }[] = [];
  try {
    visit(parse(query), {
      VariableDefinition({ variable, type: typeNode, defaultValue }) {
        const value = variables[variable.name.value];
        const type = typeFromAST(schema, typeNode as never);
        const literal = value == null || !isInputType(type) ? null : astFromValue(value, type);
        const end = typeNode.loc?.end ?? 0;
        const { loc = { start: end, end } } = defaultValue ?? {};
        if (literal == null) return;
        const text = print(literal);
        changes.push({
          start: loc.start,
          end: loc.end,
          text: defaultValue === undefined ? ` = ${text}` : text,
        });
      },
    });
  } catch {
    // The address has to give them.
    return query;
  }
  return changes
    .toSorted((a, b) => b.start - a.start)
    .reduce((text, { start, end, text: put }) => text.slice(0, start) + put + text.slice(end), query);
}

/** A name for addresses and files. */
export function nameFrom(title: string): string {
  return (
    plain(title)
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 40)
      .replace(/-$/, '') || 'picture'
  );
}

/** The command that publishes a file, for an operator. */
export function publishCommand({ name, title, note, theme }: PageWords, look: URLSearchParams): string {
  const options = { title, note, theme: theme === 'auto' ? '' : theme, look: look.toString() };
  const given = Object.entries(options).flatMap(([option, value]) =>
    value.trim() === '' ? [] : [`--${option} ${quoted(value.trim())}`],
  );
  return ['country-graph publish', `${name}.graphql`, ...given].join(' ');
}
