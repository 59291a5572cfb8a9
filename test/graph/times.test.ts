import { describe, expect, it } from 'vitest';
import { openFixedService } from '../support/fixed-service.ts';
import { openProgram } from '../support/program.ts';
import { SENT_ROW } from '../support/sent-row.ts';

/** Times as the service sends them, and as they leave. */
const TIMES = [
  ['2026-11-25', '2026-11-25T00:00:00Z'],
  ['2026-11-25T06:00:00.123456Z', '2026-11-25T06:00:00.123456Z'],
  ['2026-11-25 06:00', '2026-11-25T06:00:00Z'],
  ['2026/11/25 06:00:00', '2026-11-25T06:00:00Z'],
  ['2026-11-25T06:00:00+0300', '2026-11-25T03:00:00Z'],
  [1_764_028_800, '2025-11-25T00:00:00Z'],
  [null, null],
  ['last night', null],
  ['2026-02-30T06:00:00Z', null],
  [{ at: '2026-11-25' }, null],
  [true, null],
] as const;

const isUnreadable = ([sent, told]: (typeof TIMES)[number]) => sent !== null && told === null;

describe('a time of the service', () => {
  it('a time of the service leaves by RFC 3339 in UTC, or null with a warning', async () => {
    const sources = () =>
      TIMES.map(([sent], i) => ({ key: `s${i}`, last_successful_refresh: sent, next_run: sent }));
    await using service = await openFixedService({ sources });
    await using program = await openProgram({ upstreamUrl: service.url });
    const { data, errors, extensions, upstream } = await program.ask(
      '{ sources { key lastSuccessfulRefresh nextRun record } }',
    );
    expect(errors).toEqual([]);
    expect(data.sources).toEqual(
      TIMES.map(([, told], i) => ({
        key: `s${i}`,
        lastSuccessfulRefresh: told,
        nextRun: told,
        record: sources()[i],
      })),
    );
    const unreadable = TIMES.flatMap((time, i) => (isUnreadable(time) ? i : []));
    const paths = ['lastSuccessfulRefresh', 'nextRun'].flatMap((name) =>
      unreadable.map((i) => ['sources', i, name]),
    );
    const warnings = extensions.warnings as readonly { code: string; path: readonly unknown[] }[];
    expect(warnings.map(({ code }) => code)).toEqual(paths.map(() => 'UNREADABLE_TIME'));
    expect(new Set(warnings.map(({ path }) => path.join()))).toEqual(
      new Set(paths.map((path) => path.join())),
    );
    expect(upstream.calls).toBe(1);
  });

  it('a time of the service is told of its record wherever that stands', async () => {
    const alert = { event_key: 'e', name: 'Flood', event_from_at: '2026-11-25 06:00', event_to_at: 'soon' };
    const rows = [
      { ...SENT_ROW, location_name: null, metric_key: 'm', retrieved_at: '2026-11-25T06:00:00.5+03:00' },
    ];
    await using service = await openFixedService({
      rows,
      signals: { country: { code: 'ke' }, disaster_alerts: [alert] },
    });
    await using program = await openProgram({ upstreamUrl: service.url });
    const { data, extensions } = await program.ask(
      '{ country(code: "KE") { signals { disasterAlerts { eventFromAt eventToAt } } observation(metricKey: "m") { retrievedAt } } }',
    );
    expect(data.country).toEqual({
      signals: { disasterAlerts: [{ eventFromAt: '2026-11-25T06:00:00Z', eventToAt: null }] },
      observation: { retrievedAt: '2026-11-25T03:00:00.5Z' },
    });
    expect(extensions.warnings).toMatchObject([
      {
        code: 'UNREADABLE_TIME',
        path: ['country', 'signals', 'disasterAlerts', 0, 'eventToAt'],
        detail: 'soon',
      },
    ]);
  });
});
