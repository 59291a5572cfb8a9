import { describe, expect, it } from 'vitest';
import { createLedger, type Ledger } from '../../src/keys/ledger.ts';
import { Failure } from '../../src/shared/errors.ts';
import { tenantOf } from '../support/tenants.ts';

/** Has the service refuse a call. */
async function limit(ledger: Ledger, detail: string): Promise<void> {
  const departure = await ledger.take(tenantOf('one'));
  const error = new Failure('RATE_LIMITED', 'no', { detail });
  if (departure !== null) ledger.book(tenantOf('one'), departure, { left: true, error });
}

describe('the text of a 429 tells the limits that it names', () => {
  it.each([
    [
      "rate limit exceeded for plan 'free': 5 requests per minute",
      { state: 'MINUTE_SPENT', plan: 'free', requestsPerMinute: 5 },
    ],
    [
      'Rate limit exceeded for the analyst plan (60 requests/minute).',
      { plan: 'analyst', requestsPerMinute: 60 },
    ],
    ['Rate limit exceeded: plan=team, 1,000 requests per minute', { plan: 'team', requestsPerMinute: 1000 }],
    [
      'rate limit exceeded for plan "gold": 5000 requests per minute',
      { plan: 'gold', requestsPerMinute: 5000 },
    ],
    ['Too many requests', { state: 'MINUTE_SPENT', plan: null, requestsPerMinute: null }],
    [
      'Request blocked: the monthly request limit of 250,000 for the analyst plan was reached. Upgrade at example.test.',
      { state: 'MONTH_SPENT', plan: 'analyst', monthlyRequests: 250_000 },
    ],
    ['Monthly request limit reached (1000).', { state: 'MONTH_SPENT', plan: null, monthlyRequests: 1000 }],
  ])('the text of a 429 tells the limits that it names: %s', async (detail, expected) => {
    const ledger = createLedger(() => 0);
    await limit(ledger, detail);
    expect(ledger.quota(tenantOf('one'))).toMatchObject(expected);
  });
});

describe('the shared counters', () => {
  it('the shared counters turn with the minute and with the month, both UTC', () => {
    let nowMs = Date.parse('2026-12-31T23:59:59.999Z');
    const ledger = createLedger(() => nowMs);
    ledger.take(tenantOf('one'));
    expect(ledger.quota(tenantOf('one'))).toEqual({
      plan: null,
      requestsPerMinute: null,
      monthlyRequests: null,
      callsThisMinute: 1,
      callsThisMonth: 1,
      minuteResetsAt: '2027-01-01T00:00:00.000Z',
      monthResetsAt: '2027-01-01T00:00:00.000Z',
      state: 'OK',
    });
    nowMs += 1;
    expect(ledger.quota(tenantOf('one'))).toMatchObject({
      callsThisMinute: 0,
      callsThisMonth: 0,
      minuteResetsAt: '2027-01-01T00:01:00.000Z',
      monthResetsAt: '2027-02-01T00:00:00.000Z',
    });
  });

  it('the shared counters know the published limits of a plan that a text only names', async () => {
    const ledger = createLedger(() => 0);
    await limit(ledger, 'rate limit exceeded for the analyst plan');
    expect(ledger.quota(tenantOf('one'))).toMatchObject({
      plan: 'analyst',
      requestsPerMinute: 60,
      monthlyRequests: 250_000,
    });
  });

  it('the shared counters call the minute spent once the known budget is', async () => {
    let nowMs = 0;
    const ledger = createLedger(() => nowMs);
    await limit(ledger, "plan 'free': 5 requests per minute");
    nowMs = 60_000;
    for (let i = 0; i < 5; i += 1) {
      expect(ledger.opensAtMs(tenantOf('one'))).toBe(60_000);
      ledger.take(tenantOf('one'));
    }
    expect(ledger.opensAtMs(tenantOf('one'))).toBe(120_000);
    expect(ledger.quota(tenantOf('one')).state).toBe('MINUTE_SPENT');
    expect(ledger.shareLeft(tenantOf('one'))).toBe(0);
  });
});

describe('counters that answer after the minute', () => {
  const snapshot = { isTaken: true, callsThisMinute: 5, callsThisMonth: 5 };
  const note = { plan: 'free', requestsPerMinute: 5, monthlyRequests: null, isPlanLarger: false };
  const told = { ...snapshot, note: { ...note, spentMinute: null, spentMonth: null, nextProbeAtMs: 0 } };

  it.each(['take', 'refresh'] as const)(
    'counters that answer after the minute tell nothing of the next one: %s',
    async (verb) => {
      let nowMs = 59_999;
      const slow = async () => {
        nowMs = 60_000;
        return told;
      };
      const back: unknown[] = [];
      const ledger = createLedger(() => nowMs, {
        take: slow,
        read: slow,
        note: async () => {},
        putBack: async (...unit) => void back.push(unit),
      });
      // The call leaves in the new minute, which has to count it.
      expect((await ledger[verb](tenantOf('one'))) ?? null).toBeNull();
      // Its unit would count in the month all the same.
      expect(back).toMatchObject(verb === 'take' ? [['one', { minute: 0 }]] : []);
      expect(ledger.opensAtMs(tenantOf('one'))).toBe(60_000);
      expect(ledger.quota(tenantOf('one')).callsThisMinute).toBe(0);
      expect(await ledger.take(tenantOf('one'))).not.toBeNull();
      expect(ledger.quota(tenantOf('one')).callsThisMinute).toBe(5);
    },
  );
});
