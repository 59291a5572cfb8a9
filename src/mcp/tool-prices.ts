import type { Gateway } from '../gateway.ts';
import { asked, type GraphqlReply, replyOf } from './asking-gateway.ts';
import type { OperationTool } from './operation-tools.ts';

/** Price of a tool if nothing is held, in calls to the service. */
export interface ToolPrice {
  readonly least: number;
  readonly expected: number;
  readonly most: number;
  /** Calls beyond which an operation is refused. */
  readonly limit: number;
}

/** A made-up key: nothing is sent, and nothing is held for it, so that the price is the same for all. */
const NO_KEY = 'Bearer price-of-tools';

/** Prices tools, each once; null if its price can't be told without its arguments. */
export function createToolPrices(
  gateway: Pick<Gateway, 'handle'>,
): (tool: OperationTool) => Promise<ToolPrice | null> {
  const known = new WeakMap<OperationTool, ToolPrice | null>();
  return async (tool) => {
    const found = known.get(tool);
    if (found !== undefined) return found;
    const { signal } = new AbortController();
    const headers = { authorization: NO_KEY, 'x-explain': '1' };
    const reply = replyOf(await asked(gateway, { tool, variables: tool.sample, headers, signal }));
    const price = priceIn(reply);
    // A price that can't be told for want of room is asked for again.
    if (price !== null || !reply.errors.some(({ extensions }) => extensions?.retryable === true))
      known.set(tool, price);
    return price;
  };
}

function priceIn({ errors, extensions: { explain } = {} }: GraphqlReply): ToolPrice | null {
  if (explain === undefined || errors.length > 0) return null;
  const { least, calls, most, limit } = explain;
  return { least, expected: calls, most, limit };
}

/** Describes the work and the price of a tool, for a model that chooses among tools. */
export function describedWithPrice({ description, sample }: OperationTool, price: ToolPrice | null): string {
  const refused = 'It is refused before any call where it would cost more than this gateway allows.';
  if (price === null)
    return `${description}\n\nWhat it costs in calls to the metered service depends on its arguments. ${refused}`;
  const { least, expected, most, limit } = price;
  const given = Object.keys(sample).length === 0 ? '' : ` for ${JSON.stringify(sample)}`;
  const costs = `Costs ${expected} call(s) to the metered service${given} where nothing is held: at least ${least}, at most ${most}.`;
  return `${description}\n\n${costs} ${refused.replace('than this gateway allows', `than ${limit}`)}`;
}
