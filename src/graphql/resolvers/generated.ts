// Written by `npm run codegen`.
import type { Unprovided } from '../schema/provided.ts';
import * as countries from './countries.ts';
import * as indicators from './indicators.ts';
import * as nodes from './nodes.ts';
import * as observations from './observations.ts';
import * as reference from './reference.ts';

/** The resolvers of every domain. */
export const resolvers = [countries.resolvers, indicators.resolvers, nodes.resolvers, observations.resolvers, reference.resolvers];

/** Fields that are resolved for many parents at once, by type. */
export const batches = [countries.batches, observations.batches];

/** Fields of the schema that none of them provides: there may be none. */
export const unprovided: Record<Unprovided<(typeof resolvers | typeof batches)[number]>, never> = {};
