import { describe, expect, it } from 'vitest';
import { openBill } from '../../src/upstream/call.ts';
import { payerOf, sharedPayer } from '../../src/upstream/payer.ts';

const ROUTE = '/v1/data';

function open(limit?: number) {
  const bill = openBill();
  return { bill, payer: payerOf(bill, limit) };
}

describe('the payer of one operation', () => {
  it('bills a request when it leaves, not when it is reserved', () => {
    const { bill, payer } = open();
    const reservation = payer.reserve(ROUTE);
    expect(bill.calls).toBe(0);
    reservation.charge();
    expect(bill).toMatchObject({ calls: 1, byRoute: { [ROUTE]: 1 } });
  });

  it('refuses the first request beyond the limit, those that wait for their turn included', () => {
    const { bill, payer } = open(2);
    payer.reserve(ROUTE).charge();
    const waiting = payer.reserve(ROUTE);
    expect(() => payer.reserve(ROUTE)).toThrow(
      expect.objectContaining({
        code: 'OPERATION_TOO_EXPENSIVE',
        fields: expect.objectContaining({ limit: 2 }),
      }),
    );
    waiting.release();
    payer.reserve(ROUTE).charge();
    expect(bill.calls).toBe(2);
  });
});

describe('the payer of a request that several wait for', () => {
  it('bills the first that has room', () => {
    const [full, roomy] = [open(0), open()];
    sharedPayer(() => [full.payer, roomy.payer])
      .reserve(ROUTE)
      .charge();
    expect([full.bill.calls, roomy.bill.calls]).toEqual([0, 1]);
  });

  it('bills another where the one that reserved it has left', () => {
    const [first, second] = [open(), open()];
    const waiting = [first.payer, second.payer];
    const reservation = sharedPayer(() => waiting).reserve(ROUTE);
    waiting.shift();
    reservation.charge();
    expect([first.bill.calls, second.bill.calls]).toEqual([0, 1]);
    // What was set aside for it is free again.
    expect(() => first.payer.reserve(ROUTE)).not.toThrow();
  });

  it('sends nothing where nobody waits', () => {
    expect(() => sharedPayer(() => []).reserve(ROUTE)).toThrow(
      expect.objectContaining({ name: 'AbortError' }),
    );
  });
});
