import { type Config, ConfigError } from '../config/config.ts';
import { cacheBounds } from '../config/memory-budget.ts';
import { Admission } from '../graphql/request/admission.ts';
import { AnswersTable } from '../graphql/request/answers.ts';
import { createCallers } from '../graphql/request/callers.ts';
import { Execution } from '../graphql/request/execution.ts';
import { received } from '../graphql/request/forms.ts';
import { openKeyDoors } from '../graphql/request/key-doors.ts';
import { createOpenRun } from '../graphql/request/operation-run.ts';
import type { OperationsParts } from '../graphql/request/operations-parts.ts';
import { createPersisted } from '../graphql/request/persisted.ts';
import { PlainRequests } from '../graphql/request/plain-requests.ts';
import { PreparedOperations } from '../graphql/request/prepared-operations.ts';
import { openRunning } from '../graphql/request/running.ts';
import { printSdl } from '../graphql/schema/sdl.ts';
import type { PluginHost } from '../plugin/definition.ts';
import { ownBuild, ownVersion } from '../shared/own-version.ts';
import { files } from './files-view.ts';
import type { GatewayParts, Observer } from './gateway-parts.ts';
import { openSchema, subgraphIn } from './open-schema.ts';
import { openClocks, openStores, type Stores } from './open-stores.ts';
import { type OpenedPlugins, openPlugins } from './opened-plugins.ts';
import type { ComposedGateway, Plugin } from './plugin.ts';
import { composeService, openService } from './service-means.ts';

export type Gateway = Awaited<ReturnType<typeof createGateway>>;

/** Nothing is asked of the service before the first operation needs it. */
export async function createGateway(parts: GatewayParts) {
  const clocks = openClocks(parts.clock);
  const plugins = await openPlugins(parts, hostOf(parts, clocks));
  const { composed, gateway } = await composeGateway(parts, clocks, plugins).catch(async (error: unknown) => {
    await plugins.close();
    throw error;
  });
  try {
    await plugins.start(composed);
  } catch (error) {
    await gateway.stop();
    throw error;
  }
  return gateway;
}

async function composeGateway(
  parts: GatewayParts,
  clocks: ReturnType<typeof openClocks>,
  plugins: OpenedPlugins,
) {
  const { config, observer } = parts;
  const subgraph = await subgraphIn(config);
  const { openSchema: open = openSchema } = parts;
  const schema = await plugins.schema((some) => open(some, subgraph));
  const stores = await openStores(parts, clocks);
  const { store, clock, steadyNow, tenantCache, tenants, lookups } = stores;
  const service = openService(parts, stores, plugins.all);
  const names = subgraph?.names(schema) ?? null;
  const { learned, openPricing, means, direct } = composeService(service, stores, parts);
  const stage: OperationsParts = {
    config,
    schema,
    tenantCache,
    learned,
    persisted: await openPersisted(config, observer, plugins.all),
    now: clock.now,
    steadyNow,
    after: clock.after,
    onOperation: notingOperations(observer),
    onError: observer.problem,
  };
  const { persisted } = stage;
  const openRun = createOpenRun(stage, means);
  const callerOf = createCallers(tenants, plugins.offline);
  const admission = new Admission(config.maxConcurrentOperations, parts.takenMemory);
  const caches = {
    plainRequests: new PlainRequests(persisted),
    operations: new PreparedOperations(schema, learned, cacheBounds(config).operationBytes),
    answers: new AnswersTable(stage, lookups.answers),
    execution: new Execution(stage, openPricing),
  };
  const { answers, operations, plainRequests } = caches;
  const running = await openRunning(openRun, { ...stage, ...caches });
  const answered = answers.answersStage(running.run, (next) => admission.admissionStage(next));
  const wording =
    names && (await import('../graphql/request/prefixed.ts')).wordingOf(names, config.maxTokens);
  const api = plugins.api.bind(plugins);
  const kernel = { config, schema, persisted, callerOf, wording, now: clock.now, api };
  const doors = openKeyDoors(plugins.keys(kernel), kernel);
  const handle = plugins.operation(answered, kernel);
  let sdl: string | undefined;

  const handleMarked = await received(handle, stage, {
    callerOf,
    plainRequests,
    names,
    ledger: service.upstream.ledger,
  });

  const composed: ComposedGateway = {
    ...kernel,
    ...doors,
    handle: doors.exchanging(plugins.request(handleMarked, kernel)),
    refuseUnread(headers, requestId) {
      // For a plugin's key, the flow isn't known yet.
      if (!admission.mayAnyBeFull || doors.owns(headers.authorization ?? undefined)) return null;
      return admission.refusalUnread(callerOf(headers), { headers, requestId });
    },
    operations: { ...stage, openRun, admission },
    service: direct,
  };
  const gateway = {
    get sdl() {
      // Lazily, since few ask for it.
      sdl ??= printSdl(schema, subgraph);
      return sdl;
    },
    schema,
    /** The only documents that may run; null if any may. */
    get trusted() {
      return persisted.trusted;
    },
    handle: composed.handle,
    plugins,
    refuseUnread: composed.refuseUnread,
    /** Always the same object. */
    load: admission.load,
    state: stateOf(stores, service),
    shrink(share: number) {
      for (const cache of [store, answers, operations]) cache?.shrink(share);
    },
    /** Ends subscriptions and the like; operations are still answered. */
    beforeStop: () => plugins.beforeStop(),
    /** Waits for operations in flight, then closes upstream connections. */
    async stop() {
      persisted.stop();
      await plugins.beforeStop();
      await running.stop();
      await service.upstream.close();
      await plugins.close();
      stores.tenants.stop();
      await store?.close();
    },
  };
  return { composed, gateway };
}

