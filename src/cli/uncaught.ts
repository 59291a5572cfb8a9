import type { Log } from '../server/log.ts';

/** For operations in flight after an error. */
const ERROR_DRAIN_MS = 5_000;

/**
 * Ends the program with exit code 1 after an uncaught exception or rejection, since its state may be inconsistent.
 * Operations in flight get a little time.
 */
export function onError({ fatal }: Log, drain: () => Promise<unknown>): void {
  const end = (error: unknown, where: string) => {
    fatal(error, where);
    setTimeout(() => process.exit(1), ERROR_DRAIN_MS);
    drain().then(
      () => process.exit(1),
      () => process.exit(1),
    );
  };
  process.on('uncaughtException', end).on('unhandledRejection', (error) => end(error, 'unhandledRejection'));
}
