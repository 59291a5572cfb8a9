import { createGateway } from '../gateway/gateway.ts';
import type { GatewayParts } from '../gateway/gateway-parts.ts';
import type { ComposedGateway } from '../gateway/plugin.ts';

/**
 * Opens a gateway for a command that needs more of it than the library hands out.
 * @param documents its own operations, which may run beside the trusted ones
 */
export async function openComposed(parts: GatewayParts, documents: readonly string[] = []) {
  const { promise: composed, resolve: compose } = Promise.withResolvers<ComposedGateway>();
  const { stop } = await createGateway({
    ...parts,
    own: [...(parts.own ?? []), { documents, start: compose }],
  });
  return { gateway: await composed, stop };
}
