import { expect, it } from 'vitest';
import { latestIn } from '../../src/observations/planner/latest.ts';
import type { ObservationRecord } from '../../src/service/records/observations.ts';
import { figure } from '../support/figure.ts';

type Row = Partial<ObservationRecord>;

interface Case {
  readonly rows: Readonly<Record<string, Row>>;
  readonly filter?: Parameters<typeof latestIn>[1];
  /** Names of the rows that are expected; `candidates` are those of the country where the figure is. */
  readonly figure: string | null;
  readonly several?: readonly string[];
  readonly newest?: readonly string[];
  readonly candidates?: readonly string[];
}

const CASES: Readonly<Record<string, Case>> = {
  'there is none': { rows: {}, figure: null, several: [], newest: [], candidates: [] },
  'a year has one row': {
    rows: { old: { year: 2019 }, last: { year: 2020 }, older: { year: 2018 } },
    figure: 'last',
  },
  'a year has halves': {
    rows: { first: { period: '2020-H1' }, second: { period: '2020-H2' } },
    figure: 'second',
  },
  'a year ends with its last quarter': {
    rows: { quarter: { period: '2020-Q4' }, year: { period: '2020' } },
    figure: 'year',
    newest: ['quarter', 'year'],
    candidates: ['quarter', 'year'],
  },
  'a period is unreadable, so that it may end with the year': {
    rows: { read: { period: '2020-H1' }, unread: { period: 'once' } },
    figure: 'unread',
    newest: ['read', 'unread'],
    candidates: ['read', 'unread'],
  },
  'two sources have it': {
    rows: { second: { source: 'b' }, first: { source: 'a' } },
    figure: 'first',
    several: ['first', 'second'],
    newest: ['first', 'second'],
    candidates: ['first', 'second'],
  },
  'two spellings of one period have it': {
    rows: { one: { period: '2020-Q4' }, other: { period: 'Q4 2020', source: 't' } },
    figure: 'one',
    several: ['one', 'other'],
    newest: ['one', 'other'],
    candidates: ['one', 'other'],
  },
  'a row came twice': {
    rows: { once: {}, again: {} },
    figure: 'once',
  },
  'a place has it too': {
    rows: { place: { locationName: 'Kisumu' }, country: {} },
    figure: 'country',
    newest: ['country', 'place'],
    candidates: ['country'],
  },
  'places alone have it': {
    rows: { country: { year: 2019 }, west: { locationName: 'Kisumu' }, south: { locationName: 'Nairobi' } },
    figure: 'west',
    newest: ['south', 'west'],
    candidates: ['south', 'west'],
  },
  'a place has it, and only the country counts': {
    rows: { country: { year: 2019 }, place: { locationName: 'Kisumu' } },
    filter: { scope: 'NATIONAL' },
    figure: 'country',
  },
  'only places count': {
    rows: { country: {}, place: { year: 2019, locationName: 'Kisumu' } },
    filter: { scope: 'PLACES' },
    figure: 'place',
  },
  'later years are left out': {
    rows: { a: { year: 2018 }, b: { year: 2018, source: 't' }, later: { year: 2019 } },
    filter: { toYear: 2018 },
    figure: 'a',
    several: ['a', 'b'],
    newest: ['a', 'b'],
    candidates: ['a', 'b'],
  },
  'all years are left out': {
    rows: { early: { year: 2018 } },
    filter: { fromYear: 2019, scope: 'ALL' },
    figure: null,
    several: [],
    newest: [],
    candidates: [],
  },
};

it.for(Object.entries(CASES))('the latest figure is one where %s', ([, given]) => {
  const rows = Object.values(given.rows).map((row) => figure(row));
  const nameOf = (row: ObservationRecord) => Object.keys(given.rows)[rows.indexOf(row)] ?? '?';
  const alone = given.figure === null ? [] : [given.figure];
  const { several = alone, newest = alone, candidates = alone } = given;
  for (const some of [rows, rows.toReversed()]) {
    const latest = latestIn(some, given.filter);
    // Of copies, any may stand for all.
    if (given.rows.again !== undefined) expect(latest.candidates).toHaveLength(1);
    else {
      expect(latest.figure && nameOf(latest.figure)).toBe(given.figure);
      expect(latest.several.map(nameOf).sort()).toEqual([...several].sort());
      expect(latest.newest.map(nameOf).sort()).toEqual([...newest].sort());
      expect(latest.candidates.map(nameOf).sort()).toEqual([...candidates].sort());
    }
  }
});
