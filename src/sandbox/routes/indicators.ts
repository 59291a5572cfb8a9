import { indicators } from '../catalogue/indicators.ts';
import type { Route } from '../route.ts';

export const routes: readonly Route[] = [
  {
    template: '/v1/indicators',
    parameters: ['category', 'has_data'],
    answer: (query) => {
      const category = query.text('category');
      const hasData = query.boolean('has_data');
      const data = indicators
        .filter((i) => category === undefined || i.category === category)
        .filter((i) => hasData === undefined || i.hasData === hasData)
        .map((i) => ({
          metric_key: i.key,
          metric_name: i.name,
          unit: i.unit,
          category: i.category,
          frequency: i.frequency,
          sources: i.sources,
          has_data: i.hasData,
        }));
      return { data };
    },
  },
];
