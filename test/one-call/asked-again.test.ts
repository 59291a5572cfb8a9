import { describe, expect, it } from 'vitest';
import { createDice, type Dice } from '../oracle/dice.ts';
import { draws } from '../support/draws.ts';
import { openFixedService, type Sent } from '../support/fixed-service.ts';
import { movingClock } from '../support/moving-clock.ts';
import { openProgram } from '../support/program.ts';
import { SENT_ROW } from '../support/sent-row.ts';

const row = (period: string, place: string | null, further: Sent = {}): Sent => ({
  ...SENT_ROW,
  year: Number(period.slice(0, 4)),
  period,
  as_of_period: null,
  location_name: place,
  ...further,
});

const placeFirst = (rows: readonly Sent[]) => {
  const year = Math.max(...rows.map((one) => Number(one.year)));
  const newest = rows.filter((one) => one.year === year);
  return newest.find(({ location_name }) => location_name !== null) ?? (newest[0] as Sent);
};

/** Choices of the latest row: the specification says no more than that it is the latest. */
const CHOICES: readonly ((rows: readonly Sent[]) => Sent)[] = [
  (rows) => rows.toSorted((a, b) => Number(b.year) - Number(a.year))[0] as Sent,
  (rows) => rows.toSorted((a, b) => Number(a.year) - Number(b.year)).at(-1) as Sent,
  placeFirst,
  (rows) => rows.at(-1) as Sent,
];

