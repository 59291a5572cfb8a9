import { getIntrospectionQuery } from 'graphql';
import { describe, expect, it } from 'vitest';
import { LOOK, openLive, subscriptionsOf } from '../live/live.ts';
import { openProgram } from '../support/program.ts';
import { CLIENTS } from './live-pages.ts';
import { type Any, isInstalled } from './mounted-pages.ts';

/** A page of a series and of its latest figure, and the subscription beside it, as a component selects them. */
const page = (id: string) => `query Page {
  country(code: "KE") {
    code
    observation(metricKey: "population_total") { ${id} year value }
    observations(metricKeys: ["population_total"], fromYear: 2020) { ${id} year value }
  }
}`;
const changed = (id: string) => `subscription Changed($since: String) {
  observationsChanged(countryCodes: ["KE"], metricKeys: ["population_total"], since: $since) {
    changes { kind formerId observation { ${id} year value } before { year value unit } }
    isWhole
    revision
  }
}`;

/** Years and values of a page: of the series, and of the latest figure. */
const figuresOf = (data: Any): Any =>
  data && [
    data.country.observation && [data.country.observation.year, data.country.observation.value],
    data.country.observations.map(({ year, value }: Any) => [year, value]),
  ];

const SELECTIONS = [
  { selection: 'id', id: 'id' },
  { selection: 'no id', id: '' },
] as const;

describe.runIf(isInstalled).for(CLIENTS)('$name, where a page selects', ({ mount, byId }) => {
  it.for(SELECTIONS)(
    'a page that selects $selection of its figures shows what the service has once told of a change',
    async ({ selection, id }) => {
      await using program = await openLive();
      const text = page(id);
      const shown = await mount(program, text, changed(id));
      await expect.poll(() => figuresOf(shown.shown())).toBeTruthy();
      const events: Any[] = [];
      const onEvent = (event: Any) => {
        events.push(event);
        const isSame = ({ kind, formerId, observation }: Any) =>
          kind === 'REVISED' && byId.includes(selection) && (id === '' || formerId === observation.id);
        // As docs/live.md says.
        if (!event.changes.every(isSame)) void shown.again();
      };
      let told = shown.subscribe({}, onEvent);
      await expect.poll(() => subscriptionsOf(program)).toBe(1);
      const asked = program.operations.length;
      const service = async () => figuresOf((await program.ask(text)).data);
      const isTold = async (count: number) => {
        await expect.poll(() => events.length).toBe(count);
        const now = await service();
        await expect.poll(() => figuresOf(shown.shown())).toEqual(now);
      };

      // REVISED
      const first = await service();
      program.requests();
      program.revise('world_bank_wdi', 'population_total', 2);
      await program.round();
      await isTold(1);
      expect(events[0].changes[0]).toMatchObject({ kind: 'REVISED' });
      expect(figuresOf(shown.shown())[0][1]).toBe(2 * first[0][1]);
      // The test has asked twice; a client that keeps figures by their `id` has asked for nothing.
      expect(program.operations.length - asked - 2).toBe(byId.includes(selection) ? 0 : 1);
      expect(program.requests()).toEqual([LOOK, expect.stringContaining('/v1/data?')]);

      // Begun again after a lost connection: all figures there are.
      told.stop();
      await expect.poll(() => subscriptionsOf(program)).toBe(0);
      program.pass(301);
      program.revise('world_bank_wdi', 'population_total', 3);
      told = shown.subscribe({ since: events[0].revision }, onEvent);
      await isTold(2);
      expect(events[1]).toMatchObject({ isWhole: true });
      expect(figuresOf(shown.shown())[0][1]).toBe(3 * first[0][1]);

      // Deleted: the latest figure, which is the last of the series.
      const latestYear = first[0][0];
      program.sandbox.faults.clear();
      program.sandbox.faults.set({
        kind: 'shape',
        route: '/v1/data',
        patch: ({ data, meta }: Any) => {
          const left = data.filter(({ year }: Any) => year !== latestYear);
          return {
            data: left.map((row: Any) => ({ ...row, value: row.value * 3 })),
            meta: { ...meta, total: left.length },
          };
        },
      });
      // Another instant than that of the run before.
      program.pass(10);
      program.sandbox.refresh('world_bank_wdi');
      program.requests();
      await program.round();
      await isTold(3);
      expect(events[2].changes).toMatchObject([{ kind: 'REMOVED', before: { year: latestYear } }]);
      expect(figuresOf(shown.shown())[1].map(([year]: Any) => year)).not.toContain(latestYear);
      // All of it comes of the look and the call that made the event.
      expect(program.requests().filter((call) => call.includes('/v1/data'))).toHaveLength(1);
      shown.close();
    },
  );
});

it('a change has one object with an id, so that no cache takes the figure before for the one now', async () => {
  await using program = await openProgram({ env: { SUBSCRIPTIONS: 'on' } });
  const { data } = await program.ask(getIntrospectionQuery(), { key: null });
  const type = (name: string) => data.__schema.types.find((one: Any) => one.name === name);
  const before = type('ObservationChange').fields.find(({ name }: Any) => name === 'before').type;
  expect(before.kind).toBe('OBJECT');
  expect(type(before.name).interfaces).toEqual([]);
  expect(type(before.name).fields.map(({ name }: Any) => name)).not.toContain('id');
  // Nor does it lead to one.
  expect(type(before.name).fields.filter(({ type }: Any) => (type.ofType ?? type).kind === 'OBJECT')).toEqual(
    [],
  );
});
