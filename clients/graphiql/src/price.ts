import type { Explained } from './answer.ts';
import { operationTypeIn } from './chart/document.ts';
import { endpoint } from './endpoint.ts';
import type { Operation } from './operation.ts';
import { send } from './send.ts';

/** Asks for the price of an operation; null if that can't be known. */
export async function explained(
  operation: Operation,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<Explained | null> {
  if (!endpoint().explains) return null;
  // Asks nothing while somebody writes, nor of a subscription.
  if (operationTypeIn(operation.query, operation.operationName) !== 'query') return null;
  const { extensions } = await send(operation, { 'x-explain': '1', ...headers }, signal);
  return extensions?.explain ?? null;
}

/** Calls of a price in words. */
export function callsOf({ calls }: Explained): string {
  return calls === 0 ? 'no call' : calls === 1 ? '1 call' : `${calls} calls`;
}
