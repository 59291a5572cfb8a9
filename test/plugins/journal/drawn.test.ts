import { expect, it } from 'vitest';
import { createDice, type Dice } from '../../oracle/dice.ts';
import { draws } from '../../support/draws.ts';
import { asOf, LATEST, openRecording, revisionsOf, row, SERIES } from './recording.ts';

const HISTORIES = draws(40);
const LOOKS = 25;

/** Values by years. */
type Figures = ReadonlyMap<number, number>;

/** Revises, adds and withdraws some figures. */
function published(before: Figures, dice: Dice): Figures {
  const after = new Map(before);
  for (let n = dice.below(4); n > 0; n -= 1) {
    const year = dice.between(2015, 2024);
    if (dice.chance(0.3)) after.delete(year);
    else after.set(year, dice.below(5));
  }
  return after;
}

/** What is known after a look: a latest figure tells that there are none of later years, and nothing of earlier ones. */
function knownAfter(known: Figures, truth: Figures, isWhole: boolean): Figures {
  if (isWhole || truth.size === 0) return truth;
  const latest = Math.max(...truth.keys());
  const left = [...known].filter(([year]) => year < latest);
  return new Map([...left, [latest, truth.get(latest) as number]]);
}

const sorted = (figures: Figures) => [...figures].toSorted(([a], [b]) => a - b);

function changesBetween(before: Figures, after: Figures): number {
  const years = new Set([...before.keys(), ...after.keys()]);
  return [...years].filter((year) => before.get(year) !== after.get(year)).length;
}

it.each(Array.from({ length: HISTORIES }, (_, i) => i))(
  'a drawn history is read as of each look at it: %i',
  async (nth) => {
    const dice = createDice('journal', nth);
    await using program = await openRecording({ rows: [] });
    let truth: Figures = new Map([[2020, 1]]);
    let known: Figures = new Map();
    let revisions = 0;
    let isWhole = false;
    const looks: { readonly at: string; readonly known: Figures; readonly isWhole: boolean }[] = [];
    for (let look = 0; look < LOOKS; look += 1) {
      truth = published(truth, dice);
      program.service.revise([...truth].map(([year, value]) => row(year, value)));
      const isSeries = dice.chance(0.5);
      await program.look(isSeries ? SERIES : LATEST);
      const next = knownAfter(known, truth, isSeries);
      if (isWhole) revisions += changesBetween(known, next);
      // An empty answer is the whole series, too.
      isWhole ||= isSeries || truth.size === 0;
      known = next;
      looks.push({ at: program.ago(0), known, isWhole });
    }
    const seenWhole = looks.find((look) => look.isWhole)?.at;
    const since =
      seenWhole === undefined
        ? ''
        : `, first: 1000, since: "${new Date(Date.parse(seenWhole) + 1).toISOString()}"`;
    expect((await program.read(revisionsOf(since))).data.revisions).toHaveLength(revisions);
    for (const look of looks) {
      const series = `{ country(code: "KE") { figuresAsOf(metricKey: "one", asOf: "${look.at}") { year value } } }`;
      const { data, errors } = await program.read(series);
      const told = data.country.figuresAsOf?.map(({ year, value }: Record<string, number>) => [year, value]);
      expect([told, errors.length]).toEqual(look.isWhole ? [sorted(look.known), 0] : [undefined, 1]);
      const latest = (await program.read(asOf(look.at))).data.country.figureAsOf;
      expect(latest && [latest.year, latest.value]).toEqual(sorted(look.known).at(-1) ?? null);
    }
  },
);
