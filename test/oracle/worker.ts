import type { Result, Task } from './crew.ts';
import { add, createTally, report, runService } from './run.ts';

/** A process of its own that runs one service after the other, as it is told to. */
process.on('message', async (task: Task) => {
  process.send?.(await done(task));
});

const ZONES = ['Pacific/Auckland', 'America/St_Johns', 'UTC'];

async function done({
  seed,
  service,
  operations,
  shown,
  kind,
  mode,
  verbose,
  habits,
}: Task): Promise<Result> {
  // Nothing depends on the zone of the machine.
  process.env.TZ = ZONES[service % ZONES.length];
  const tally = createTally();
  const failures = await runService(
    { seed, service, ...(habits === undefined ? {} : { habits }) },
    operations,
    tally,
    mode,
  );
  const kinds: Record<string, number> = {};
  const lines: string[] = [];
  for (const failure of failures) {
    add(kinds, failure.finding.kind);
    const isWanted = kind === undefined || failure.finding.kind.includes(kind);
    // The first of each kind is told in full.
    if (isWanted && kinds[failure.finding.kind] === 1 && lines.length < shown) {
      lines.push(await report(failure, verbose));
    }
  }
  if (failures.length > 0) {
    const text = Object.entries(kinds).map(([name, number]) => `${number} ${name}`);
    lines.push(`service ${service}: ${failures.length} failed (${text.join(', ')})`);
  }
  return { tally, lines };
}
