import { describe, expect, it } from 'vitest';
import { type Circumstances, isLegitimate, isOfCutList, isWarranted, untold } from './excuses.ts';
import { drawHabits, type Habits } from './habits.ts';

const habitsWith = (some: Partial<Habits>): Habits => ({ ...drawHabits(1, 0), ...some });

const failed = (code: string, route: string) => ({ message: 'No.', extensions: { code, route } });

describe('what the oracle excuses', () => {
  it.each([
    [true, 'UPSTREAM_INCOMPLETE', '/v1/countries', '/v1/countries', 'data'],
    [false, 'UPSTREAM_INCOMPLETE', '/v1/indicators', '/v1/countries', 'data'],
    [false, 'UPSTREAM_INVALID_RESPONSE', '/v1/countries', '/v1/countries', 'data'],
    [false, 'UPSTREAM_INCOMPLETE', '/v1/countries', 'none', 'data'],
    // Without an envelope, the service can't tell that it has cut the list.
    [false, 'UPSTREAM_INCOMPLETE', '/v1/countries', '/v1/countries', 'bare'],
  ] as const)(
    'it is %s that the oracle excuses %s of %s by a service that cuts %s and wraps its lists as %s',
    (isExcused, code, route, cutList, wrap) => {
      expect(isOfCutList(failed(code, route), habitsWith({ cutList, wrap }))).toBe(isExcused);
    },
  );

  it.each([
    [true, 'all indicators', ['a', 'b']],
    [false, 'one indicator', ['a']],
  ] as const)(
    'it is %s that the oracle excuses a refusal for the price of ranks below figures of %s of a country',
    (isExcused, _, keys) => {
      const [world, habits] = [
        { countries: Array(54), indicators: Array(2) },
        habitsWith({ limit: 'taken', maxRows: 100 }),
      ];
      const figures = {
        path: 'country.observations',
        route: '/v1/data',
        codes: ['KE'],
        keys,
        mode: 'series',
      };
      // Only one of the indicators has a figure to be ranked.
      const operands = { ...figures, path: 'country.observations.rank', codes: Array(54), keys: ['a'] };
      const circumstances = { world, habits, lookups: [figures, operands], mostCalls: 400 };
      const error = failed('OPERATION_TOO_EXPENSIVE', '/v1/data');
      expect(isLegitimate(error, circumstances as unknown as Circumstances)).toBe(isExcused);
    },
  );

  it('the oracle takes a figure for revised since where the truth says so, and nowhere else', () => {
    const remarks: Circumstances['remarks'] = [{ code: 'REVISED_SINCE', path: 'node' }];
    const circumstances = { remarks, lookups: [] } as unknown as Circumstances;
    const warning = (...path: string[]) => ({
      message: 'Revised.',
      path,
      extensions: { code: 'REVISED_SINCE' },
    });
    expect(isWarranted(warning('node'), circumstances)).toBe(true);
    expect(isWarranted(warning('other'), circumstances)).toBe(false);
    expect(isWarranted(warning('node'), { ...circumstances, remarks: [] })).toBe(false);
    // The figure has to come with the warning, too.
    expect(untold([], circumstances)).toEqual(['REVISED_SINCE at node']);
    expect(untold([warning('node')], circumstances)).toEqual([]);
  });
});