async function open(rows: readonly Sent[], latest: (rows: readonly Sent[]) => Sent) {
  const { clock, pass } = movingClock(Date.parse('2026-11-27T10:00:01Z'));
  const service = await openFixedService({ rows, latest });
  const program = await openProgram({
    upstreamUrl: service.url,
    env: { CACHE_URL: 'memory:' },
    clock,
  });
  return {
    service,
    pass,
    /** Asks under an alias, so that no answer is kept as bytes. */
    async ask(question: string, alias: string) {
      const { data, errors, upstream } = await program.ask(question.replaceAll('$', `${alias}: `));
      return {
        answer: JSON.stringify(data ?? null).replaceAll(`"${alias}"`, '"$"'),
        errors,
        calls: upstream.calls,
      };
    },
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

const ALPHA = '$observation(metricKey: "alpha")';
const CODES_AND_KEYS = 'countryCodes: ["KE", "NG"], metricKeys: ["alpha", "beta"]';

const QUESTIONS = [
  `{ country(code: "KE") { ${ALPHA} { value locationName } } }`,
  `{ country(code: "KE") { ${ALPHA} { value freshness { stale } } b: observation(metricKey: "beta") { value } } }`,
  `{ country(code: "KE") { observation(metricKey: "alpha", maxAge: 200) { $value } } }`,
  `{ countries { ${ALPHA} { value } } }`,
  `{ countries { ${ALPHA} { value rank { position of } } } }`,
  `{ country(code: "NG") { ${ALPHA} { value rank { position of } } } }`,
  `{ country(code: "NG") { ${ALPHA} { value rank(among: ["KE", "GH"]) { position of } } } }`,
  `{ country(code: "NG") { ${ALPHA} { value change } } }`,
  `{ countries { ${ALPHA} { value growthPercent(since: 2022) } } }`,
  `{ countries { ${ALPHA} { value per(metricKey: "beta") { value } } } }`,
  `{ indicator(key: "alpha") { $observation(countryCode: "KE") { value } } }`,
  `{ $observations(${CODES_AND_KEYS}, latest: true) { value year locationName } }`,
  `{ $observations(${CODES_AND_KEYS}, latest: true, scope: NATIONAL) { value year } }`,
  `{ $observations(${CODES_AND_KEYS}, latest: true, scope: PLACES) { value year } }`,
  `{ $observations(${CODES_AND_KEYS}, latest: true, scope: NATIONAL, fromYear: 2022) { value year } }`,
  `{ $observations(${CODES_AND_KEYS}, latest: true, toYear: 2023) { value year } }`,
  `{ $observations(${CODES_AND_KEYS}, fromYear: 2023) { value year } }`,
  `{ country(code: "KE") { ${ALPHA} { value } observations(metricKeys: ["beta"]) { value } } }`,
  `{ country(code: "KE") { ${ALPHA} { value } observations(metricKeys: ["alpha"], latest: true) { value } } }`,
];

/** Rows of three countries and two metrics: of places, of the whole country, of parts of a year, in any order. */
function drawRows(dice: Dice): Sent[] {
  const rows: Sent[] = [];
  for (const pair of ['ke alpha', 'ke beta', 'ng alpha', 'ng beta', 'gh alpha']) {
    const [country_code, metric_key] = pair.split(' ');
    const kind = dice.pick(['none', 'national', 'of places', 'places are newer', 'places are newer', 'both']);
    const parts = dice.pick([[''], [''], ['-Q3', '-Q4', ''], ['', ' spring']]);
    const places = dice.some(['Coast', 'North', 'West'], dice.between(1, 3));
    for (let year = kind === 'none' ? 2021 : 2024; year > 2024 - dice.pick([1, 2, 4]); year -= 1)
      for (const part of parts) {
        const isNational = kind === 'national' || kind === 'both' || (kind !== 'of places' && year < 2024);
        const there = kind === 'national' ? [] : places.filter(() => dice.chance(0.8));
        for (const place of isNational ? [null, ...there] : there) {
          const further = { country_code, metric_key, value: rows.length, source: dice.pick(['a', 'b']) };
          rows.push(row(`${year}${part}`, place, further));
        }
      }
  }
  return dice.some(rows, rows.length);
}

describe('a question that was answered costs nothing the second time', () => {
  it('a question that was answered costs nothing the second time where the latest row is that of a place, and the country has no figure, for each row that may be chosen', async () => {
    const rows = ['2024-Q3', '2024-Q4'].flatMap((period) =>
      ['Mombasa', 'Nairobi'].map((place) => row(period, place)),
    );
    for (const [at, chosen] of rows.entries()) {
      await using asking = await open(rows, () => rows[at] as Sent);
      const question = '{ country(code: "KE") { $observation(metricKey: "population_total") { value } } }';
      const first = await asking.ask(question, 'a');
      expect([first.answer, first.calls], String(chosen.period)).toEqual(['{"country":{"$":null}}', 2]);
      expect(await asking.ask(question, 'b')).toEqual({ ...first, calls: 0 });
    }
  });

  it('a question that was answered costs nothing the second time but for a row of a later time that was written since: then the service chooses again', async () => {
    const [older, newer] = ['2024-Q3', '2024-Q4'].map((period) =>
      ['Mombasa', 'Nairobi'].map((place) =>
        row(period, place, period === '2024-Q4' ? { retrieved_at: '2026-11-27T10:00:30Z' } : {}),
      ),
    ) as [Sent[], Sent[]];
    await using asking = await open(older, (rows) => rows.at(-1) as Sent);
    const latest =
      '{ $observations(countryCodes: ["KE"], metricKeys: ["population_total"], latest: true) { period } }';
    const series = latest.replace(', latest: true', '');
    const first = await asking.ask(latest, 'a');
    expect([first.answer, first.calls]).toEqual(['{"$":[{"period":"2024-Q3"}]}', 1]);
    asking.pass(60);
    asking.service.revise([...older, ...newer]);
    expect((await asking.ask(series, 'a')).calls).toBe(1);
    const second = await asking.ask(latest, 'b');
    expect([second.answer, second.calls]).toEqual(['{"$":[{"period":"2024-Q4"}]}', 1]);
  });

  it('a question that was answered costs nothing the second time where a figure is ranked among all countries, though the list lacks most of them', async () => {
    await using asking = await open([row('2024', null)], placeFirst);
    const question = '{ countries { $observation(metricKey: "population_total") { rank { position of } } } }';
    const first = await asking.ask(question, 'a');
    expect([first.answer, first.calls]).toEqual(['{"countries":[{"$":{"rank":{"position":1,"of":1}}}]}', 2]);
    expect(await asking.ask(question, 'b')).toEqual({ ...first, calls: 0 });
  });

  it('a question that was answered costs nothing the second time over drawn services, in the time of figures and past it', async () => {
    const paid: unknown[] = [];
    for (let nth = 0; nth < draws(100, 25); nth += 1) {
      const dice = createDice('asked again', nth);
      await using asking = await open(drawRows(dice), dice.pick(CHOICES));
      for (const question of dice.some(QUESTIONS, 3)) {
        for (const seconds of [0, 301]) {
          asking.pass(seconds);
          const first = await asking.ask(question, 'a');
          expect(first.errors, `${nth} ${question}`).toEqual([]);
          const { calls } = await asking.ask(question, 'b');
          if (calls > 0) paid.push({ nth, question, seconds, calls });
        }
      }
    }
    expect(paid).toEqual([]);
  }, 180_000);
});
