import { expect, it } from 'vitest';
import { writeBody } from '../../src/graphql/request/body.ts';
import { openBill } from '../../src/service/bill.ts';

it.each(['e', 'é', '€', '🌍'])(
  'a long body is written whole, however many of its characters are %s',
  (character) => {
    const extensions = { upstream: openBill(), warnings: undefined };
    for (const count of [
      0,
      1,
      250,
      330,
      340,
      345,
      500,
      505,
      510,
      515,
      ...Array.from({ length: 60 }, (_, i) => 1_000 + i),
      30_000,
    ]) {
      const data = JSON.stringify('x'.repeat(20_000) + character.repeat(count));
      const expected = `{"data":${data},"extensions":${JSON.stringify({ upstream: openBill() })}}`;
      expect(String(writeBody([data], [], extensions)) === expected, `${count} of them`).toBe(true);
    }
  },
);
