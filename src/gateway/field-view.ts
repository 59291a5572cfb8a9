import { defaultFieldResolver } from 'graphql';
import { createObjectMemo } from '../cache/lru.ts';
import { warned } from '../graphql/resolvers/warned.ts';
import type { GraphContext } from '../graphql/schema/context.ts';
import type { SchemaPart } from '../graphql/schema/schema.ts';
import type { CachedPair } from '../observations/cached-pairs.ts';
import { distinct, sourcesOf } from '../observations/planner/newest.ts';
import type { CachedFigures, FieldContext, GraphPart } from '../plugin/graph.ts';
import { turnsOf } from './turns-view.ts';

type Resolver = GraphPart['resolvers'][string][string];

/** Resolvers of a plugin get a view of the context. */
export function schemaPartOf({ resolvers, ...part }: GraphPart): SchemaPart {
  const bound = Object.entries(resolvers).map(([type, fields]) => [
    type,
    Object.fromEntries(Object.entries(fields).map(([name, resolve]) => [name, withView(resolve)])),
  ]);
  return { ...part, resolvers: Object.fromEntries(bound) };
}

function withView(resolve: Resolver): SchemaPart['resolvers'][string][string] {
  // By their marks: the functions themselves may be of another copy of the entrance.
  if ('isPlain' in resolve) return defaultFieldResolver;
  if ('ofRecord' in resolve) return resolve as never;
  return (parent, args, context, info) => resolve(parent, args, fieldContextOf(context), info);
}

const views = createObjectMemo<FieldContext>('view of plugins');

function fieldContextOf(context: GraphContext): FieldContext {
  return views.of(context) ?? views.put(context, viewOf(context));
}

function viewOf(context: GraphContext): FieldContext {
  const { bill, caller, effort, loaders, markPassing, warnings } = context;
  const { cachedNames, expectedCountries, figured, listed, load, observations } = loaders;
  return {
    get calls() {
      return bill.calls;
    },
    load,
    cached: {
      figures: (pairs, each) =>
        observations.readCached(pairs, (pair, cached) => {
          if (effort.refusal !== null) throw effort.refusal;
          each(pair, figuresIn(cached));
        }),
      async indicatorKeys() {
        // A former process may have cached the catalogue.
        const catalogue = (await cachedNames('metrics'))?.names ?? [];
        return [...new Set([...catalogue, ...listed.metrics, ...figured.metrics])].toSorted();
      },
      countryCodes: () => [...new Set([...expectedCountries().codes, ...figured.countries])].toSorted(),
    },
    warn: (warning, subject) => warnings.add(warning, subject),
    warned: (path, list) => warned(context, path, list),
    want: (figures) => effort.want(figures),
    markPassing: () => markPassing?.(),
    turns: turnsOf(caller),
  };
}

function figuresIn({ whole, rest }: CachedPair): CachedFigures {
  const entries = whole === null ? rest : [whole];
  const rows = distinct(entries.flatMap((entry) => entry.rows));
  const checkedAtMs = entries.map((entry) => entry.checkedAtMs);
  return { rows, sources: sourcesOf(rows), asOfMs: Math.min(...checkedAtMs), isWhole: whole !== null };
}
