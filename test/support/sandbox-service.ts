import { createSandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts';

/** The sandbox as the service of a gateway that is started apart, on a free port. */
export async function startSandbox(options: SandboxOptions = {}) {
  const sandbox = createSandbox(options);
  const { url } = await sandbox.listen();
  return Object.assign(sandbox, { url, [Symbol.asyncDispose]: () => sandbox.close() });
}
