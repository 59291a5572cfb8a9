import type { Log } from '../server/log.ts';

/** Milliseconds that operations in flight may take after an error. */
const ERROR_DRAIN_MS = 5_000;

/**
 * Ends the program after an exception or a rejection that nobody has caught, since its state may be in pieces. The
 * error is logged whole, operations in flight get a little time, and the exit code is 1.
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
