import { defaultFieldResolver, type GraphQLSchema } from 'graphql';
import { createObjectMemo } from '../cache/lru.ts';
import type { SubscribingContext } from '../graphql/live/subscriptions.ts';
import { warned } from '../graphql/resolvers/warned.ts';
import type { GraphContext } from '../graphql/schema/context.ts';
import type { SchemaPart } from '../graphql/schema/schema.ts';
import type { CachedPair } from '../observations/cached-pairs.ts';
import { distinct, newestOf, sourcesOf } from '../observations/planner/newest.ts';
import type { CachedFigures, FieldContext, GraphPart } from '../plugin/graph.ts';
import { turnsOf } from './turns-view.ts';

type Resolver = GraphPart['resolvers'][string][string];
type Bound = SchemaPart['resolvers'][string][string];

/** Resolvers of a plugin get a view of the context. */
export function schemaPartOf({ resolvers, figures = [], posted, ...part }: GraphPart): SchemaPart {
  const bound = Object.entries(resolvers).map(([type, fields]) => [
    type,
    Object.fromEntries(Object.entries(fields).map(([name, resolve]) => [name, withView(resolve)])),
  ]);
  return {
    ...part,
    resolvers: Object.fromEntries(bound),
    finish(schema) {
      for (const name of figures) mark(schema.getType(name), { part: 'figures' });
      if (posted !== undefined) mark(schema.getSubscriptionType(), { posted });
    },
  };
}

function mark(type: ReturnType<GraphQLSchema['getType']> | null, extensions: object): void {
  if (type != null) type.extensions = { ...type.extensions, ...extensions };
}

function withView(resolver: Resolver): Bound {
  if (typeof resolver === 'function') return viewing(resolver);
  return { subscribe: viewing(resolver.subscribe), resolve: viewing(resolver.resolve) };
}

function viewing(
  resolve: Extract<Resolver, (...given: never) => unknown>,
): Extract<Bound, (...given: never) => unknown> {
  // By their marks: the functions themselves may be of another copy of the entrance.
  if ('isPlain' in resolve) return defaultFieldResolver;
  if ('ofRecord' in resolve) return resolve as never;
  return (parent, args, context, info) => resolve(parent, args, fieldContextOf(context), info);
}

const views = createObjectMemo<FieldContext>('view of plugins');

function fieldContextOf(context: GraphContext): FieldContext {
  return views.of(context) ?? views.put(context, viewOf(context));
}

function viewOf(context: GraphContext | SubscribingContext): FieldContext {
  const { bill, caller, effort, isOver, loaders, markPassing, warnings } = context;
  const { cachedNames, expectedCountries, figured, listed, load, observations } = loaders;
  // Whoever keeps the view of one caller mustn't read by it for the next.
  const check = () => {
    if (isOver?.()) throw new TypeError('The operation is over.');
  };
  return {
    get calls() {
      return bill.calls;
    },
    load(...asked) {
      check();
      return load(...asked);
    },
    cached: {
      async owner() {
        check();
        return (await observations.readCached([], () => {})) ? caller.tenant.digest : null;
      },
      async figures(pairs, each) {
        check();
        await observations.readCached(pairs, (pair, cached) => {
          if (effort.refusal !== null) throw effort.refusal;
          each(pair, figuresIn(cached));
        });
      },
      async indicatorKeys() {
        // A former process may have cached the catalogue.
        const catalogue = (await cachedNames('metrics'))?.names ?? [];
        return [...new Set([...catalogue, ...listed.metrics, ...figured.metrics])].toSorted();
      },
      countryCodes: () => [...new Set([...expectedCountries().codes, ...figured.countries])].toSorted(),
    },
    warn: (warning, subject) => warnings.add(warning, subject),
    warned: (path, list) => warned(context, path, list),
    newest: newestOf,
    want: (figures) => effort.want(figures),
    markPassing: () => markPassing?.(),
    turns: turnsOf(caller),
    get changes() {
      check();
      return 'changes' in context ? context.changes : null;
    },
  };
}

function figuresIn({ whole, rest }: CachedPair): CachedFigures {
  const entries = whole === null ? rest : [whole];
  const rows = distinct(entries.flatMap((entry) => entry.rows));
  const checkedAtMs = entries.map((entry) => entry.checkedAtMs);
  return { rows, sources: sourcesOf(rows), asOfMs: Math.min(...checkedAtMs), isWhole: whole !== null };
}
