import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Serving, servingStarter } from '../support/serving.ts';

interface Instance extends Serving {
  isReady: boolean;
}

const startProgram = servingStarter({
  env: { DRAIN_DELAY_MS: '600', LOG_LEVEL: 'silent', GRAPHIQL: 'off' },
});
const start = async (): Promise<Instance> => ({ ...(await startProgram()), isReady: true });

/** A stand-in for the load balancer in front of the instances: it asks each now and then if it is ready. */
function createBalancer(instances: Instance[]) {
  let isOver = false;
  let next = 0;
  const watching = (async () => {
    while (!isOver) {
      for (const instance of instances) {
        const ready = await fetch(new URL('/health/ready', instance.url)).catch(() => null);
        instance.isReady = ready?.status === 200;
      }
      await pause(100);
    }
  })();
  return {
    pick(): Instance {
      const ready = instances.filter(({ isReady }) => isReady);
      next += 1;
      return ready[next % ready.length] as Instance;
    },
    async stop() {
      isOver = true;
      await watching;
    },
  };
}

const QUERY = '{ country(code: "KE") { name observation(metricKey: "population_total") { value } } }';

/** Asks over a connection of its own. */
async function ask(url: string): Promise<string> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer demo-team', connection: 'close' },
      body: JSON.stringify({ query: QUERY }),
    });
    const { data } = (await response.json()) as { data?: { country?: { name?: string } } };
    return data?.country?.name === 'Kenya' ? 'answered' : `answered with ${response.status}`;
  } catch (error) {
    return `lost: ${(error as Error).message}`;
  }
}

describe('instances that are replaced one after the other under load', () => {
  it('instances that are replaced one after the other under load lose no request, though each comes over a connection of its own', {
    timeout: 60_000,
  }, async () => {
    const instances = [await start(), await start()];
    const balancer = createBalancer(instances);
    const outcomes: Record<string, number> = {};
    let isOver = false;
    const clients = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const outcome = await ask(balancer.pick().url);
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        await pause(5);
      }
    });
    const exits: unknown[] = [];
    for (const old of [...instances]) {
      instances.push(await start());
      old.child.kill('SIGTERM');
      exits.push((await once(old.child, 'exit'))[0]);
      instances.splice(instances.indexOf(old), 1);
    }
    isOver = true;
    await Promise.all(clients);
    await balancer.stop();
    expect(exits).toEqual([0, 0]);
    expect(outcomes).toEqual({ answered: expect.any(Number) });
    expect(outcomes.answered).toBeGreaterThan(100);
  });
});
