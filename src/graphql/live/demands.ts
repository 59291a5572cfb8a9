import { type Demand, demandFor } from '../../observations/planner/demand.ts';
import type { Dimension } from '../../observations/planner/learned.ts';
import { Failure } from '../../shared/errors.ts';
import { checkMetricKey } from '../resolvers/argument-checks.ts';
import type { GraphContext } from '../schema/context.ts';
import type { FiguresWanted } from './subscribing.ts';

/** @throws Failure BAD_USER_INPUT on an unknown name: nothing would ever change there */
export async function demandsOf(
  { countryCodes, metricKeys, latest }: FiguresWanted,
  context: GraphContext,
): Promise<Demand[]> {
  for (const key of metricKeys ?? []) checkMetricKey(key);
  const { loaders, effort } = context;
  const codes = countryCodes ?? (await loaders.countries()).map(({ code }) => code);
  const keys = metricKeys ?? (await loaders.indicators()).map(({ key }) => key);
  effort.want(codes.length * keys.length);
  await refuseUnknown('countries', codes, context);
  await refuseUnknown('metrics', keys, context);
  const demands = new Map<string, Demand>();
  for (const code of codes) {
    for (const key of keys) {
      const demand = demandFor(latest ? 'latest' : 'series', code, key);
      demands.set(demand.key, demand);
    }
  }
  return [...demands.values()];
}

/** Refuses names that a fresh, whole cached list lacks. Without such a list, the service is asked. */
async function refuseUnknown(
  dimension: Dimension,
  names: readonly string[],
  { loaders }: GraphContext,
): Promise<void> {
  const cachedNames = await loaders.cachedNames(dimension);
  const unknown = cachedNames === null ? undefined : names.find((name) => !cachedNames.has(name));
  if (unknown === undefined) return;
  const what = dimension === 'countries' ? 'country of the code' : 'indicator of the key';
  throw new Failure(
    'BAD_USER_INPUT',
    `The service has no ${what} ${unknown}, so the subscription could never report anything.`,
  );
}
