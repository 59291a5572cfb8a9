/** Preloaded into ours: the first SIGUSR2 starts a CPU profile, the next one writes it to `PROFILE_FILE`. Each prints a line when it is done. */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

const session = new Session();
session.connect();
let isRunning = false;

process.on('SIGUSR2', async () => {
  if (!isRunning) {
    isRunning = true;
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    console.log('profile begun');
    return;
  }
  const { profile } = await session.post('Profiler.stop');
  writeFileSync(process.env.PROFILE_FILE ?? 'ours.cpuprofile', JSON.stringify(profile));
  console.log('profile written');
});
