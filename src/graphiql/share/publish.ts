import { astFromValue, type GraphQLSchema, isInputType, parse, print, typeFromAST, visit } from 'graphql';
import { presentKind } from '../../shared/drawings.ts';
import { GATEWAY } from '../addresses.ts';
import { apiKey } from '../api-key.ts';
import type { Operation } from '../operation.ts';
import { callsOf, explained } from '../price.ts';
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

export interface PublishedPage {
  readonly name: string;
  readonly title?: string | null;
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
  const plain = title.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return (
    plain
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

/** A key for which nothing is cached, so that the price is that of the first visit. */
const PRICING = { authorization: 'Bearer price' };

/** What a visit costs, in words; empty if that can't be known. */
export async function priceOfVisit(operation: Operation, signal: AbortSignal): Promise<string> {
  const price = await explained(operation, signal, PRICING);
  return price === null
    ? ''
    : `A visit takes ${callsOf(price)} to the service, and none while its figures are cached.`;
}

export function publishPage({ text, look }: Draft, { name, title, note, theme }: PageWords) {
  return ask<{ readonly title: string | null; readonly price: string }>('POST', '', {
    name,
    query: text,
    ...(title.trim() !== '' && { title }),
    ...(note.trim() !== '' && { note }),
    ...(theme !== 'auto' && { theme }),
    picture: pictureOf(look),
  });
}

export async function publishedPages(): Promise<readonly PublishedPage[]> {
  return (await ask<{ readonly pages: readonly PublishedPage[] }>('GET', '')).pages;
}

export const unpublishPage = (name: string) => ask('DELETE', `/${encodeURIComponent(name)}`);

/** The look as the file of pages has it. */
function pictureOf(look: URLSearchParams): Record<string, unknown> {
  const picture: Record<string, unknown> = {};
  for (const key of new Set(look.keys())) {
    const name = key.replace('picture.', '');
    const [text = ''] = look.getAll(key);
    if (name === 'highlight' || name === 'removed') picture[name] = look.getAll(key);
    else if (name === 'base' || name === 'year') picture[name] = Number(text);
    else if (name === 'isLog' || name === 'isShared') picture[name] = text === 'true';
    else picture[name] = name === 'kind' ? presentKind(text) : text;
  }
  return picture;
}

async function ask<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const key = apiKey.get();
  const response = await fetch(`${GATEWAY}c${path}`, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== '' && { authorization: `Bearer ${key}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = await response.json().catch(() => null);
  if (response.ok && answer?.errors === undefined) return answer as Answer;
  throw new Error(answer?.errors?.[0]?.message ?? `The gateway answered ${response.status}.`);
}
