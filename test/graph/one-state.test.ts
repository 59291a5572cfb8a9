import { expect, it } from 'vitest';
import { openLive } from '../live/live.ts';
import { openTimedProgram } from '../support/timed-program.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Any = any;

const METRIC = 'population_total';
const LATEST = `observation(metricKey: "${METRIC}") { id value }`;
const SERIES = `observations(metricKeys: ["${METRIC}"]) { id value }`;
const RANGE = `observations(metricKeys: ["${METRIC}"], fromYear: 2015) { id value }`;
const kenya = (...fields: readonly string[]) => `{ country(code: "KE") { code ${fields.join(' ')} } }`;

/** The values of each identifier, wherever it stands in an answer. */
function valuesById(answer: Any, found = new Map<string, Set<number>>()): Map<string, Set<number>> {
  if (typeof answer !== 'object' || answer === null) return found;
  if (typeof answer.id === 'string' && typeof answer.value === 'number')
    found.set(answer.id, (found.get(answer.id) ?? new Set()).add(answer.value));
  for (const part of Object.values(answer)) valuesById(part, found);
  return found;
}

/** Figures with several values in an answer. */
const inTwoStates = (answer: Any) => [...valuesById(answer)].filter(([, values]) => values.size > 1);

it.for<readonly [string, string, string, number]>([
  ['the latest one, and the series is not', kenya(LATEST), kenya(LATEST, SERIES), 1],
  ['the latest one, and the series that is asked for first is not', kenya(LATEST), kenya(SERIES, LATEST), 1],
  ['the latest one, and a range is not', kenya(LATEST), kenya(LATEST, RANGE), 1],
  [
    'the latest one, and what it is divided by is asked for with its series',
    kenya(LATEST),
    kenya(
      LATEST,
      `observations(metricKeys: ["life_expectancy"], fromYear: 2020) { id value per(metricKey: "${METRIC}") { operands { id value } } }`,
    ),
    1,
  ],
])(
  'a figure has one state in an answer where the service has revised it since it held %s',
  async ([, held, asked, calls]) => {
    await using program = await openLive();
    await program.ask(held);
    program.pass(10);
    program.revise('world_bank_wdi', METRIC, 2);
    program.requests();
    const { data, errors } = await program.ask(asked);
    expect(errors).toEqual([]);
    expect(valuesById(data).size).toBeGreaterThan(1);
    expect(inTwoStates(data)).toEqual([]);
    expect(program.requests()).toHaveLength(calls);
  },
);

it('a figure has one state in an answer where both of its states are held', async () => {
  await using program = await openLive();
  await program.ask(kenya(SERIES));
  program.pass(10);
  program.revise('world_bank_wdi', METRIC, 2);
  const newer = await program.ask(kenya(LATEST.replace('") {', '", maxAge: 0) {')));
  program.requests();
  for (const fields of [
    [SERIES, LATEST],
    [LATEST, SERIES],
  ]) {
    const { data } = await program.ask(kenya(...fields));
    expect(inTwoStates(data)).toEqual([]);
  }
  expect(newer.data.country.observation.value).toBe(115_000_000);
  expect(program.requests()).toEqual([]);
});

it.for<readonly [string]>([
  [kenya(`old: ${LATEST}`, `new: ${LATEST.replace('") {', '", maxAge: 0) {')}`)],
  [kenya(`new: ${LATEST.replace('") {', '", maxAge: 0) {')}`, `old: ${LATEST}`)],
  [kenya(`old: ${LATEST}`, `new: ${SERIES.replace('"]) {', '"], maxAge: 0) {')}`)],
])('a figure has one state in an answer where one field takes nothing old: %s', async ([asked]) => {
  await using program = await openLive();
  await program.ask(kenya(LATEST));
  program.pass(10);
  program.revise('world_bank_wdi', METRIC, 2);
  program.requests();
  const { data } = await program.ask(asked);
  expect(inTwoStates(data)).toEqual([]);
  expect(program.requests()).toHaveLength(1);
});

