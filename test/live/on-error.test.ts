import { describe, expect, it } from 'vitest';
import { schemaPartOf } from '../../src/gateway/field-view.ts';
import { part } from '../../src/plugins/subscriptions/resolvers.ts';
import { brokenSchema } from '../support/broken-schema.ts';
import { begin, open, openLive, POPULATION, subscriptionsOf, TRANSPORTS } from './live.ts';

const CITED = `subscription ($codes: [CountryCode!], $keys: [String!]) {
  observationsChanged(countryCodes: $codes, metricKeys: $keys, latest: true) {
    changes { observation { year citation } }
  }
}`;

describe.each(TRANSPORTS)('onError of a subscription over %s', (transport) => {
  it('onError of a subscription holds for each event: NULL keeps the error in its place, HALT ends the event and not the stream', async () => {
    await using program = await openLive({ opened: await brokenSchema([schemaPartOf(part)]) });
    const ways = ['PROPAGATE', 'NULL', 'HALT'];
    const told = await begin(
      program,
      ...ways.map((onError) => () => {
        const client = open(program, transport);
        return client.subscribe({ query: CITED, variables: POPULATION, onError });
      }),
    );
    const calls = program.requests().length;
    for (const events of [1, 2]) {
      program.revise('world_bank_wdi', 'population_total', 1 + events);
      await program.round();
      for (const one of told) await expect.poll(() => one.results.length).toBe(events);
    }
    for (const { results } of told)
      for (const { errors } of results) {
        expect(errors).toHaveLength(1);
        expect(errors[0]).toMatchObject({
          message: 'There is no citation.',
          path: ['observationsChanged', 'changes', 0, 'observation', 'citation'],
          extensions: { code: 'UPSTREAM_INVALID_RESPONSE' },
        });
      }
    const changes = [{ observation: { year: expect.any(Number), citation: null } }];
    expect(told.map(({ results }) => results.map(({ data }) => data))).toEqual([
      [{ observationsChanged: null }, { observationsChanged: null }],
      [{ observationsChanged: { changes } }, { observationsChanged: { changes } }],
      [null, null],
    ]);
    expect(await subscriptionsOf(program)).toBe(3);
    const bills = told.flatMap(({ results }) => results.map(({ extensions }) => extensions.upstream.calls));
    // Two looks, and the figures that they led to: the first of the subscriptions pays.
    expect([calls, program.requests().length]).toEqual([3, 4]);
    expect(bills.reduce((sum, one) => sum + one, 0)).toBe(7);
  });

  it('onError of a subscription is refused if nobody knows its value, at no call', async () => {
    await using program = await openLive();
    const client = open(program, transport);
    const told = client.subscribe({ query: CITED, variables: POPULATION, onError: 'ABORT' });
    await expect.poll(() => told.isOver).toBe(true);
    expect(JSON.stringify([told.results, told.failures])).toContain('BAD_USER_INPUT');
    expect(program.requests()).toEqual([]);
  });
});
