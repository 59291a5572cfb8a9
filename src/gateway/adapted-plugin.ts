import { NO_TENANT_CACHE } from '../keys/tenant-cache.ts';
import type { Plugin as ByEntrance, PluginServices, RouteHost } from '../plugin/definition.ts';
import { sendThrough } from './call-view.ts';
import { schemaPartOf } from './field-view.ts';
import { handleThrough } from './operation-view.ts';
import type { ComposedGateway, HttpHost, Kernel, Plugin } from './plugin.ts';

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

const servicesOf = ({ config: { maxAnswerBytes }, api }: Kernel): PluginServices => ({
  limits: { answerBytes: maxAnswerBytes },
  api,
});

const startedOf = (gateway: ComposedGateway) => ({ ...servicesOf(gateway), handle: gateway.handle });

function routeHostOf({ asGraphql, bodies, config, demoKeys, trusted }: HttpHost): RouteHost {
  const { sourceNames = new Map(), attribution, publicUrl = null } = config;
  return { asGraphql, bodies, demoKeys, trusted, site: { sourceNames, attribution, publicUrl } };
}
