import type { Config } from '../config.ts';
import { createGateway, type Observer } from '../gateway.ts';
import type { Log } from '../server/log.ts';
import { createMetrics } from '../server/metrics.ts';
import { createServer } from '../server/server.ts';

export interface Program {
  /** The GraphQL address. */
  readonly url: string;
  /** The embedded sandbox, where no service is configured. */
  readonly sandbox: { readonly url: string; readonly keys: Readonly<Record<string, string>> } | undefined;
  /**
   * Lets operations in flight finish and closes everything; see the server's `drain`.
   * @returns how many requests were cut
   */
  drain(delayMs?: number): Promise<number>;
}

/** Everything that `serve` runs, in one process. */
export async function startProgram(config: Config, log: Log): Promise<Program> {
  const sandbox = config.countryDataUrl === undefined ? await openSandbox() : undefined;
  try {
    const listening = await sandbox?.listen({ host: '127.0.0.1', port: 0 });
    const upstreamUrl = config.countryDataUrl ?? listening?.url ?? '';
    const metrics = createMetrics({ droppedLines: log.droppedLines });
    const gateway = await createGateway({ config, upstreamUrl, observer: both(log, metrics) });
    const server = createServer({ config, gateway, metrics, log, demoKeys: sandbox?.keys ?? null });
    const { url } = await server.listen().catch(async (error: unknown) => {
      await gateway.stop();
      throw error;
    });
    return {
      url,
      sandbox: sandbox && listening && { url: listening.url, keys: sandbox.keys },
      async drain(delayMs) {
        const cut = await server.drain(delayMs);
        await sandbox?.close();
        return cut;
      },
    };
  } catch (error) {
    await sandbox?.close();
    throw error;
  }
}

async function openSandbox() {
  const { createSandbox } = await import('../sandbox/sandbox.ts');
  return createSandbox();
}

function both(one: Observer, other: Observer): Observer {
  return {
    operation(event) {
      one.operation(event);
      other.operation(event);
    },
    attempt(event) {
      one.attempt(event);
      other.attempt(event);
    },
    problem(error, where) {
      one.problem(error, where);
      other.problem(error, where);
    },
  };
}
