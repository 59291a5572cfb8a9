import type { Resolvers } from '../graph/generated.ts';
import { countryBatches, countryResolvers } from './countries.ts';
import { governmentResolvers } from './government.ts';
import { indicatorResolvers } from './indicators.ts';
import { marketResolvers } from './markets.ts';
import { nodeResolvers } from './nodes.ts';
import { observationBatches, observationResolvers } from './observations.ts';
import { platformResolvers } from './platform.ts';

/** The resolvers of every domain. */
export const resolvers: readonly Resolvers[] = [
  countryResolvers,
  indicatorResolvers,
  observationResolvers,
  marketResolvers,
  governmentResolvers,
  platformResolvers,
  nodeResolvers,
];

/** Fields that are resolved for many parents at once, by type. */
export const batches = { ...countryBatches, ...observationBatches };
