import { presentKind } from '../../../../src/shared/drawings.ts';
import { GATEWAY } from '../addresses.ts';
import { apiKey } from '../api-key.ts';
import type { Operation } from '../operation.ts';
import { callsOf, explained } from '../price.ts';
import type { Draft, PageWords } from './publish-words.ts';

export interface PublishedPage {
  readonly name: string;
  readonly title?: string | null;
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
