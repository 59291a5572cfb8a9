import type { GraphQLResolveInfo } from 'graphql';
import { plainFieldsOf } from '../../graphql/resolvers/fields.ts';
import { observationId } from '../../graphql/resolvers/observation-ids.ts';
import { FIGURE_FIELDS } from '../../graphql/resolvers/observations.ts';
import { warnedOfPeriods } from '../../graphql/resolvers/warned.ts';
import type { GraphContext } from '../../graphql/schema/context.ts';
import type { SchemaPart } from '../../graphql/schema/schema.ts';
import { checkStrings, readPart } from '../../plugin/index.ts';
import type { SourceRecord } from '../../service/records/reference.ts';
import type { LiveEvent, ObservationChangesRecord } from './event-queue.ts';
import type { LiveSources } from './feed.ts';
import type { Resolvers, ResolversParentTypes } from './generated.ts';

export interface SubscribingContext extends GraphContext {
  readonly live: LiveSources;
}

function liveIn(context: GraphContext | SubscribingContext): LiveSources {
  if ('live' in context) return context.live;
  throw new TypeError('Subscriptions are off.');
}

const plainFields = plainFieldsOf<ResolversParentTypes>();

const resolvers = {
  Subscription: {
    observationsChanged: {
      async subscribe(_, args, context) {
        const { since = null } = args;
        checkStrings({ since });
        const { demandsOf } = await import('./demands.ts');
        return liveIn(context).figures(await demandsOf(args, context), since);
      },
      resolve(
        { value }: LiveEvent<ObservationChangesRecord>,
        _: unknown,
        context: GraphContext,
        info: GraphQLResolveInfo,
      ) {
        const figures = value?.changes.map(({ observation }) => observation) ?? [];
        warnedOfPeriods(context, () => info.path, figures);
        return value;
      },
    },
    sourceRefreshed: {
      subscribe(_, { keys = null }, context) {
        for (const key of keys ?? []) checkStrings({ keys: key });
        return liveIn(context).sources(keys);
      },
      resolve: ({ value }: LiveEvent<SourceRecord>) => value && { key: value.key, partial: value },
    },
  },
  ObservationChanges: plainFields('ObservationChanges', 'changes', 'isWhole', 'revision', 'at'),
  ObservationChange: {
    ...plainFields('ObservationChange', 'kind', 'observation', 'before'),
    formerId: ({ before }) => before && observationId(before),
  },
  FormerObservation: plainFields('FormerObservation', ...FIGURE_FIELDS),
} satisfies Resolvers;

/** @param posted refusal of a subscription that is sent as a plain request */
function partOfGraph(posted: string): SchemaPart {
  return {
    sdl: readPart(new URL('./resolvers.graphql', import.meta.url)),
    resolvers,
    finish(schema) {
      const root = schema.getSubscriptionType();
      if (root != null) root.extensions = { ...root.extensions, posted };
      // Router contracts leave these types in the base; the rights of keys count them as figures.
      for (const name of ['ObservationChanges', 'ObservationChange']) {
        const type = schema.getType(name);
        if (type !== undefined) type.extensions = { ...type.extensions, part: 'figures' };
      }
    },
  };
}

// On or off, the graph is the same, so that code generated from it is too.
export const part = partOfGraph(
  'A subscription takes a connection of its own: accept text/event-stream, here or at /graphql/stream (graphql-sse), or subscribe at /graphql over WebSocket (graphql-transport-ws).',
);
export const partOff = partOfGraph(
  'This gateway offers no subscriptions (SUBSCRIPTIONS=off). Ask by a query, again and again: what has not changed is cached.',
);
