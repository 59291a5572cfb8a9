import { explained } from './explained.ts';
import { onParentLost } from './lost-parent.ts';

/** Milliseconds in which a second signal is an echo: npm passes on signals that its whole process group has had. */
const SIGNAL_ECHO_MS = 200;

/**
 * Stops in good order at the first signal, or if the parent is lost that would have passed one on; at once, with exit
 * code 1, at the next signal.
 * @param stop resolves with true if all work could finish: then the exit code is 0, otherwise 1
 */
export function onStopSignal(env: NodeJS.ProcessEnv, stop: (signal: string) => Promise<boolean>): void {
  const echoMs = env.npm_lifecycle_event === undefined ? 0 : SIGNAL_ECHO_MS;
  let stoppedAt: number | undefined;
  const onSignal = (signal: string) => {
    if (stoppedAt !== undefined) {
      if (performance.now() - stoppedAt >= echoMs) process.exit(1);
      return;
    }
    stoppedAt = performance.now();
    lookNoMore();
    stop(signal).then(
      (isWhole) => process.exit(isWhole ? 0 : 1),
      (error: unknown) => {
        console.error(explained(error));
        process.exit(1);
      },
    );
  };
  const lookNoMore = onParentLost(env, () => onSignal('npm, or the like, that ran this has gone'));
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}
