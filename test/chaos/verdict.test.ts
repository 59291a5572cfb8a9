import { describe, expect, it } from 'vitest';
import { judged, type Reply } from './verdict.ts';

const TRUTH = { country: { name: 'Kenya', offices: [{ name: 'President' }, { name: 'Governor' }] } };
const failing = (code: string, ...path: (string | number)[]) => ({
  message: 'failed',
  path,
  extensions: { code },
});
const AWAY = 'UPSTREAM_UNAVAILABLE';

describe('the verdict on an answer', () => {
  it.each([
    ['right', 'all there', { data: TRUTH }],
    [
      'told',
      'null with an error there',
      {
        data: { country: { ...TRUTH.country, offices: null } },
        errors: [failing(AWAY, 'country', 'offices')],
      },
    ],
    [
      'told',
      'null with an error below',
      { data: { country: null }, errors: [failing(AWAY, 'country', 'offices')] },
    ],
    ['told', 'nothing but errors', { errors: [failing(AWAY)] }],
    ['wrong', 'null without an error', { data: { country: null } }],
    [
      'wrong',
      'null with an error elsewhere',
      { data: { country: { ...TRUTH.country, offices: null } }, errors: [failing(AWAY, 'country', 'name')] },
    ],
    [
      'wrong',
      'a list that is short',
      { data: { country: { name: 'Kenya', offices: [{ name: 'President' }] } } },
    ],
    ['wrong', 'another value', { data: { country: { ...TRUTH.country, name: 'Uganda' } } }],
    ['wrong', 'an error of no known kind', { data: TRUTH, errors: [failing('INTERNAL_SERVER_ERROR')] }],
    ['wrong', 'nothing at all', {}],
  ] as [string, string, Reply][])('the verdict on an answer is %s: %s', (kind, _what, reply) => {
    expect(judged(TRUTH, reply).kind).toBe(kind);
  });
});
