/**
 * `npm run workers`: operations a second that two workers answer from held figures, against one. Ends with
 * exit code 1 if that is less than 1.7 times as many. It wants a machine that does nothing else. `--seconds
 * 3` for longer rounds, `--workers 4` for more, each of which wants a core.
 */
import { parseArgs } from 'node:util';
import { LEAST_WORKERS_FACTOR } from './race/gate.ts';
import { installPeers } from './race/install.ts';
import { measureWorkers, workersFactor, workersTable } from './race/workers.ts';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '1.5' }, workers: { type: 'string', default: '2' } },
});
installPeers();
const results = await measureWorkers([1, Number(values.workers)], Number(values.seconds));
console.log(workersTable(results));
process.exitCode = workersFactor(results) >= LEAST_WORKERS_FACTOR ? 0 : 1;