it.for<readonly [string, readonly string[]]>([
  ['nothing is cached', []],
  ['the signals are cached', ['signals']],
  ['the figures are cached', ['figures']],
  ['both are cached', ['signals', 'figures']],
])(
  'a figure that is among the signals too keeps the bounds and the record of its own route where %s',
  async ([, cached]) => {
    await using program = await openTimedProgram();
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/data',
      patch: (body) => ({
        ...body,
        data: body.data.map((row: object) => ({
          ...row,
          dataset_version: null,
          estimate_low: 1,
          estimate_high: 2,
        })),
      }),
    });
    const row = 'id value estimateLow estimateHigh record';
    const first = await program.ask(kenya(`signals { observations { ${row} indicator { key } } }`));
    const signals = first.data.country.signals.observations;
    const keys = JSON.stringify([...new Set(signals.map(({ indicator }: Any) => indicator.key))]);
    const parts = {
      signals: `signals { observations { ${row} } }`,
      figures: `observations(metricKeys: ${keys}, latest: true) { ${row} }`,
    };
    program.pass(301);
    for (const part of cached) await program.ask(kenya(parts[part as keyof typeof parts]));
    const { data, errors, upstream } = await program.ask(kenya(parts.figures, parts.signals));
    expect(errors).toEqual([]);
    expect(data.country.signals.observations).toEqual(signals.map(({ indicator, ...told }: Any) => told));
    expect(signals.map(({ estimateHigh }: Any) => estimateHigh)).toEqual(signals.map(() => null));
    for (const { estimateLow, estimateHigh, record } of data.country.observations)
      expect({ estimateLow, estimateHigh, record }).toMatchObject({
        estimateLow: 1,
        estimateHigh: 2,
        record: { estimate_low: 1, estimate_high: 2 },
      });
    const ids = new Set(data.country.observations.map(({ id }: Any) => id));
    expect(signals.some(({ id }: Any) => ids.has(id))).toBe(true);
    expect(upstream.calls).toBe(2 - cached.length);
  },
);

it.for<readonly [string, readonly string[]]>([
  ['the signals come first', ['signals']],
  ['the figures come first', ['figures']],
  ['they come together', []],
])(
  'a figure among the signals that is of a place, of another source or of another release takes the place of no other where %s',
  async ([, cached]) => {
    await using program = await openTimedProgram();
    const others: readonly object[] = [
      { location_name: 'Mombasa', value: 1 },
      { source: 'another_source', value: 2 },
      { dataset_version: 'another release', value: 3 },
    ];
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/data',
      patch: (body) => ({
        ...body,
        data: body.data.map((row: object) => ({ ...row, dataset_version: null })),
      }),
    });
    program.sandbox.faults.set({
      kind: 'shape',
      route: '/v1/countries/{code}/signals',
      patch: (body) => ({
        ...body,
        data: {
          ...body.data,
          observations: body.data.observations.flatMap((row: object) => [
            ...others.map((other) => ({ ...row, ...other })),
            row,
          ]),
        },
      }),
    });
    const row = 'id value locationName source { key } datasetVersion';
    const signals = `signals { observations { ${row} indicator { key } } }`;
    const told = (await program.ask(kenya(signals))).data.country.signals.observations;
    const keys = [...new Set<string>(told.map(({ indicator }: Any) => indicator.key))];
    const figures = [
      `observations(metricKeys: ${JSON.stringify(keys)}, latest: true) { ${row} }`,
      ...keys.map((key, i) => `f${i}: observation(metricKey: "${key}") { ${row} }`),
    ].join(' ');
    const { signals: _, ...plain } = (await program.ask(kenya(figures))).data.country;
    program.pass(301);
    for (const part of cached) await program.ask(kenya(part === 'signals' ? signals : figures));
    const { data, errors, upstream } = await program.ask(kenya(figures, signals));
    expect(errors).toEqual([]);
    const { signals: answered, ...rest } = data.country;
    expect(rest).toEqual(plain);
    expect(answered.observations).toEqual(told);
    // Some are told by both routes, so that they have one state.
    const ids = new Set(plain.observations.map(({ id }: Any) => id));
    expect(told.some(({ id }: Any) => ids.has(id))).toBe(true);
    expect(upstream.calls).toBe(2 - cached.length);
  },
);
