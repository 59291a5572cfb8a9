import { setTimeout as pause } from 'node:timers/promises';
import { createSandbox } from '../../src/sandbox/sandbox.ts';

/** Limits that are never reached. */
const AMPLE = { requestsPerMinute: 100_000, monthlyRequests: 1_000_000_000 };

const SOURCE = 'world_bank_wdi';
export const METRIC = 'population_total';

/** Starts the sandbox. The figures of one metric can be revised, and its requests are counted. */
export async function startService() {
  const sandbox = createSandbox({ plans: { free: AMPLE, analyst: AMPLE, team: AMPLE } });
  const { url } = await sandbox.listen();
  let factor = 1;
  sandbox.faults.set({
    kind: 'shape',
    route: '/v1/data',
    patch: (body) => ({
      ...body,
      data: body.data.map((row: { metric_key: string; value: number }) =>
        row.metric_key === METRIC ? { ...row, value: Math.round(row.value * factor) } : row,
      ),
    }),
  });
  return {
    url,
    close: sandbox.close,
    /** Has the source run, and all figures of the metric change. */
    revise(round: number): void {
      factor = 1 + round / 100;
      sandbox.refresh(SOURCE);
    },
    /** Has a source run whose figures nobody has requested. */
    runAnother: () => sandbox.refresh('afrobarometer_rounds'),
    /** Number of requests since the previous call, by route and key. */
    calls(): ReadonlyMap<string, number> {
      const counts = new Map<string, number>();
      for (const { route, key } of sandbox.log)
        counts.set(`${route} ${key}`, (counts.get(`${route} ${key}`) ?? 0) + 1);
      sandbox.log.clear();
      return counts;
    },
    /** The current latest figures of the service, by country. */
    async figures(codes: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const search = `country_codes=${codes}&metric_keys=${METRIC}&latest=true`;
      const answer = await fetch(`${url}/v1/data?${search}`, {
        headers: { authorization: `Bearer ${sandbox.keys.team}` },
      });
      const { data } = (await answer.json()) as { data: { country_code: string; value: number }[] };
      // Removes only this request: gateways may have sent others meanwhile.
      const at = sandbox.log.findLastIndex(({ query }) => query.country_codes === String(codes));
      sandbox.log.splice(at, 1);
      return new Map(data.map(({ country_code: code, value }) => [code.toUpperCase(), value]));
    },
  };
}

export type Service = Awaited<ReturnType<typeof startService>>;

/** Waits until a condition is true; returns false if it isn't in time. */
export async function until(isTrue: () => boolean | Promise<boolean>, withinMs = 30_000): Promise<boolean> {
  const endsAtMs = performance.now() + withinMs;
  while (!(await isTrue())) {
    if (performance.now() > endsAtMs) return false;
    await pause(50);
  }
  return true;
}
