import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareTimes, httpDateIn, timeIn } from '../../src/shared/periods.ts';
import { draws } from '../support/draws.ts';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

const two = (number: number) => String(number).padStart(2, '0');

const days = fc.date({
  min: new Date(Date.UTC(1970, 0, 1)),
  max: new Date(Date.UTC(2100, 0, 1)),
  noInvalidDate: true,
});

/** A time as services write it, and all that it can mean. */
const written = fc
  .record({
    day: days,
    spell: fc.constantFrom<(y: string, m: string, d: string) => string>(
      (y, m, d) => `${y}-${m}-${d}`,
      (y, m, d) => `${y}/${m}/${d}`,
      (y, m, d) => `${y}${m}${d}`,
    ),
    hours: fc.nat(23),
    minutes: fc.nat(59),
    seconds: fc.nat(59),
    fraction: fc.stringMatching(/^\d{0,12}$/),
    precision: fc.constantFrom('day', 'minute', 'second'),
    between: fc.constantFrom('T', ' ', 't'),
    zone: fc.constantFrom(
      ['', 0],
      ['Z', 0],
      ['z', 0],
      [' UTC', 0],
      ['+03:00', 180],
      ['+0300', 180],
      ['-03', -180],
      ['+05:30', 330],
    ),
  })
  .map(({ day, spell, hours, minutes, seconds, fraction, precision, between, zone: [zone, offset] }) => {
    const [y = '', m = '', d = ''] = day.toISOString().slice(0, 10).split('-');
    const midnightMs = Date.UTC(Number(y), Number(m) - 1, Number(d));
    if (precision === 'day')
      return { text: spell(y, m, d), firstMs: midnightMs, lengthMs: DAY, fraction: '' };
    const minuteMs = midnightMs + (hours * 60 + minutes - Number(offset)) * MINUTE;
    const clock = `${spell(y, m, d)}${between}${two(hours)}:${two(minutes)}`;
    if (precision === 'minute')
      return { text: `${clock}${zone}`, firstMs: minuteMs, lengthMs: MINUTE, fraction: '' };
    const text = `${clock}:${two(seconds)}${fraction === '' ? '' : `.${fraction}`}${zone}`;
    const firstMs = minuteMs + seconds * 1_000 + Number(fraction.padEnd(3, '0').slice(0, 3));
    return { text, firstMs, lengthMs: Math.max(1, 10 ** (3 - fraction.length)), fraction };
  });

describe('times', () => {
  it('times are read as all that they can mean, and told in UTC', () => {
    fc.assert(
      fc.property(written, ({ text, firstMs, lengthMs, fraction }) => {
        const utc = `${new Date(firstMs).toISOString().slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}Z`;
        expect({ text, ...timeIn(text) }).toEqual({ text: utc, firstMs, lastMs: firstMs + lengthMs - 1 });
        expect(timeIn(utc)?.text).toBe(utc);
      }),
      { numRuns: draws(10_000) },
    );
  });

  it.for([
    ['2026-11-01T06:00:00.123456Z', '2026-11-01T06:00:00.123456Z'],
    ['2026-11-25', '2026-11-25T00:00:00Z'],
    ['2026-11-25T24:00:00', '2026-11-26T00:00:00Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
    ['2017-01-01T05:29:60+05:30', '2017-01-01T00:00:00Z'],
    ['20261125T060000Z', '2026-11-25T06:00:00Z'],
    ['20261125060000', '2026-11-25T06:00:00Z'],
    ['Wed, 25 Nov 2026 06:00:00 GMT', '2026-11-25T06:00:00Z'],
    ['2026-11-25T06:00+03:00[Africa/Nairobi]', '2026-11-25T03:00:00Z'],
    ['1764028800', '2025-11-25T00:00:00Z'],
    ['1764028800123', '2025-11-25T00:00:00.123Z'],
    ['2026-11-25T06:00:00,5Z', '2026-11-25T06:00:00.5Z'],
  ] as const)('the time %s is %s', ([text, utc]) => expect(timeIn(text)?.text).toBe(utc));

  it.for([
    ...[
      '',
      'never',
      '2026',
      '2026-11',
      '2026-02-30',
      '2026-13-01',
      '2026-11-25T25:00',
      '2026-11-25T06:60',
      '2026-11-25T24:01',
    ],
    ...[
      '2016-12-31T12:59:60Z',
      '2026-11-25T06:00:00+24:00',
      '05/06/2026',
      '0000-01-01T00:00+01:00',
      '2026-11-25T06:00 EAT',
      '2026-11-25Z',
      '2026-11-25+03:00',
      '25/11/2026 06:00',
      '25 Nov 2026 06:00 GMT',
    ],
    ...[
      '9999-12-31T23:59:59-01:00',
      `2026-11-25T06:00:00.${'1'.repeat(200)}Z`,
      '2026-Q3',
      '7',
      '2026-11-25/2026-11-26',
    ],
  ])('the text %s is no time', (text) => expect(timeIn(text)).toBeNull());

  it('times are read from any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const time = timeIn(text);
        if (time !== null) expect(timeIn(time.text)?.firstMs).toBe(time.firstMs);
      }),
      { numRuns: draws(5_000) },
    );
  });

  it('times are in the order of their instants, by all digits', () => {
    const order = (a: string, b: string) => Math.sign(compareTimes(a, b));
    expect(order('2026-11-25T06:00:00.50Z', '2026-11-25T06:00:00.5Z')).toBe(0);
    expect(order('2026-11-25T06:00:00Z', '2026-11-25T06:00:00.0000001Z')).toBe(-1);
    expect(order('2026-11-25T09:00:00+03:00', '2026-11-25T06:00:00Z')).toBe(0);
    expect(order('2026-11-25T05:00:00-03:00', '2026-11-25T06:00:00Z')).toBe(1);
    expect(order('2026-11-25T06:00:10Z', '2026-11-25T06:00:10.0Z')).toBe(0);
    expect(order('never', '1970-01-01')).toBe(-1);
  });

  it('times of HTTP are read', () => {
    expect(httpDateIn('Sun, 06 Nov 1994 08:49:37 GMT')).toBe(Date.UTC(1994, 10, 6, 8, 49, 37));
    expect(
      ['', '120', '1994-11-06', 'Sun, 06 Nov 1994 08:49:37 EST', 'Sun, 36 Nov 1994 08:49:37 GMT'].map(
        httpDateIn,
      ),
    ).toEqual(Array(5).fill(null));
  });

  it.for(['Pacific/Auckland', 'America/Los_Angeles', 'Africa/Nairobi'])(
    'times know nothing of %s, where the machine is',
    async (zone) => {
      const texts = ['2026-11-25', '2026-11-25 06:00', '2026/11/25', '2026-11-25T06:00:00.5', '20261125'];
      const program = `
      import { periodIn, timeIn } from './src/shared/periods.ts';
      const texts = ${JSON.stringify(texts)};
      console.log(JSON.stringify([new Date(2026, 10, 25).getTimezoneOffset() !== 0, texts.map(timeIn), texts.map(periodIn)]));`;
      const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program];
      const { stdout } = await promisify(execFile)(process.execPath, args, {
        env: { ...process.env, TZ: zone },
      });
      const [isElsewhere, times, periods] = JSON.parse(stdout);
      expect(isElsewhere).toBe(true);
      expect(times).toEqual(texts.map(timeIn));
      expect(times.map(({ text }: { text: string }) => text.slice(0, 10))).toEqual(
        Array(5).fill('2026-11-25'),
      );
      expect(periods.map(({ key }: { key: string }) => key)).toEqual(Array(5).fill('2026-11-25'));
    },
  );
});
