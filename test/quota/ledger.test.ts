import { describe, expect, it } from 'vitest';
import { createLedger, readLimitText } from '../../src/tenants/ledger.ts';

describe('the text of a 429', () => {
  it.each([
    [
      "rate limit exceeded for plan 'free': 5 requests per minute",
      { isMonthly: false, plan: 'free', requestsPerMinute: 5 },
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
    ['Too many requests', { isMonthly: false, plan: null, requestsPerMinute: null }],
    [
      'Request blocked: the monthly request limit of 250,000 for the analyst plan was reached. Upgrade at example.test.',
      { isMonthly: true, plan: 'analyst', requestsPerMinute: null, monthlyRequests: 250_000 },
    ],
    ['Monthly request limit reached (1000).', { isMonthly: true, plan: null, monthlyRequests: 1000 }],
  ])('%s', (detail, expected) => {
    expect(readLimitText(detail)).toMatchObject(expected);
  });
});

describe('the shared counters', () => {
  it('of keys that the service has answered for are not closed for those that are made up', () => {
    const ledger = createLedger(() => Date.parse('2026-03-10T12:00:30.000Z'));
    ledger.take('good');
    ledger.accepted('good');
    ledger.take('limited');
    ledger.limited('limited', "rate limit exceeded for plan 'free': 5 requests per minute");
    for (let i = 0; i < 25_000; i += 1) ledger.take(`made up ${i}`);
    expect(ledger.quota('good')).toMatchObject({ callsThisMinute: 1 });
    expect(ledger.quota('limited')).toMatchObject({ plan: 'free', state: 'MINUTE_SPENT' });
  });

  it('turn with the minute and with the month, both UTC', () => {
    let nowMs = Date.parse('2026-12-31T23:59:59.999Z');
    const ledger = createLedger(() => nowMs);
    ledger.take('one');
    expect(ledger.quota('one')).toEqual({
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
    expect(ledger.quota('one')).toMatchObject({
      callsThisMinute: 0,
      callsThisMonth: 0,
      minuteResetsAt: '2027-01-01T00:01:00.000Z',
      monthResetsAt: '2027-02-01T00:00:00.000Z',
    });
  });

  it('know the published limits of a plan that a text only names', () => {
    const ledger = createLedger(() => 0);
    ledger.limited('one', 'rate limit exceeded for the analyst plan');
    expect(ledger.quota('one')).toMatchObject({
      plan: 'analyst',
      requestsPerMinute: 60,
      monthlyRequests: 250_000,
    });
  });

  it('call the minute spent once the known budget is', () => {
    let nowMs = 0;
    const ledger = createLedger(() => nowMs);
    ledger.limited('one', "plan 'free': 5 requests per minute");
    nowMs = 60_000;
    for (let i = 0; i < 5; i += 1) {
      expect(ledger.opensAtMs('one')).toBe(60_000);
      ledger.take('one');
    }
    expect(ledger.opensAtMs('one')).toBe(120_000);
    expect(ledger.quota('one').state).toBe('MINUTE_SPENT');
    expect(ledger.shareLeft('one')).toBe(0);
  });
});
