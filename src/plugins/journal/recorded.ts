import type { Plugin, PluginHost, Turns } from '../../plugin/index.ts';
import { Journal } from './journal.ts';
import { createReading } from './readings.ts';
import { Recorder } from './recorder.ts';
import { partOver } from './resolvers.ts';

const BYTES_PER_MB = 1_000_000;

/** @throws Error if the file can't be opened */
export function openJournal(path: string, mb: number, host: PluginHost): Plugin {
  const journal = new Journal(path, mb * BYTES_PER_MB, (words) => host.problem(new Error(words), 'journal'));
  let turns: Turns | undefined;
  const recorder = new Recorder(journal, host, () => turns as Turns);
  return {
    schema: [partOver(createReading({ journal, recorder, now: host.now }))],
    call: recorder.stage,
    start(gateway) {
      turns = gateway.turnsFor(null);
    },
    metrics: [
      counter('revisions', 'Revisions of figures that were recorded.', () => journal.counts.revisions),
      counter(
        'dropped',
        'Revisions that were dropped, to keep within JOURNAL_MB.',
        () => journal.counts.dropped,
      ),
      counter('unrecorded', 'Answers that could not be recorded.', () => recorder.unrecorded),
      {
        kind: 'gauge',
        name: 'country_graph_journal_bytes',
        help: 'Bytes of the journal that are in use.',
        labels: [],
        values: () => [{ value: journal.bytes }],
      },
    ],
    async close() {
      await recorder.recorded();
      journal.close();
    },
  };
}

function counter(name: string, help: string, value: () => number) {
  return {
    kind: 'counter',
    name: `country_graph_journal_${name}_total`,
    help,
    labels: [],
    values: () => [{ value: value() }],
  } as const;
}
