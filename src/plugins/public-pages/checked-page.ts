import { Kind, OperationTypeNode, parse } from 'graphql';
import type { StartedServices } from '../../plugin/index.ts';
import { type PublicDocument, type PublicTerms, publicDocument } from './public-documents.ts';

/** Nothing is cached for a made-up key, so a price is the same for all. */
const PRICING_KEY = 'Bearer price';

/**
 * Reads a page as it would be served, and prices it. Sends nothing.
 * @param text of the document that the terms name
 * @throws Error if it can't be a page, or is too expensive
 */
export async function checkedPage(
  name: string,
  terms: PublicTerms,
  text: string,
  gateway: StartedServices,
): Promise<{ readonly page: PublicDocument; readonly price: string }> {
  const { definitions } = parse(text, { maxTokens: gateway.limits.tokens });
  const [operation, ...others] = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  if (operation?.operation !== OperationTypeNode.QUERY || others.length > 0)
    throw new Error('A page is made of one query, and no other operation.');
  const page = publicDocument(name, terms, gateway, [{ id: terms.document, text }]);
  const headers = { authorization: PRICING_KEY };
  const reply = await gateway.explain({ query: text, variables: page.sample }, { headers });
  const { calls, limit } = reply.errors.length > 0 ? {} : (reply.extensions.explain ?? {});
  if (calls === undefined || limit === undefined)
    throw new Error(reply.errors[0]?.message ?? 'It has no price.');
  if (calls > limit) throw new Error(`It takes ${calls} calls, and MAX_UPSTREAM_CALLS allows ${limit}.`);
  return { page, price: priceWords(calls) };
}

const priceWords = (calls: number) =>
  `It takes ${calls} ${calls === 1 ? 'call' : 'calls'} to the service, and none while its figures are cached.`;
