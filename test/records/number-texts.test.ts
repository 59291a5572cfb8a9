import fc from 'fast-check';
import { expect, it } from 'vitest';
import { numberOf } from '../../src/shared/exact-json.ts';

it('numbers are read however their digits are written, and nothing else is', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      for (const text of [String(number), number.toExponential(), ` ${number} `])
        expect(numberOf(text)).toBe(Object.is(number, -0) ? Number(text) : number);
    }),
  );
  const spelt = { '+5': 5, '.5': 0.5, '5.': 5, '007': 7, '1E3': 1_000, '-0': -0, '1e-400': 0 };
  for (const [text, number] of Object.entries(spelt)) expect([text, numberOf(text)]).toEqual([text, number]);
  const none = [
    '',
    ' ',
    'NaN',
    'Infinity',
    '-Infinity',
    '1e999',
    '0x10',
    '0b1',
    '1,5',
    '1_000',
    '1 000',
    '1e',
    '--1',
    '٣',
  ];
  for (const text of [...none, '9'.repeat(400), '1'.repeat(1_000_000)])
    expect([text.slice(0, 20), numberOf(text)]).toEqual([text.slice(0, 20), null]);
});
