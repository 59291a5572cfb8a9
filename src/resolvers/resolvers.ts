// Written by `npm run codegen`.
import type { Unprovided } from '../graph/unprovided.ts';
import * as connections from './connections.ts';
import * as countries from './countries.ts';
import * as derived from './derived.ts';
import * as government from './government.ts';
import * as indicators from './indicators.ts';
import * as markets from './markets.ts';
import * as nodes from './nodes.ts';
import * as observationLists from './observation-lists.ts';
import * as observations from './observations.ts';
import * as platform from './platform.ts';
import * as subscriptions from './subscriptions.ts';

/** The resolvers of every domain. */
export const resolvers = [connections.resolvers, countries.resolvers, derived.resolvers, government.resolvers, indicators.resolvers, markets.resolvers, nodes.resolvers, observationLists.resolvers, observations.resolvers, platform.resolvers, subscriptions.resolvers];

/** Fields that are resolved for many parents at once, by type. */
export const batches = [countries.batches, derived.batches, observations.batches];

/** Those of `schema/extra`, which are loaded where a setting asks for them. */
export const extras = {
  policy: () => import('./extra/policy.ts'),
  trade: () => import('./extra/trade.ts'),
};

type Extra = Awaited<ReturnType<(typeof extras)[keyof typeof extras]>>['resolvers'];

/** Fields of the schema that none of them provides: there may be none. */
export const unprovided: Record<Unprovided<(typeof resolvers | typeof batches)[number] | Extra>, never> = {};
