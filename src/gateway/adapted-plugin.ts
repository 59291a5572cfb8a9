import { type GraphQLSchema, parse } from 'graphql';
import { type Config, ConfigError } from '../config/config.ts';
import { TooManyFields, tablesBySchema } from '../graphql/request/answer-tables.ts';
import { documentIdOf, givenIn, textIn } from '../graphql/request/asked-operation.ts';
import { exchangedSeal } from '../graphql/request/callers.ts';
import { describedOperations } from '../graphql/request/described-operations.ts';
import type { PersistedTexts } from '../graphql/request/persisted.ts';
import { NO_TENANT_CACHE } from '../keys/tenant-cache.ts';
import type {
  Plugin as ByEntrance,
  Documents,
  PluginServices,
  RouteHost,
  Site,
  StartedServices,
} from '../plugin/definition.ts';
import { boundedBudget } from '../service/bounded-budget.ts';
import { budgetSeal, CountedBudget } from '../service/counted-budget.ts';
import { Failure } from '../shared/errors.ts';
import { askingOf } from './asking-view.ts';
import { sendThrough } from './call-view.ts';
import { schemaPartOf } from './field-view.ts';
import { fieldsOf } from './graph-view.ts';
import { handleThrough } from './operation-view.ts';
import type { ComposedGateway, HttpHost, Kernel, Plugin } from './plugin.ts';
import { turnsOf } from './turns-view.ts';

/** A plugin by the entrance as the kernel takes it: what the kernel hands to it are views. */
export function adapted(plugin: ByEntrance): Plugin {
  const { schema, request, keys, operation, operationHeader, call, attempt, start, http, ...rest } = plugin;
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
    ...(attempt && { attempt: ({ route }, { trace }) => attempt({ route, trace }) }),
    start(gateway) {
      tenantCache = gateway.service.tenantCache;
      return start?.(startedOf(gateway));
    },
    ...(http && { http: { ...http, routes: (app, host) => http.routes?.(app, routeHostOf(host)) } }),
  };
}

export const servicesOf = ({ config, schema, persisted, callerOf, api }: Kernel): PluginServices => ({
  limits: { answerBytes: config.maxAnswerBytes },
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
  turnsFor: ({ headers, exchanged }) =>
    turnsOf(callerOf(headers, exchanged && exchangedSeal.open(exchanged))),
  documents: documentsOf(schema, persisted),
  fields: () => fieldsOf(schema),
  openBudget: (terms, counts) => budgetSeal.seal(new CountedBudget(terms, counts)),
  openBound: (most, beyond, within) =>
    budgetSeal.seal(boundedBudget(most, beyond, within && budgetSeal.open(within))),
  settingsError: (message) => new ConfigError(message),
  api,
});

const documentsOf = (schema: GraphQLSchema, persisted: PersistedTexts): Documents => ({
  listedIn(request) {
    const id = documentIdOf(givenIn(request));
    return id !== null && persisted.lists(textIn(request, persisted)?.text ?? '') ? id : null;
  },
  trusted: () => persisted.trusted,
  described: (text) => describedOperations(schema, text),
});

export const startedOf = (gateway: ComposedGateway): StartedServices => ({
  ...servicesOf(gateway),
  ...askingOf(gateway),
  handle: gateway.handle,
});

function routeHostOf(host: HttpHost): RouteHost {
  const { asGraphql, bodies, config, demoKeys, problem, readJson, trusted, unread } = host;
  const { corsOrigins: origins } = config;
  return { asGraphql, bodies, demoKeys, origins, problem, readJson, site: siteOf(config), trusted, unread };
}

function siteOf({ sourceNames = new Map(), attribution, publicUrl }: Config): Site {
  return { sourceNames, attribution, publicUrl: publicUrl ?? null };
}
