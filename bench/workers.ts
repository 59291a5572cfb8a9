/**
 * `npm run workers`: throughput of two workers with cached figures, relative to one. Ends with exit code 1 if the ratio is
 * below `LEAST_WORKERS_FACTOR`. Needs an otherwise idle machine. `--seconds 3` makes rounds longer, `--workers 4`
 * measures more workers, each of which needs a core.
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
