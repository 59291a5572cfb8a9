import { parseArgs } from 'node:util';
import { runTasks } from './crew.ts';
import { summary } from './run.ts';

/** Thousands of operations over many services: `node test/oracle/campaign.ts --services 160 --operations 140 --seed 1`. */
const { values } = parseArgs({
  options: {
    services: { type: 'string', default: '160' },
    operations: { type: 'string', default: '140' },
    seed: { type: 'string', default: '1' },
    /** All operations without the service, over a store that a fill has filled. */
    offline: { type: 'boolean', default: false },
    /** All operations twice: the second time for their snapshots, after a revision. */
    snapshot: { type: 'boolean', default: false },
    /** All operations through a page that holds figures. */
    held: { type: 'boolean', default: false },
    /** One service of the seed alone. */
    service: { type: 'string' },
    from: { type: 'string', default: '0' },
    processes: { type: 'string', default: '2' },
    /** Failures of a service that are minimised and told in full. */
    show: { type: 'string', default: '2' },
    /** Words of a kind of failure: only failures with them are told in full. */
    kind: { type: 'string' },
    /** Habits in place of those that are drawn, as JSON. */
    habits: { type: 'string', default: '{}' },
    verbose: { type: 'boolean', default: false },
  },
});

const first = Number(values.service ?? values.from);
const tasks = Array.from({ length: values.service === undefined ? Number(values.services) : 1 }, (_, i) => ({
  seed: Number(values.seed),
  service: first + i,
  operations: Number(values.operations),
  shown: Number(values.show),
  kind: values.kind,
  mode: (['offline', 'held', 'snapshot'] as const).find((mode) => values[mode]),
  verbose: values.verbose,
  habits: JSON.parse(values.habits),
}));
const tally = await runTasks(tasks, Number(values.processes), (line) => console.log(line));
console.log(summary(tally));
if (Object.keys(tally.mismatches).length > 0) process.exitCode = 1;
