import { newerFirst } from './choices.ts';
import type { Dice } from './dice.ts';
import type { Habits } from './habits.ts';
import { ordered, withRecord, yearLater } from './series.ts';
import { spelledTime } from './times.ts';
import { inSnapshot, type RowFact, type SourceFact, tickerRecord, type World } from './world.ts';

/**
 * Publication of a source: some of its figures change, sometimes a newer one comes, and the source's refresh
 * moves to `at`. Prices of listings move too, which no source tells of.
 */
export function revise(world: World, habits: Habits, dice: Dice, at: string): string {
  const source = dice.pick(world.sources);
  const refreshed: SourceFact = source;
  refreshed.lastSuccessfulRefresh = at;
  refreshed.record = { ...source.record, [habits.etlRefresh]: spelledTime(at, habits.times) };
  const changed = changeFigures(world, habits, dice, source.key, at);
  changeSnapshots(world, changed);
  const added = dice.chance(0.6) ? addNewer(world, habits, dice, source.key, at) : 0;
  world.rows.splice(0, world.rows.length, ...ordered(world.rows, habits));
  world.tickers.forEach((ticker, i) => {
    if (!dice.chance(0.2) || ticker.closePrice === null) return;
    const moved = { ...ticker, closePrice: ticker.closePrice + 1 };
    world.tickers[i] = { ...moved, record: tickerRecord(moved, habits) };
  });
  return `${source.key} refreshed at ${at}: ${changed.size} changed, ${added} added`;
}

/** @returns figures as they have become, by what they were */
function changeFigures(
  world: World,
  habits: Habits,
  dice: Dice,
  source: string,
  at: string,
): ReadonlyMap<RowFact, RowFact> {
  const changed = new Map<RowFact, RowFact>();
  world.rows.forEach((row, i) => {
    if (row.source !== source || row.value === null || !dice.chance(0.3)) return;
    const revised = withRecord(habits, {
      ...row,
      value: row.value + 7,
      raw: null,
      retrievedAt: finer(at, i),
    });
    world.rows[i] = revised;
    changed.set(row, revised);
  });
  return changed;
}

/** A service has one state of a figure, by whichever route it is asked for. */
function changeSnapshots(world: World, changed: ReadonlyMap<RowFact, RowFact>): void {
  const byRecord = new Map([...changed].map(([row, revised]) => [nameOf(inSnapshot(row)), revised]));
  for (const [code, snapshot] of world.signals) {
    const rows = snapshot.rows.map((row) => {
      const revised = byRecord.get(nameOf(row));
      return revised === undefined ? row : inSnapshot(revised);
    });
    const observations = rows.map(({ record }) => record);
    world.signals.set(code, { ...snapshot, rows, record: { ...snapshot.record, observations } });
  }
}

const nameOf = ({ country, record }: RowFact) => JSON.stringify([country, record]);

/** A newer year of some series, though the rows that were there came from other sources. */
function addNewer(world: World, habits: Habits, dice: Dice, source: string, at: string): number {
  const indicators = world.indicators.filter((one) => one.hasData && one.sources.includes(source));
  let added = 0;
  for (const indicator of indicators) {
    for (const country of world.countries) {
      const rows = world.rows.filter((row) => row.metric === indicator.key && row.country === country.code);
      const newest = rows.filter((row) => row.place === null).sort(newerFirst)[0];
      if (newest === undefined || !dice.chance(0.3)) continue;
      world.rows.push(nextYear(newest, source, finer(at, world.rows.length), habits, dice));
      added += 1;
    }
  }
  return added;
}

function nextYear(row: RowFact, source: string, at: string, habits: Habits, dice: Dice): RowFact {
  const value = dice.between(1, 999);
  return withRecord(habits, {
    ...row,
    ...yearLater(row),
    value,
    raw: null,
    source,
    retrievedAt: at,
    low: null,
    high: null,
  });
}

/** No two rows of one run are retrieved at the same instant. */
function finer(at: string, nth: number): string {
  return at.replace('Z', `${`${nth % 1000}`.padStart(3, '0')}Z`);
}
