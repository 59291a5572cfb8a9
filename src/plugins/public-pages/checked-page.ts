import { type GraphQLSchema, Kind, OperationTypeNode, parse } from 'graphql';
import { explained, PRICING_KEY, priceIn } from '../../graphql/request/own-requests.ts';
import type { HandleRequest } from '../../plugin/index.ts';
import { type PublicDocument, type PublicTerms, publicDocument } from './public-documents.ts';

interface Checker {
  readonly schema: GraphQLSchema;
  readonly handle: HandleRequest;
  readonly maxTokens: number;
}

/**
 * Reads a page as it would be served, and prices it. Sends nothing.
 * @param text of the document that the terms name
 * @throws Error if it can't be a page, or is too expensive
 */
export async function checkedPage(
  name: string,
  terms: PublicTerms,
  text: string,
  { schema, handle, maxTokens }: Checker,
): Promise<{ readonly page: PublicDocument; readonly price: string }> {
  const { definitions } = parse(text, { maxTokens });
  const [operation, ...others] = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  if (operation?.operation !== OperationTypeNode.QUERY || others.length > 0)
    throw new Error('A page is made of one query, and no other operation.');
  const page = publicDocument(name, terms, schema, [{ id: terms.document, text }]);
  const headers = { authorization: PRICING_KEY };
  const reply = await explained(handle, { query: text, variables: page.sample }, { headers });
  const { calls, limit } = priceIn(reply) ?? {};
  if (calls === undefined || limit === undefined)
    throw new Error(reply.errors[0]?.message ?? 'It has no price.');
  if (calls > limit) throw new Error(`It takes ${calls} calls, and MAX_UPSTREAM_CALLS allows ${limit}.`);
  return { page, price: priceWords(calls) };
}

const priceWords = (calls: number) =>
  `It takes ${calls} ${calls === 1 ? 'call' : 'calls'} to the service, and none while its figures are cached.`;
