import {
  type DocumentNode,
  defaultFieldResolver,
  type ExecutionResult,
  execute,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  Kind,
  type ResponsePath,
} from 'graphql';
import { type FieldPlan, type Plan, planOperation } from '../src/graphql/execution/plan.ts';
import { batches, resolvers } from '../src/graphql/resolvers/generated.ts';
import { entities } from '../src/graphql/resolvers/nodes.ts';
import type { GraphContext } from '../src/graphql/schema/context.ts';
import { objectTypesOf } from '../src/graphql/schema/object-types.ts';
import { createSchema } from '../src/graphql/schema/schema.ts';
import { Tenants } from '../src/keys/tenant.ts';
import { ALONE, NO_TENANT_CACHE } from '../src/keys/tenant-cache.ts';
import { createObservationEntries } from '../src/observations/entries.ts';
import type { Figures } from '../src/observations/fetch.ts';
import { Effort } from '../src/observations/loaders/effort.ts';
import { createLoaders } from '../src/observations/loaders/loaders.ts';
import { type Demand, type Mode, pairKey } from '../src/observations/planner/demand.ts';
import { createLearned } from '../src/observations/planner/learned.ts';
import { type Bill, openBill } from '../src/service/bill.ts';
import { createUpstream } from '../src/service/client.ts';
import { observations } from '../src/service/endpoints.ts';
import { payerOf } from '../src/service/payer.ts';
import type { ObservationRecord } from '../src/service/records/observations.ts';
import type { Sending } from '../src/service/sending.ts';
import { systemClock } from '../src/shared/async/clock.ts';
import { createWarnings } from '../src/shared/warnings.ts';

/** The most rows that the service sends in one response, by its documentation. */
const MAX_ROWS = 1000;

/** The length of a series that a careful author assumes, in rows. */
const SERIES_ROWS = 77;

/** Gives resolvers the plans of the operation and of their field, which graphql-js doesn't make. */
function provideFields(schema: GraphQLSchema): void {
  const plans = new WeakMap<object, Plan>();
  const planIn = ({ operation, fragments, variableValues }: GraphQLResolveInfo): Plan => {
    const definitions = [operation, ...Object.values(fragments)];
    const plan =
      plans.get(variableValues) ??
      planOperation(schema, { kind: Kind.DOCUMENT, definitions }, operation, variableValues);
    plans.set(variableValues, plan);
    return plan;
  };
  const fieldAt = (plan: Plan, { prev, key, typename }: ResponsePath): FieldPlan | undefined => {
    if (typeof key === 'number') return prev && fieldAt(plan, prev);
    const beside = prev === undefined ? plan.root.selected : fieldAt(plan, prev)?.below;
    return beside?.find((field) => field.key === key && field.parentType.name === typename);
  };
  for (const type of objectTypesOf(schema))
    for (const field of Object.values(type.getFields())) {
      const { resolve } = field;
      if (resolve === undefined || resolve === defaultFieldResolver) continue;
      field.resolve = (source, args, context, info) => {
        const plan = planIn(info);
        return resolve(source, args, context, Object.assign(info, { plan, field: fieldAt(plan, info.path) }));
      };
    }
}

/**
 * A gateway as a good team writes it by hand: the same schema, resolvers and REST client, and a DataLoader for figures with
 * its default scheduling. Each batch makes one data call for latest figures and one for series, for all countries and
 * metrics of the batch, split by countries to stay within the row limit. Operations share nothing.
 */
export function createPlainGateway(upstreamUrl: string) {
  const tenants = new Tenants((key) => key, systemClock.now);
  const upstream = createUpstream({
    baseUrl: upstreamUrl,
    timeoutMs: 10_000,
    bodies: { cachedBytes: 4_000_000, issuesKeys: false },
    retries: 2,
    clock: systemClock,
    onAttempt() {},
    notedListsStage: (next) => next,
    tenants,
    tenantCache: NO_TENANT_CACHE,
    sharedCounters: null,
    inFlight: ALONE,
    freshness: { ttlMs: 0, staleMs: 0 },
  });
  const schema: GraphQLSchema = createSchema({ resolvers, entities, batches });
  provideFields(schema);

  async function fetchKind(
    mode: Mode,
    demands: readonly Demand[],
    sending: Sending,
    records: Map<string, ObservationRecord[]>,
  ) {
    const wanted = demands.filter((demand) => demand.mode === mode);
    const metricKeys = [...new Set(wanted.map(({ metricKey }) => metricKey))];
    const countryCodes = [...new Set(wanted.map(({ countryCode }) => countryCode))];
    const rowsEach = metricKeys.length * (mode === 'latest' ? 1 : SERIES_ROWS);
    const step = Math.max(1, Math.floor(MAX_ROWS / Math.max(1, rowsEach)));
    for (let i = 0; i < countryCodes.length; i += step) {
      const params = {
        countryCodes: countryCodes.slice(i, i + step),
        metricKeys,
        latest: mode === 'latest',
        limit: MAX_ROWS,
      };
      const list = await upstream.ask(observations, params, sending);
      for (const row of list?.rows ?? []) {
        const key = `${mode} ${pairKey(row.countryCode, row.metricKey)}`;
        const rows = records.get(key);
        if (rows === undefined) records.set(key, [row]);
        else rows.push(row);
      }
    }
  }

  return {
    async run(document: DocumentNode, key: string): Promise<{ result: ExecutionResult; bill: Bill }> {
      const bill = openBill();
      const tenant = tenants.named(key);
      const caller = { authorization: `Bearer ${key}`, tenant, flow: tenant.flow };
      const sending: Sending = {
        caller,
        bill,
        payer: payerOf(bill),
        signal: new AbortController().signal,
        waitDeadlineMs: 0,
      };
      const figures: Figures = {
        find: () => null,
        several: createObservationEntries(NO_TENANT_CACHE).several,
        cachedPairs: async () => true,
        async fetch(demands, given) {
          const records = new Map<string, ObservationRecord[]>();
          await Promise.all([
            fetchKind('latest', demands, given, records),
            fetchKind('series', demands, given, records),
          ]);
          return new Map(demands.map(({ key, name }) => [name, records.get(key) ?? []]));
        },
      };
      // DataLoader's default scheduling: after all pending promise jobs.
      const batchGate = {
        isOpen: () => true,
        pause: () => null,
        closeDuring: <T>(promise: Promise<T>) => promise,
        pauseDuring: <T>(turn: Promise<T>) => turn,
        openDuring: <T>(figures: Promise<T>) => figures,
        whenOpen: (leave: () => void) => void Promise.resolve().then(() => process.nextTick(leave)),
      };
      const effort = new Effort({ isProven: true });
      const loaders = createLoaders({
        ask: upstream.ask,
        sending,
        figures,
        batchGate,
        effort,
        tickersLearned: { needsLimit: false },
        learned: createLearned(),
      });
      const contextValue: GraphContext = {
        caller: sending.caller,
        bill,
        loaders,
        batchGate,
        effort,
        warnings: createWarnings(),
        maxListItems: 1000,
        quota: async () => upstream.ledger.quota(tenant),
      };
      return { result: await execute({ schema, document, contextValue }), bill };
    },
    close: upstream.close,
  };
}
