import { describe, expect, it } from 'vitest';
import { COVERED_COUNTRIES } from '../../src/upstream/covered-countries.ts';
import { openProgram } from '../support/program.ts';

describe('the bills of operations that share calls', () => {
  it('add up to what the service received, also for calls that leave after the first has been answered', async () => {
    await using program = await openProgram({
      env: { BATCH_WINDOW_MS: '20', BATCH_OVERFETCH_ROWS: '0' },
    });
    const small = '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }';
    const codes = JSON.stringify([...COVERED_COUNTRIES]);
    const large = `{ observations(countryCodes: ${codes}, metricKeys: ["gdp_current_usd", "life_expectancy"]) { year } }`;
    // The small one asks first, and is answered long before the last of the large one's calls has left.
    const replies = await Promise.all([program.ask(small), program.ask(large)]);
    const billed = replies.map(({ upstream }) => upstream.calls);
    expect(replies.flatMap(({ errors }) => errors)).toEqual([]);
    expect(billed[1]).toBeGreaterThan(3);
    expect(billed.reduce((sum, calls) => sum + calls, 0)).toBe(program.requests().length);
  });
});

describe('the limit of upstream calls', () => {
  it('holds while the operation runs: what stands below figures fails beyond it, the figures stay', async () => {
    await using program = await openProgram({ env: { MAX_UPSTREAM_CALLS: '10' } });
    const { data, errors, upstream } = await program.ask(
      `{ observations(metricKeys: ["population_total"], latest: true) { value country { code profile { record } } } }`,
    );
    expect(upstream.calls).toBe(10);
    expect(program.requests()).toHaveLength(10);
    const rows: { value: number; country: { profile: unknown } }[] = data.observations;
    expect(rows.length).toBeGreaterThan(50);
    expect(rows.filter(({ country }) => country.profile !== null)).toHaveLength(8);
    expect(errors).toHaveLength(rows.length - 8);
    expect(errors[0]).toMatchObject({
      path: ['observations', expect.any(Number), 'country', 'profile'],
      extensions: {
        code: 'OPERATION_TOO_EXPENSIVE',
        retryable: false,
        route: '/v1/countries/{code}/profile',
        planned: 11,
        limit: 10,
      },
    });
  });
});
