import { createSandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts';

/** The sandbox on a free port, as the service of a gateway in another process. */
export async function startSandbox(options: SandboxOptions = {}) {
  const sandbox = createSandbox(options);
  const { url } = await sandbox.listen();
  return Object.assign(sandbox, { url, [Symbol.asyncDispose]: () => sandbox.close() });
}
