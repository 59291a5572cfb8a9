import type { Plugin, PluginHost, StartedServices } from '../../plugin/index.ts';
import { ANEW, askedAgain, LATELY } from './asked-again.ts';
import { FIGURE_TABLES, Journal } from './journal.ts';
import { createReading } from './readings.ts';
import { Recorder } from './recorder.ts';
import { partOver } from './resolvers.ts';
import { SNAPSHOT_TABLES, Snapshots } from './snapshots.ts';

const BYTES_PER_MB = 1_000_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Of the journal, for snapshots. */
const SNAPSHOT_SHARE = 0.5;

/** Of the tables. */
const VERSION = 1;

/** @throws Error if the file can't be opened, or another version has written it */
export async function openJournal(
  path: string,
  mb: number,
  snapshotDays: number,
  host: PluginHost,
): Promise<Plugin> {
  const tables = `PRAGMA synchronous = NORMAL; ${FIGURE_TABLES} ${SNAPSHOT_TABLES}`;
  const file = await host.openDatabase({ path, name: 'journal', tables, version: VERSION });
  const mostBytes = mb * BYTES_PER_MB;
  const journal = new Journal(file, mostBytes);
  const snapshots = new Snapshots(file, mostBytes * SNAPSHOT_SHARE, snapshotDays * DAY_MS);
  let started: StartedServices | undefined;
  const gateway = () => started as StartedServices;
  const recorder = new Recorder(journal, host, () => gateway().turnsFor(null));
  return {
    schema: [partOver(createReading({ journal, recorder, now: host.now }))],
    call: recorder.stage,
    request: (next) => askedAgain(next, { snapshots, host, gateway }),
    documents: [ANEW, LATELY],
    start(services) {
      started = services;
    },
    metrics: [
      counter('revisions', 'Revisions of figures that were recorded.', () => journal.counts.revisions),
      counter(
        'dropped',
        'Revisions that were dropped, to keep within JOURNAL_MB.',
        () => journal.counts.dropped,
      ),
      counter('unrecorded', 'Answers that could not be recorded.', () => recorder.unrecorded),
      gauge('bytes', 'Bytes of the journal that are in use.', () => file.bytes),
      gauge('snapshot_bytes', 'Bytes of the snapshots in it.', () => snapshots.bytes),
    ],
    async close() {
      await recorder.recorded();
      file.close();
    },
  };
}

function counter(name: string, help: string, value: () => number) {
  return { ...gauge(`${name}_total`, help, value), kind: 'counter' } as const;
}

function gauge(name: string, help: string, value: () => number) {
  return {
    kind: 'gauge',
    name: `country_graph_journal_${name}`,
    help,
    labels: [],
    values: () => [{ value: value() }],
  } as const;
}
