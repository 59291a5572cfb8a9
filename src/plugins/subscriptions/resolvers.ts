import {
  checkStrings,
  type FieldContext,
  type GraphPart,
  plainFieldsOf,
  readPart,
} from '../../plugin/index.ts';
import type { Resolvers, ResolversParentTypes } from './generated.ts';
import type { FiguresChange, SourceChange } from './records.ts';

function changesIn({ changes }: FieldContext): NonNullable<FieldContext['changes']> {
  if (changes === null) throw new TypeError('Subscriptions are off.');
  return changes;
}

const plainFields = plainFieldsOf<ResolversParentTypes>();

const resolvers = {
  Subscription: {
    observationsChanged: {
      subscribe(_, args, context) {
        const { since = null } = args;
        checkStrings({ since });
        return changesIn(context).figures(args);
      },
      resolve: ({ value }: FiguresChange) => value,
    },
    sourceRefreshed: {
      subscribe(_, { keys = null }, context) {
        for (const key of keys ?? []) checkStrings({ keys: key });
        return changesIn(context).sources(keys);
      },
      resolve: ({ value }: SourceChange) => value,
    },
  },
  ObservationChanges: plainFields('ObservationChanges', 'changes', 'isWhole', 'revision', 'at'),
  ObservationChange: plainFields('ObservationChange', 'kind', 'observation', 'before', 'formerId'),
  FormerObservation: plainFields(
    'FormerObservation',
    'year',
    'period',
    'asOfPeriod',
    'locationName',
    'value',
    'unit',
    'valueStatus',
    'isModelled',
    'estimateLow',
    'estimateHigh',
    'datasetVersion',
    'retrievedAt',
    'record',
  ),
} satisfies Resolvers;

/** @param posted refusal of a subscription that is sent as a plain request */
const partOfGraph = (posted: string): GraphPart => ({
  sdl: readPart(new URL('./resolvers.graphql', import.meta.url)),
  resolvers,
  // Router contracts leave these types in the base.
  figures: ['ObservationChanges', 'ObservationChange'],
  posted,
});

// On or off, the graph is the same, so that code generated from it is too.
export const part = partOfGraph(
  'A subscription takes a connection of its own: accept text/event-stream, here or at /graphql/stream (graphql-sse), or subscribe at /graphql over WebSocket (graphql-transport-ws).',
);
export const partOff = partOfGraph(
  'This gateway offers no subscriptions (SUBSCRIPTIONS=off). Ask by a query, again and again: what has not changed is cached.',
);
