import type { Config } from '../../config/config.ts';
import { startedOf } from '../../gateway/adapted-plugin.ts';
import type { CommandHost } from '../../gateway/plugin.ts';
import { type PlanLimits, PUBLISHED_PLANS } from '../../keys/ledger.ts';
import { looksIssued } from '../../keys/tenant.ts';
import type { Filling, FillingTerms } from '../../plugin/filling.ts';
import type { Clock } from '../../shared/async/clock.ts';
import { openAskedService } from '../asked-service.ts';
import { openComposed } from '../composed.ts';
import { CommandError } from '../formats.ts';
import { ownKeyOf } from '../given-key.ts';
import { lasting } from '../lasting.ts';
import { createFigures } from './figures.ts';
import { createPace } from './pace.ts';

/** Milliseconds of unlimited time: about the longest that a timer can be set to. */
const LONG_MS = 2_000_000_000;

/** @throws CommandError without a key of the service */
export async function openFilling(
  given: Config,
  terms: FillingTerms,
  { env, plugins, openSandbox }: CommandHost,
  clock: Clock,
): Promise<Filling> {
  const { note, everyMs, onCall, onRows } = terms;
  const config = configOf(given, everyMs);
  const service = await openAskedService(config, await ownKeyOf(terms, env), openSandbox, note);
  try {
    const key = checked(service.key);
    const authorization = `Bearer ${key}`;
    const pace = createPace({
      clock,
      plan: planOf(terms.plan),
      leave: terms.leave,
      path: config.cacheUrl.startsWith('sqlite:') ? config.cacheUrl.slice('sqlite:'.length) : null,
      onCall,
      onSpent: terms.onSpent,
    });
    const { gateway, stop } = await openComposed({
      config,
      plugins,
      own: [pace.plugin],
      upstreamUrl: service.url,
      clock,
      observer: {
        operation() {},
        attempt() {},
        rows: onRows,
        warn: note,
        problem: (error, where) => note(`${where}: ${error}`),
      },
    });
    return {
      key,
      gateway: startedOf(gateway),
      now: clock.now,
      agreeTo: pace.agreeTo,
      get stopped() {
        return pace.stopped;
      },
      async stored() {
        await pace.idle();
        await gateway.service.tenantCache.landed();
      },
      ...createFigures({ gateway, pace, authorization, everyMs }),
      async stop() {
        await stop();
        await service.close();
      },
    };
  } catch (error) {
    await service.close();
    throw error;
  }
}

function checked(key: string | undefined): string {
  if (key === undefined)
    throw new CommandError(
      'There is no key: set COUNTRY_GRAPH_KEY or COUNTRY_DATA_KEY, or name a file by --key-file.',
    );
  if (looksIssued(key))
    throw new CommandError(
      'An issued key has no store of its own: give the key of the service, as --key or COUNTRY_DATA_KEY. Nothing was sent.',
    );
  return key;
}

function planOf(name: string): PlanLimits {
  const limits = PUBLISHED_PLANS[name];
  if (limits === undefined) throw new CommandError(`There is no plan ${name}.`);
  return limits;
}

function configOf(given: Config, everyMs: number | null): Config {
  return {
    ...lasting(given),
    trustedDocuments: undefined,
    // A read that timed out would be fetched again, and a lost count would be missing.
    cacheTimeoutMs: 60_000,
    // Whatever is cached counts at any age, unless it is to be renewed.
    cacheTtlSeconds: everyMs === null ? Number.POSITIVE_INFINITY : everyMs / 1000,
    batchWindowMs: 0,
    answersMaxBytes: 0,
    operationTimeoutMs: LONG_MS,
    rateLimitWaitMs: LONG_MS,
    maxUpstreamCalls: 1_000_000,
  };
}
