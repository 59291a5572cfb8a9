import { countries } from '../catalogue/countries.ts';
import { countryOf, type Route } from '../route.ts';
import { profileOf, signalsOf } from '../signals.ts';

export const routes: readonly Route[] = [
  {
    template: '/v1/countries',
    cacheable: true,
    answer: () => ({
      data: countries.map((country) => country.record),
      meta: { total: countries.length, page: 1, per_page: countries.length, total_pages: 1 },
    }),
  },
  {
    template: '/v1/countries/{code}/profile',
    answer: (_query, _habits, code) => ({ data: profileOf(countryOf(code)) }),
  },
  {
    template: '/v1/countries/{code}/signals',
    answer: (_query, _habits, code) => ({ data: signalsOf(countryOf(code)) }),
  },
];
