import type { GraphQLResolveInfo } from 'graphql';
import { mapValue, type PromiseOrValue } from '../async/promise-or-value.ts';
import type { GraphContext } from '../graph/context.ts';
import type { IndicatorOrderField, QueryIndicatorsArgs } from '../graph/generated.ts';
import { type IndicatorRef, indicatorOf } from '../graph/sources.ts';
import { checkTexts } from './arguments.ts';
import { searched } from './catalogue-search.ts';
import { byCode, byName, type Order, ordered } from './ordering.ts';
import { warned, warnedOnceLoaded, warnOfIndicators } from './warned.ts';

const ORDERS: Readonly<Record<IndicatorOrderField, Order<IndicatorRef>>> = {
  KEY: byCode(({ key }) => key),
  NAME: byName(({ known }) => known?.name ?? null),
  CATEGORY: byName(({ known }) => known?.category ?? null),
};

/** Indicators of the catalogue that pass the filters. */
export function indicatorList(
  args: QueryIndicatorsArgs,
  context: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<readonly IndicatorRef[]> {
  const { category, search, source } = args;
  checkTexts({ category, search, source });
  return ordered(listed(args, context, info), args.orderBy, ORDERS, context);
}

function listed(
  { category, hasData, keys, search, source }: QueryIndicatorsArgs,
  context: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<readonly IndicatorRef[]> {
  const filter = { category: category ?? undefined, hasData: hasData ?? undefined };
  const { path } = info;
  return mapValue(warnedOnceLoaded(context, info, context.loaders.indicators(filter)), (all) => {
    const list = warned(context, () => path, searched(all, { search, source }));
    if (keys == null) return list.map(indicatorOf);
    const found = new Map(list.map((record) => [record.key, record]));
    const wanted = [...new Set(keys)];
    const missing = wanted.filter((key) => !found.has(key));
    const chosen = wanted.flatMap((key) => found.get(key) ?? []).map(indicatorOf);
    if (missing.length === 0) return chosen;
    return mapValue(context.loaders.indicators(), (catalogue) => {
      warnOfIndicators(context, path, missing, catalogue);
      return chosen;
    });
  });
}
