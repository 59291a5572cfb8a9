import { sources } from '../catalogue/sources.ts';
import type { Route } from '../route.ts';
import { refreshOf } from '../signals.ts';

export const routes: readonly Route[] = [
  {
    template: '/health',
    isPublic: true,
    plain: true,
    answer: () => ({ data: { status: 'ok' } }),
  },
  {
    template: '/v1/platform/version',
    isPublic: true,
    answer: () => ({ data: { name: 'Country Data Service sandbox', version: '1.0.0-synthetic' } }),
  },
  {
    template: '/v1/platform/etl-status',
    answer: (_query, { runs }) => ({
      data: sources.map(({ key, name, cadence }) => refreshOf(key, name, cadence, runs.get(key))),
    }),
  },
];
