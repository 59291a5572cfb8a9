import { describe, expect, it } from 'vitest';
import { openBill } from '../../src/service/bill.ts';
import { payerOf, sharedPayer } from '../../src/service/payer.ts';

const ROUTE = '/v1/data';

function open(limit?: number) {
  const bill = openBill();
  return { bill, payer: payerOf(bill, limit) };
}

describe('the payer of one operation', () => {
  it('the payer of one operation bills a request when it leaves, not when it is reserved', () => {
    const { bill, payer } = open();
    const reservation = payer.reserve(ROUTE);
    expect(bill.calls).toBe(0);
    reservation.charge();
    expect(bill).toMatchObject({ calls: 1, byRoute: { [ROUTE]: 1 } });
  });

  it('the payer of one operation refuses the first request beyond the limit, those that wait for their turn included', () => {
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

  it('the payer of one operation pays for nothing once the operation is over', () => {
    const { bill, payer } = open();
    const waiting = payer.reserve(ROUTE);
    payer.close();
    for (const pay of [() => waiting.charge(), () => payer.reserve(ROUTE)])
      expect(pay).toThrow(expect.objectContaining({ name: 'AbortError' }));
    expect(bill.calls).toBe(0);
  });
});

describe('the payer of a request that several wait for', () => {
  it('the payer of a request that several wait for bills the first that has room', () => {
    const [full, roomy] = [open(0), open()];
    sharedPayer([full.payer, roomy.payer]).reserve(ROUTE).charge();
    expect([full.bill.calls, roomy.bill.calls]).toEqual([0, 1]);
  });

  it('the payer of a request that several wait for bills another where the one that reserved it has left', () => {
    const [first, second] = [open(), open()];
    const waiting = [first.payer, second.payer];
    const reservation = sharedPayer(waiting).reserve(ROUTE);
    waiting.shift();
    reservation.charge();
    expect([first.bill.calls, second.bill.calls]).toEqual([0, 1]);
    // Reserves again: the calls that were set aside are free.
    expect(() => first.payer.reserve(ROUTE)).not.toThrow();
  });

  it('the payer of a request that several wait for bills another where the operation that reserved it is over', () => {
    const [first, second] = [open(), open()];
    const reservation = sharedPayer([first.payer, second.payer]).reserve(ROUTE);
    first.payer.close();
    reservation.charge();
    expect([first.bill.calls, second.bill.calls]).toEqual([0, 1]);
  });

  it('the payer of a request that several wait for sends nothing where all that wait are over', () => {
    const { bill, payer } = open();
    const reservation = sharedPayer([payer]).reserve(ROUTE);
    payer.close();
    expect(() => reservation.charge()).toThrow(expect.objectContaining({ name: 'AbortError' }));
    expect(bill.calls).toBe(0);
  });

  it('the payer of a request that several wait for sends nothing where nobody waits', () => {
    expect(() => sharedPayer([]).reserve(ROUTE)).toThrow(expect.objectContaining({ name: 'AbortError' }));
  });
});
