import { parse } from 'graphql';
import { type Config, ConfigError } from '../config/config.ts';
import { spareBytes } from '../config/memory-budget.ts';
import { TooManyFields, tablesBySchema } from '../graphql/request/answer-tables.ts';
import { documentIdOf, givenIn, textIn } from '../graphql/request/asked-operation.ts';
import { exchangedSeal, UNPROVEN } from '../graphql/request/callers.ts';
import { describedOperations } from '../graphql/request/described-operations.ts';
import { refusalOf } from '../graphql/request/refusals.ts';
import { PUBLIC } from '../keys/tenant.ts';
import { NO_TENANT_CACHE } from '../keys/tenant-cache.ts';
import { timed } from '../observations/cached-ranges.ts';
import type { Plugin as ByEntrance, PluginServices, Site, StartedServices } from '../plugin/definition.ts';
import { boundedBudget } from '../service/bounded-budget.ts';
import { budgetSeal, CountedBudget } from '../service/counted-budget.ts';
import { Failure } from '../shared/errors.ts';
import { askingOf } from './asking-view.ts';
import { sendThrough } from './call-view.ts';
import { schemaPartOf } from './field-view.ts';
import { fieldsOf } from './graph-view.ts';
import { handleThrough } from './operation-view.ts';
import type { ComposedGateway, Kernel, Plugin } from './plugin.ts';
import { turnsOf } from './turns-view.ts';

/** A plugin by the entrance as the kernel takes it: what the kernel hands to it are views. */
export function adapted(plugin: ByEntrance): Plugin {
  const { schema, request, keys, operation, operationHeader, call, attempt, offline, start, ...rest } =
    plugin;
  let tenantCache = NO_TENANT_CACHE;
  return {
    ...rest,
    ...(schema && { schema: schema.map(schemaPartOf) }),
    ...(request && { request: (next, kernel) => request(next, servicesOf(kernel)) }),
    ...(keys && { keys: (kernel) => keys(servicesOf(kernel)) }),
    ...(operation && {
      operation: (next, kernel) =>
        handleThrough((inner) => operation(inner, servicesOf(kernel)), operationHeader)(next),
    }),
    ...(call && { call: sendThrough(call, () => tenantCache) }),
    ...(offline && {
      // Calls and demands stay in the kernel.
      offline: {
        isAlways: offline.isAlways,
        ofCall: ({ route, target }) => offline.ofCall({ route, target }),
        ofFigures: (figures) =>
          offline.ofFigures(
            figures.map(({ countryCode, metricKey, mode, years }) => ({
              countryCode,
              metricKey,
              mode,
              years,
            })),
          ),
      },
    }),
    ...(attempt && { attempt: ({ route }, { trace }) => attempt({ route, trace }) }),
    start(gateway) {
      tenantCache = gateway.service.tenantCache;
      return start?.(startedOf(gateway));
    },
  };
}

export const servicesOf = ({ config, schema, persisted, callerOf, now, api }: Kernel): PluginServices => ({
  limits: limitsOf(config),
  site: siteOf(config),
  tables(request) {
    const asked = textIn(request, persisted);
    if (asked === null) return null;
    try {
      const document = parse(asked.text, { maxTokens: config.maxTokens, noLocation: true });
      return tablesBySchema(schema, document, asked.operationName);
    } catch (error) {
      if (error instanceof TooManyFields) throw new Failure('BAD_USER_INPUT', error.message);
      return null;
    }
  },
  turnsFor(request) {
    if (request === null) return turnsOf({ flow: UNPROVEN });
    const { headers, exchanged } = request;
    return turnsOf(callerOf(headers, exchanged && exchangedSeal.open(exchanged)));
  },
  refusal: (failure, request) => refusalOf(failure, request, now()),
  documents: {
    listedIn(request) {
      const id = documentIdOf(givenIn(request));
      return id !== null && persisted.lists(textIn(request, persisted)?.text ?? '') ? id : null;
    },
    trusted: () => persisted.trusted,
    described: (text) => describedOperations(schema, text),
    listed: () => persisted.listed,
    look: () => persisted.look(),
    admit: (text) => persisted.admit(text),
    allows: (text) => persisted.allows(text),
    file: config.trustedDocuments ?? null,
  },
  fields: () => fieldsOf(schema),
  openBudget: (terms, counts) => budgetSeal.seal(new CountedBudget(terms, counts)),
  openBound: (most, beyond, within) =>
    budgetSeal.seal(boundedBudget(most, beyond, within && budgetSeal.open(within))),
  settingsError: (message, options) => new ConfigError(message, options),
  api,
});

export const startedOf = (gateway: ComposedGateway): StartedServices => ({
  ...servicesOf(gateway),
  ...askingOf(gateway),
  handle: gateway.handle,
  openSubscriptions: async (settings) =>
    (await import('../graphql/live/subscriptions.ts')).openSubscriptions(gateway, settings),
  seed(authorization, values, atMs) {
    const { tenantCache } = gateway.service;
    const { tenant } = gateway.callerOf({ authorization });
    const seeded = new Map(Array.from(values, ([name, value]) => [name, timed(value, atMs)]));
    tenantCache.accept(tenant, atMs);
    // Public routes are cached under no key.
    for (const owner of [tenant, PUBLIC]) tenantCache.save(owner, seeded, atMs);
  },
});

function limitsOf(config: Config): PluginServices['limits'] {
  const {
    maxAnswerBytes: answerBytes,
    maxBodyBytes: bodyBytes,
    maxTokens: tokens,
    memoryMb,
    workers,
  } = config;
  return {
    answerBytes,
    bodyBytes,
    tokens,
    processMb: memoryMb / workers,
    get spareBytes() {
      return spareBytes(config) / workers;
    },
  };
}

export function siteOf({ sourceNames = new Map(), attribution, publicUrl }: Config): Site {
  return { sourceNames, attribution, publicUrl: publicUrl ?? null };
}
