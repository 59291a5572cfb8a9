import { describe, expect, it } from 'vitest';
import { COVERED_COUNTRIES } from '../../src/service/records/countries.ts';
import { openProgram } from '../support/program.ts';

describe('the bills of operations that share calls', () => {
  it('the bills of operations that share calls add up to what the service received, also for calls that leave after the first has been answered', async () => {
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
  const PROFILE = '/v1/countries/{code}/profile';

  it('the limit of upstream calls holds while the operation runs: what is beyond it fails by itself, everything else stays', async () => {
    await using program = await openProgram({ env: { MAX_UPSTREAM_CALLS: '60' } });
    // A list of more countries than are documented: the price, made before it is there, is too low.
    program.sandbox.faults.set({
      route: '/v1/countries',
      kind: 'shape',
      patch: (body) => {
        const { data } = body as { data: object[] };
        return {
          data: [
            ...data,
            ...data.slice(0, 20).map((country, n) => ({ ...country, id: `q${'abcdefghijklmnopqrst'[n]}` })),
          ],
        };
      },
    });
    const { data, errors, upstream } = await program.ask('{ countries { name profile { record } } }');
    expect(upstream).toMatchObject({ calls: 60, byRoute: { '/v1/countries': 1, [PROFILE]: 59 } });
    expect(program.requests()).toHaveLength(60);
    const countries: { name: string }[] = data.countries;
    expect(countries).toHaveLength(74);
    expect(countries.every(({ name }) => name !== null)).toBe(true);
    expect(errors).toHaveLength(74 - 59);
    expect(errors[0]).toMatchObject({
      path: ['countries', expect.any(Number), 'profile'],
      extensions: {
        code: 'OPERATION_TOO_EXPENSIVE',
        retryable: false,
        route: PROFILE,
        planned: 61,
        limit: 60,
      },
    });
  });

  it('the limit of upstream calls is held against what stands below figures before anything is sent', async () => {
    await using program = await openProgram();
    const query = `{
      observations(metricKeys: ["population_total"], latest: true) {
        country { profile { record } signals { record } offices { name } }
      }
    }`;
    const { data, errors, upstream } = await program.ask(query);
    expect(data ?? null).toBeNull();
    expect(errors.map(({ extensions }) => extensions)).toEqual([
      expect.objectContaining({ code: 'OPERATION_TOO_EXPENSIVE', planned: 164, limit: 60 }),
    ]);
    expect(upstream.calls).toBe(0);
    expect(program.requests()).toEqual([]);
  });
});