/** The texts that clients may name: trusted documents, or any that clients have sent. */
async function openPersisted(
  { trustedDocuments: path, trustedDocumentsFor }: Config,
  observer: Observer,
  plugins: readonly Plugin[],
) {
  if (path === undefined) return createPersisted();
  const { besideOtherDocuments, openTrusted } = await import('../graphql/request/trusted.ts');
  const builtIn = plugins.flatMap(({ documents = [] }) => documents);
  const onProblem = (problem: unknown) => observer.problem(problem, 'trusted documents');
  const trusted = await openTrusted(path, onProblem, undefined, builtIn);
  return trustedDocumentsFor === 'issued' ? besideOtherDocuments(trusted, createPersisted()) : trusted;
}

/** Also notifies holders of issued keys, who count operations. */
function notingOperations({ operation }: Observer): OperationsParts['onOperation'] {
  return (event, { note }) => {
    operation(event);
    note?.(event);
  };
}

/** For metrics. */
function stateOf({ lookups, tenants }: Stores, { upstream }: ReturnType<typeof openService>) {
  return {
    /** Always the same object. */
    lookups,
    /** Of the keys that were last in use. */
    recentLimits: (most: number) => upstream.ledger.recentLimits(tenants.accepted(), most),
    openCircuits: () => upstream.gate.open(),
  };
}

function hostOf(
  { config, observer }: GatewayParts,
  { clock: { now }, elapsed }: ReturnType<typeof openClocks>,
): PluginHost {
  return {
    now,
    elapsed,
    problem: observer.problem,
    warn: (words) => observer.warn?.(words),
    version: ownVersion,
    release: () => ownBuild().version,
    files,
    settingsError: (message, options) => new ConfigError(message, options),
    async openStore() {
      const { openKeptStore } = await import('../cache/kept-store.ts');
      return openKeptStore(config.cacheUrl, config.cacheTimeoutMs);
    },
    async openDatabase(given) {
      const { SqliteFile } = await import('../cache/sqlite-file.ts');
      const file = new SqliteFile({ ...given, onError: (error) => observer.problem(error, given.name) });
      file.open();
      return {
        prepare: (sql) => file.prepare(sql),
        atOnce: (work) => file.atOnce(work),
        get bytes() {
          return file.bytes;
        },
        close: () => file.close(),
      };
    },
  };
}
