import { readConfig } from '../config/config.ts';
import { remarkOnBudget } from '../config/memory-budget.ts';
import { files } from '../gateway/files-view.ts';
import type { PluginDefinition } from '../plugin/definition.ts';
import { ownVersion } from '../shared/own-version.ts';
import type { ProgramPlugins } from './named-plugins.ts';
import type { Program } from './serve.ts';
import { onStopSignal } from './stop-signals.ts';
import { remarksOf, strangeSettings } from './strange-settings.ts';
import { onError } from './uncaught.ts';

/** Runs the gateway, or one of its workers. */
export async function serve(env: NodeJS.ProcessEnv, { plugins, named }: ProgramPlugins): Promise<void> {
  const samples = env.COUNTRY_DATA_URL === undefined ? await samplesOf(env, plugins) : [];
  const config = readConfig(Object.assign({}, env, ...samples.map(({ settings }) => settings)), plugins);
  const { createLog, standardError } = await import('../server/log.ts');
  const outlet = standardError();
  const ownId = config.workers > 1 ? (await import('node:cluster')).default.worker?.id : undefined;
  const log = createLog(config.logLevel, outlet, ownId);
  if (ownId !== undefined) {
    const worker = (await import('./workers/workers.ts')).createWorker(config, plugins, log);
    onError(log, () => worker.drain(0));
    await worker.start();
    return;
  }
  for (const [name, specifier] of named) log.note(`plugin ${name}, of ${specifier}`);
  for (const strange of strangeSettings(env, plugins)) log.warn(strange);
  const remark = remarkOnBudget(config);
  if (remark !== null) log.note(remark);
  // The operator has not chosen the settings of samples.
  for (const remark of remarksOf(samples.length === 0 ? plugins : [], env, config)) log.warn(remark);
  let draining: Promise<number> | undefined;
  // Before there is a program, nothing is under way.
  let drain: Program['drain'] = async () => 0;
  const drainOnce: Program['drain'] = (delayMs) => {
    draining ??= drain(delayMs);
    return draining;
  };
  onError(log, () => drainOnce(0));
  onStopSignal(env, async (signal) => {
    log.note(`${signal}: draining`);
    const cut = await drainOnce();
    if (cut > 0) log.note(`${cut} request(s) took longer than DRAIN_TIMEOUT_MS and were cut`);
    return cut === 0;
  });
  // The reader may have closed the pipe.
  process.stdout.on('error', () => {});
  // Loaded only here: workers need other modules.
  const program =
    config.workers > 1
      ? await (await import('./workers/workers.ts')).startWorkers(config, log, outlet)
      : await (await import('./serve.ts')).startProgram(config, plugins, log);
  const { url, adminUrl, sandbox } = program;
  drain = program.drain;
  if (sandbox) announceSandbox('The embedded sandbox', sandbox.url, sandbox.keys);
  log.note(`Country Graph ${ownVersion()} on Node ${process.versions.node} takes requests`);
  if (adminUrl !== undefined) console.log(`Health and metrics are at ${adminUrl}`);
  for (const { words } of samples) console.log(words(url));
  console.log(`Country Graph answers at ${url}`);
}

/** Samples of the plugins whose needs are met. */
async function samplesOf(env: NodeJS.ProcessEnv, plugins: readonly PluginDefinition[]) {
  const names = new Set(plugins.map(({ name }) => name));
  const able = plugins.filter(({ needs = [] }) => needs.every((needed) => names.has(needed)));
  const samples = await Promise.all(able.map(({ sample }) => sample?.(env, files)));
  return samples.filter((one) => one != null);
}

export function announceSandbox(name: string, url: string, keys: Readonly<Record<string, string>>): void {
  const rows = Object.entries(keys).map(([plan, key]) => `  ${plan.padEnd(14)} ${key}`);
  console.log([`${name} is at ${url}. All its figures are synthetic. Demo keys:`, ...rows].join('\n'));
}
