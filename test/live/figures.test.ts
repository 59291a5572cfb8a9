import { describe, expect, it } from 'vitest';
import { connect, openLive, TRANSPORTS } from './live.ts';

const CHANGED = `subscription ($codes: [CountryCode!], $keys: [String!], $since: String) {
  observationsChanged(countryCodes: $codes, metricKeys: $keys, latest: true, since: $since) {
    changes { kind observation { id value country { code } indicator { key } } before { value } }
    isWhole
    revision
    at
  }
}`;

describe.each(TRANSPORTS)('a subscription over %s', (transport) => {
  it('is told what changes, each change once', async () => {
    await using program = await openLive();
    const client = connect(program.url, transport);
    const told = client.subscribe({ query: CHANGED, variables: { codes: ['KE'], keys: ['population_total'] } });
    await expect.poll(() => program.requests().length, { timeout: 3000 }).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    console.log(transport, program.requests(), told);
    program.revise('world_bank_wdi', 'population_total', 2);
    program.pass(60);
    await expect.poll(() => told.results.length).toBe(1);
    console.log(JSON.stringify(told.results, null, 1), program.requests());
    client.dispose();
  });
});
