import type { Resolvers } from '../graph/generated.ts';
import { health, platformVersion } from '../upstream/endpoints.ts';
import { plainFields } from './record-fields.ts';

export const resolvers = {
  Query: {
    health: (_, __, { loaders }) => loaders.load(health, {}),
    platformVersion: (_, __, { loaders }) => loaders.load(platformVersion, {}),
    quota: (_, __, { quota }) => quota(),
  },
  Health: plainFields('Health', 'status', 'record'),
  PlatformVersion: plainFields('PlatformVersion', 'version', 'record'),
  Quota: plainFields(
    'Quota',
    'plan',
    'requestsPerMinute',
    'monthlyRequests',
    'callsThisMinute',
    'callsThisMonth',
    'minuteResetsAt',
    'monthResetsAt',
    'state',
  ),
} satisfies Resolvers;
