import type { Resolvers } from '../graph/generated.ts';
import type { Page } from '../graph/sources.ts';
import { plainFields } from './record-fields.ts';

function edges<Row>({ nodes, cursors }: Page<Row>): { readonly cursor: string; readonly node: Row }[] {
  const made = cursors();
  return nodes.map((node, i) => ({ cursor: made[i] ?? '', node }));
}

function pageInfo({ hasNextPage, hasPreviousPage, cursors }: Page<unknown>) {
  const made = cursors();
  return {
    hasNextPage,
    hasPreviousPage,
    startCursor: made.at(0) ?? null,
    endCursor: made.at(-1) ?? null,
  };
}

export const resolvers = {
  CountryConnection: { ...plainFields('CountryConnection', 'nodes', 'totalCount'), edges, pageInfo },
  CountryEdge: plainFields('CountryEdge', 'cursor', 'node'),
  IndicatorConnection: { ...plainFields('IndicatorConnection', 'nodes', 'totalCount'), edges, pageInfo },
  IndicatorEdge: plainFields('IndicatorEdge', 'cursor', 'node'),
  ObservationConnection: { ...plainFields('ObservationConnection', 'nodes', 'totalCount'), edges, pageInfo },
  ObservationEdge: plainFields('ObservationEdge', 'cursor', 'node'),
  TickerConnection: { ...plainFields('TickerConnection', 'nodes', 'totalCount'), edges, pageInfo },
  TickerEdge: plainFields('TickerEdge', 'cursor', 'node'),
  PageInfo: plainFields('PageInfo', 'hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'),
} satisfies Resolvers;
