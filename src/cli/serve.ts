import { setTimeout } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { MB, processBudgetMb } from '../config/memory-budget.ts';
import { createGateway, type Gateway } from '../gateway/gateway.ts';
import type { Observer, RunFile } from '../gateway/gateway-parts.ts';
import type { PluginDefinition } from '../plugin/definition.ts';
import type { Log } from '../server/log.ts';
import { watchMemory } from '../server/memory-watch.ts';
import { createMetrics, type Metrics, type MetricsSnapshot } from '../server/metrics.ts';
import { createServer } from '../server/server.ts';
import { ownBuild } from '../shared/own-version.ts';
import type { Addresses } from './workers/supervisor.ts';

export interface Program extends Addresses {
  readonly sandbox: { readonly url: string; readonly keys: Readonly<Record<string, string>> } | undefined;
  /**
   * See the server's `drain`.
   * @returns the number of requests that were cut
   */
  drain(delayMs?: number, isReplaced?: boolean): Promise<number>;
}

/** What the supervising process opens for all workers. */
interface Common {
  readonly upstreamUrl: string;
  /** Null if there is no sandbox. */
  readonly demoKeys: Readonly<Record<string, string>> | null;
  /** Megabytes of one worker. */
  readonly budgetMb: number;
  /** Left out if the settings name a store. */
  readonly runFile: RunFile | undefined;
  /** The metrics of all workers together; null if they can't be known. */
  readonly textOfAll: () => Promise<string | null>;
}

/** @param common left out if there is only one process */
export async function startProgram(
  config: Config,
  plugins: readonly PluginDefinition[],
  log: Log,
  common?: Common,
): Promise<Program & { snapshot(): Promise<MetricsSnapshot> }> {
  const isOverSandbox = common === undefined && config.countryDataUrl === undefined;
  const sandbox = isOverSandbox ? await openSandbox() : undefined;
  try {
    const upstreamUrl = common?.upstreamUrl ?? config.countryDataUrl ?? sandbox?.url ?? '';
    const metrics = createMetrics(ownBuild(), log.droppedLines, common?.textOfAll);
    const budgetMb = common?.budgetMb ?? processBudgetMb(config);
    const observer = both(log, metrics);
    const gateway = await createGateway({
      config,
      plugins,
      upstreamUrl,
      observer,
      runFile: common?.runFile,
      takenMemory: () => process.memoryUsage.rss() / (budgetMb * MB),
    });
    const demoKeys = common?.demoKeys ?? sandbox?.keys ?? null;
    const server = createServer({ config, gateway, metrics, log, demoKeys });
    const stopWatching = watchMemory({ budgetMb, shrink: gateway.shrink });
    const { url, adminUrl } = await server.listen().catch(async (error: unknown) => {
      await gateway.stop();
      throw error;
    });
    let isDraining = false;
    // After the ready line.
    setImmediate(() => {
      warmUpBetween(gateway, () => isDraining).catch((error) => observer.problem(error, 'warm-up'));
    });
    return {
      url,
      adminUrl,
      sandbox,
      snapshot: metrics.snapshot,
      async drain(delayMs, isReplaced) {
        isDraining = true;
        const cut = await server.drain(delayMs, isReplaced);
        stopWatching();
        await sandbox?.close();
        return cut;
      },
    };
  } catch (error) {
    await sandbox?.close();
    throw error;
  }
}

/** Milliseconds between looks while requests are under way. */
const BUSY_LOOK_MS = 20;

/** So many real operations have warmed the code up themselves. */
const ENOUGH = 100;

async function warmUpBetween({ schema, load }: Gateway, isDraining: () => boolean): Promise<void> {
  const isOver = () => isDraining() || load.begun >= ENOUGH;
  const { warmUp } = await import('../server/warm-up.ts');
  await warmUp(schema, async () => {
    await new Promise(setImmediate);
    while (load.underWay > 0 && !isOver()) await setTimeout(BUSY_LOOK_MS, undefined, { ref: false });
    return !isOver();
  });
}

/** At a port of its own. */
export async function openSandbox() {
  const { createSandbox } = await import('../sandbox/sandbox.ts');
  const { listen, keys, close } = createSandbox();
  const { url } = await listen();
  return { url, keys, close };
}

function both(one: Log, other: Metrics): Observer {
  return {
    ...other,
    warn: one.warn,
    operation(event) {
      one.operation(event);
      other.operation(event);
    },
    attempt(event) {
      one.attempt(event);
      other.attempt(event);
    },
    outage(outage) {
      one.outage?.(outage);
      other.outage?.(outage);
    },
    problem(error, where, requestId) {
      one.problem(error, where, requestId);
      other.problem(error, where, requestId);
    },
  };
}
