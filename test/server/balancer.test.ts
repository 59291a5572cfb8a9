import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { startHaproxy } from '../support/haproxy.ts';
import { hasProgram } from '../support/programs.ts';
import { startSandbox } from '../support/sandbox-service.ts';
import { servingStarter } from '../support/serving.ts';

const startGateway = servingStarter({ env: { LOG_LEVEL: 'silent', GRAPHIQL: 'off' } });

const CLIENTS = 8;

/** Time after the end of a gateway until the balancer sees its connections gone. */
const DISPATCH_MS = 50;

const QUERY = '{ country(code: "KE") { name observation(metricKey: "population_total") { value } } }';

/** Outcome of one operation, and the calls that it was billed. */
async function ask(url: string): Promise<readonly [outcome: string, calls: number]> {
  try {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer demo-team' },
      body: JSON.stringify({ query: QUERY }),
    });
    const body = await response.text();
    if (response.status !== 200) return [`status ${response.status}: ${body.slice(0, 200)}`, 0];
    const { data, errors, extensions } = JSON.parse(body);
    const isWhole =
      errors === undefined && data.country.name === 'Kenya' && data.country.observation.value > 0;
    return [isWhole ? 'answered' : body, extensions.upstream.calls];
  } catch (error) {
    return [`lost: ${(error as Error).message}`, 0];
  }
}

describe.skipIf(!hasProgram('haproxy', '-v'))('two gateways behind a load balancer (HAProxy)', () => {
  it('two gateways behind a load balancer (HAProxy) are restarted one after the other under load, and no operation fails', {
    timeout: 60_000,
  }, async () => {
    await using sandbox = await startSandbox();
    const { url: service } = sandbox;
    const ports = [await freePort(), await freePort()];
    // Far longer than the balancer's looks are apart, on a busy machine too.
    const env = { COUNTRY_DATA_URL: service, DRAIN_DELAY_MS: '2500' };
    const start = async (port: number) => (await startGateway({ ...env, PORT: String(port) })).child;
    const gateways = await Promise.all(ports.map(async (port) => ({ port, child: await start(port) })));
    await using balancer = await startHaproxy(ports);

    const outcomes: Record<string, number> = {};
    let billed = 0;
    let isOver = false;
    const clients = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const [outcome, calls] = await ask(balancer.url);
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        billed += calls;
        await pause(10);
      }
    });
    const exits: unknown[] = [];
    for (const { port, child } of gateways) {
      child.kill('SIGTERM');
      exits.push((await once(child, 'exit'))[0]);
      await start(port);
      await balancer.untilAllUp();
    }
    isOver = true;
    await Promise.all(clients);

    expect(exits).toEqual([0, 0]);
    expect(outcomes).toEqual({ answered: expect.any(Number) });
    expect(outcomes.answered).toBeGreaterThan(100);
    // Up to four programs have asked, each for the list and the figure: the last one may come too late for any.
    expect(sandbox.log).toHaveLength(billed);
    expect([6, 8]).toContain(billed);
  });

  it('two gateways behind a load balancer (HAProxy) answer all but what is under way on the one that is killed', {
    timeout: 60_000,
  }, async () => {
    await using sandbox = await startSandbox();
    const { url: service } = sandbox;
    sandbox.faults.set({ kind: 'latency', ms: 150 });
    const ports = [await freePort(), await freePort()];
    const env = { COUNTRY_DATA_URL: service, CACHE_URL: 'none' };
    const start = async (port: number) => (await startGateway({ ...env, PORT: String(port) })).child;
    const [first] = await Promise.all(ports.map(start));
    await using balancer = await startHaproxy(ports);
    await balancer.untilAllUp();

    const asked: { outcome: string; begunAt: number }[] = [];
    let isOver = false;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!isOver) {
        const begunAt = performance.now();
        const [outcome] = await ask(balancer.url);
        asked.push({ outcome, begunAt });
        await pause(10);
      }
    });
    await pause(2000);
    // Clients that ask the same come to ask in step, so that at times nothing is under way: now they all wait.
    const endSlowness = sandbox.faults.set({ kind: 'latency', ms: 3000 });
    await pause(500);
    await balancer.untilAllBusy();
    endSlowness();
    first?.kill('SIGKILL');
    if (first) await once(first, 'exit');
    const goneAt = performance.now();
    await pause(2000);
    await start(ports[0] ?? 0);
    await balancer.untilAllUp();
    await pause(500);
    isOver = true;
    await Promise.all(clients);

    const failed = asked.filter(({ outcome }) => outcome !== 'answered');
    // Finds those alone that were under way at that instant.
    for (const { begunAt } of failed) expect(begunAt).toBeLessThan(goneAt + DISPATCH_MS);
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThanOrEqual(CLIENTS);
    for (const { outcome } of failed) expect(outcome).toMatch(/^(status 502|lost: )/);
    // Each of the clients has had answers before, and goes on having them.
    const answeredAt = asked.filter(({ outcome }) => outcome === 'answered').map(({ begunAt }) => begunAt);
    expect(answeredAt.filter((at) => at < goneAt).length).toBeGreaterThanOrEqual(CLIENTS);
    expect(answeredAt.filter((at) => at > goneAt).length).toBeGreaterThanOrEqual(CLIENTS);
  });
});
