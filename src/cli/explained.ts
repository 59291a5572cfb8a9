import { ConfigError, settingsError } from '../config/config.ts';
import { PluginError } from '../gateway/plugin.ts';
import { FileError } from '../shared/text-files.ts';
import { CommandError } from './formats.ts';

/**
 * Says what to do if the program can't listen at its address: `HOST` is none of this machine's, or another program has
 * the port. Null for other errors.
 */
export function listenError(error: unknown, { HOST }: NodeJS.ProcessEnv): Error | null {
  const { syscall, code, port } = error as NodeJS.ErrnoException & { readonly port?: number };
  // Workers bind the port that they share.
  if ((syscall === 'listen' || syscall === 'bind') && code === 'EADDRINUSE')
    return new CommandError(
      `Another program listens on port ${port} already. Stop it, or take another port: --port, or PORT and ADMIN_PORT; 0 picks a free one.`,
    );
  const isOfHost = syscall === 'getaddrinfo' || (syscall === 'listen' && code === 'EADDRNOTAVAIL');
  if (!isOfHost || HOST === undefined) return null;
  return settingsError(`HOST: must be an address of this machine (got ${JSON.stringify(HOST)})`);
}

/** One line if the operator can fix the error, otherwise the stack. */
export function explained(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof PluginError) return [error.message, stackOf(error.cause)].filter(Boolean).join('\n');
  const isForUsers = [ConfigError, CommandError, FileError].some((kind) => error instanceof kind);
  if (isForUsers || 'syscall' in error) return error.message;
  return error.stack ?? error.message;
}

/** Where a fault is, without its message; empty for the errors of the system, which are no faults. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error) || 'syscall' in error) return '';
  return (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n');
}
