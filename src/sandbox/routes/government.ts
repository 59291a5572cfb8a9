import { officesOf } from '../catalogue/government.ts';
import { countryOf, type Route } from '../route.ts';

export const routes: readonly Route[] = [
  {
    template: '/v1/government/structure/{code}',
    answer: (_query, habits, code) => {
      const { code: id, name, region } = countryOf(code);
      const country = { code: id, name, region };
      const offices = officesOf(countryOf(code));
      if (habits.government === 'offices') return { data: { country, offices } };
      const terms = offices.flatMap(({ terms: held, ...office }) =>
        held.map((term) => ({ ...office, ...term })),
      );
      return { data: { country, terms } };
    },
  },
];
