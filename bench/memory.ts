import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openProgram } from '../test/support/program.ts';

const OPERATIONS = 3000;

/** Prints the ratio of the heap after many operations to that after a few: far above 1, something leaks. */
export async function printMemory(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await using program = await openProgram();
  const codes = ['KE', 'NG', 'ZA', 'EG', 'GH', 'TZ', 'UG', 'RW', 'MA', 'TN'];
  const heapAfter = async (count: number) => {
    for (let i = 0; i < count; i += 10) {
      await Promise.all(
        codes.map((code) =>
          program.ask(
            `{ country(code: "${code}") { name observation(metricKey: "population_total") { value } } }`,
          ),
        ),
      );
    }
    program.sandbox.log.clear();
    program.operations.length = 0;
    collect();
    return process.memoryUsage().heapUsed;
  };
  const early = await heapAfter(500);
  const late = await heapAfter(OPERATIONS);
  console.log('## Memory\n');
  console.log(`Heap after ${OPERATIONS} further operations : before them = ${(late / early).toFixed(2)}\n`);
}
