import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFixedService, type Sent } from '../../support/fixed-service.ts';
import { movingClock } from '../../support/moving-clock.ts';
import { openProgram, type ProgramOptions } from '../../support/program.ts';
import { SENT_ROW } from '../../support/sent-row.ts';

export const START = Date.parse('2026-03-10T12:00:30Z');

/** A figure of Kenya, or of a place in it. */
export const row = (year: number, value: unknown, further: Sent = {}): Sent => ({
  ...SENT_ROW,
  metric_key: 'one',
  year,
  period: `${year}`,
  as_of_period: null,
  location_name: null,
  value,
  estimate_low: null,
  estimate_high: null,
  ...further,
});

export const SERIES = '{ observations(countryCodes: ["KE"], metricKeys: ["one"], maxAge: 0) { value } }';
export const LATEST = '{ country(code: "KE") { observation(metricKey: "one", maxAge: 0) { value } } }';

const FIGURE = 'year value digits datasetVersion retrievedAt seenAt';

export const revisionsOf = (further = '') =>
  `{ revisions(countryCodes: ["ke"], metricKeys: ["one"]${further}) {
    country { code } indicator { key } seenAt before { ${FIGURE} } after { ${FIGURE} }
  } }`;

export const asOf = (time: string, year?: number) =>
  `{ country(code: "KE") { figureAsOf(metricKey: "one", asOf: "${time}"${year === undefined ? '' : `, year: ${year}`}) { ${FIGURE} } } }`;

/** A folder for a journal, which several gateways may share. */
export function openFolder() {
  const path = mkdtempSync(join(tmpdir(), 'journal-'));
  return {
    file: join(path, 'journal.sqlite'),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** A gateway with a journal, over a service whose figures the test revises. */
export async function openRecording({
  rows,
  file = ':memory:',
  env,
  ...options
}: Omit<ProgramOptions, 'clock'> & { readonly rows: readonly Sent[]; readonly file?: string }) {
  const service = await openFixedService({ rows, countries: ['ke', 'ug'] });
  const time = movingClock(START);
  const open = () =>
    openProgram({
      ...options,
      upstreamUrl: service.url,
      clock: time.clock,
      env: { CACHE_URL: 'memory:', JOURNAL_FILE: file, ...env },
    });
  const program = await open();
  return {
    ...program,
    service,
    pass: time.pass,
    /** Another gateway over the same service, clock and file. */
    open,
    /** The time of the gateways, so many seconds ago. */
    ago: (seconds: number) => new Date(time.clock.now() - seconds * 1000).toISOString(),
    /** Asks what takes no call. */
    async read(query: string, key?: string) {
      const { data, errors, extensions, upstream } = await program.ask(
        query,
        key === undefined ? {} : { key },
      );
      if (upstream.calls !== 0) throw new Error(`Reading the journal took ${upstream.calls} calls.`);
      return { data, errors, warnings: extensions.warnings };
    },
    /** Has the figures asked for anew, a minute later, and recorded. */
    async look(query = SERIES) {
      time.pass(60);
      const { errors, upstream } = await program.ask(query);
      if (errors.length > 0 || upstream.calls !== 1)
        throw new Error(`${upstream.calls} ${JSON.stringify(errors)}`);
      await program.ask(revisionsOf());
    },
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}
