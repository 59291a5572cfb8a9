import { countries } from '../catalogue/countries.ts';
import { policiesOf } from '../catalogue/policies.ts';
import { countryOf, type Route } from '../route.ts';

const MAX_POLICIES = 500;
const DEFAULT_POLICIES = 100;
const YEARS = [1900, 2100] as const;

export const routes: readonly Route[] = [
  {
    template: '/v1/policies',
    undocumented: ['country_code', 'document_type', 'status', 'q', 'start_year', 'end_year', 'limit'],
    answer: (query) => {
      const limit = query.integer('limit', 1, MAX_POLICIES) ?? DEFAULT_POLICIES;
      const country = query.text('country_code');
      const type = query.text('document_type');
      const status = query.text('status');
      const words = query.text('q')?.toLowerCase();
      const start = query.integer('start_year', ...YEARS);
      const end = query.integer('end_year', ...YEARS);
      const found = (country === undefined ? countries : [countryOf(country)])
        .flatMap(policiesOf)
        .filter((policy) => type === undefined || policy.document_type === type)
        .filter((policy) => status === undefined || policy.policy_status === status)
        .filter((policy) => words === undefined || policy.title.toLowerCase().includes(words))
        .filter(({ published_at: day }) => {
          const year = day === null ? null : Number(day.slice(0, 4));
          if (start === undefined && end === undefined) return true;
          return year !== null && year >= (start ?? year) && year <= (end ?? year);
        });
      return { data: found.slice(0, limit), meta: { total: found.length, limit } };
    },
  },
  {
    template: '/v1/policies/country/{code}',
    undocumented: ['top_limit'],
    answer: (query, _habits, code) => {
      const country = countryOf(code);
      const policies = policiesOf(country);
      return {
        data: {
          country: { code: country.code, name: country.name, region: country.region },
          latest_policy: policies[0] ?? null,
          active_policy_count: policies.filter((policy) => policy.policy_status === 'active').length,
          recent_policies: policies.slice(0, query.integer('top_limit', 1, 20) ?? 5),
        },
      };
    },
  },
];
