import { expect, it } from 'vitest';
import { openFixedService } from '../support/fixed-service.ts';
import { openProgram } from '../support/program.ts';
import { SENT_ROW } from '../support/sent-row.ts';

it('rows without a value are none to compare a figure with, and no error', async () => {
  const row = (country_code: string, value: number | null) => ({
    ...SENT_ROW,
    country_code,
    location_name: null,
    as_of_period: null,
    value,
  });
  await using service = await openFixedService({ rows: [row('ke', 1), row('ug', null)] });
  await using program = await openProgram({ upstreamUrl: service.url, env: { CACHE_URL: 'memory:' } });
  const query = `{ observations(countryCodes: ["KE"], metricKeys: ["population_total"]) {
    rank(among: ["KE", "UG"]) { position of } } }`;
  for (const calls of [1, 0]) {
    const { data, errors, upstream } = await program.ask(query);
    expect([data.observations, errors, upstream.calls]).toEqual([
      [{ rank: { position: 1, of: 1 } }],
      [],
      calls,
    ]);
  }
});
