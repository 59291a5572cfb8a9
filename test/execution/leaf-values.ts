import type { GraphQLLeafType } from 'graphql';
import { isEnumType } from 'graphql';
import type { Dice } from './dice.ts';

const LONE_SURROGATE = '\ud83d';

const TEXTS: readonly string[] = [
  '',
  'plain',
  'with "quotes"',
  'back\\slash',
  '\u0000\u0001\b\t\n\f\r\u001f\u007f',
  'emoji 😀👩‍👩‍👧',
  `high ${LONE_SURROGATE}`,
  '\ude00 low',
  'line\u2028paragraph\u2029',
  '</script>',
  'é'.repeat(47),
  'b'.repeat(48),
  'c'.repeat(49),
  `${'d'.repeat(47)}"`,
  `${'e'.repeat(48)}"`,
  `${'long '.repeat(60)}\n${LONE_SURROGATE}`,
];

/** Values that a type takes, and values that it refuses. */
interface Values {
  readonly taken: readonly unknown[];
  readonly refused: readonly unknown[];
}

const bare = Object.freeze(Object.create(null));
const SEVEN = { valueOf: () => 7 };
const STAMPED = { toJSON: () => 'from toJSON' };
const STRANGE: readonly unknown[] = [{}, [], [1], bare, 10n, Symbol('strange'), Number.NaN, Infinity];

const VALUES: Readonly<Record<string, Values>> = {
  Int: {
    taken: [0, 1, -1, 42, 2 ** 31 - 1, -(2 ** 31), -0, 12.0, true, false, '12', ' 7 ', '1e3', SEVEN],
    refused: [...STRANGE, '', 'x', 1.5, -0.5, 2 ** 31, -(2 ** 31) - 1, 1e21, '1.5', '2147483648', STAMPED],
  },
  Float: {
    taken: [0, -0, 0.1, -1.5, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, 2 ** 53, true, false, '1.5', '-0', SEVEN],
    refused: [...STRANGE, '', 'x', -Infinity, '1,5', 'Infinity', STAMPED],
  },
  String: {
    taken: [...TEXTS, 0, -0, 1e21, 0.1, true, false, SEVEN, STAMPED, new Date(0)],
    refused: [...STRANGE, -Infinity, { toString: () => 'x' }, new Date(Number.NaN)],
  },
  Boolean: {
    taken: [true, false, true, false, 0, -0, 1, 0.5, SEVEN],
    refused: [...STRANGE, '', 'true', STAMPED],
  },
  ID: {
    taken: [...TEXTS, 0, -0, 7, 1e21, SEVEN, STAMPED],
    refused: [...STRANGE, 1.5, true, false],
  },
  DateTime: {
    taken: ['2026-07-24T03:12:45.123456Z', '2026-07-24T03:12:45Z', '2026-07-24', '2026-07-24 05:12:45+02:00'],
    refused: [...STRANGE, '', 'x', '2026-13-01', 0, true, STAMPED],
  },
  Even: { taken: [0, -0, 2, -4, 1e22], refused: [...TEXTS, 1, 0.5, Infinity, {}, true] },
  Hollow: {
    taken: TEXTS.slice(1),
    refused: ['', 0, true, {}, { a: [1, { b: 'c' }] }, [], Symbol('hollow'), new Date(0), bare],
  },
  Stamp: { taken: [...TEXTS, 1, true, [1, 'b'], new Map()], refused: [bare] },
  Any: {
    taken: [
      ...TEXTS,
      0,
      -0,
      1e21,
      Number.NaN,
      true,
      {},
      [],
      [null, undefined, [Number.NaN]],
      { a: { 'b"': [1, '2', null] }, c: undefined, d: new Date(0), e: LONE_SURROGATE },
      STAMPED,
    ],
    refused: [],
  },
};

/** Of the product's scalars and the federation's: they serialize anything by `String`, or pass it on. */
const OTHER: Values = { taken: [...TEXTS, 0, -0, 1.5, true, [1, 2], { a: 1 }], refused: [bare] };

export function drawLeaf(type: GraphQLLeafType, dice: Dice, faultRate: number): unknown {
  const { taken, refused } = isEnumType(type)
    ? {
        taken: type.getValues().map(({ value }) => value),
        refused: ['none', 'EN', 0, 1.5, {}, bare, true, ['en']],
      }
    : (VALUES[type.name] ?? OTHER);
  const isRefused = refused.length > 0 && dice.chance(faultRate);
  return dice.pick(isRefused ? refused : taken);
}
