import { countries } from '../catalogue/countries.ts';
import { type Flow, flowsOf } from '../catalogue/trade.ts';
import { type Query, Refused } from '../query.ts';
import { countryOf, type Route } from '../route.ts';

const MAX_FLOWS = 1_000;
const DEFAULT_FLOWS = 100;
const YEARS = [1900, 2100] as const;

/** Flows of some years; a year and a range at once are refused, as is a range that is the wrong way round. */
function ofYears(flows: readonly Flow[], query: Query): readonly Flow[] {
  const year = query.integer('year', ...YEARS);
  const start = query.integer('start_year', ...YEARS);
  const end = query.integer('end_year', ...YEARS);
  if (year !== undefined && (start ?? end) !== undefined) {
    throw new Refused(400, 'year cannot be combined with start_year or end_year');
  }
  return flows.filter(
    (flow) => flow.year >= (year ?? start ?? YEARS[0]) && flow.year <= (year ?? end ?? YEARS[1]),
  );
}

function wayOf(query: Query): string | undefined {
  const way = query.text('flow_type');
  if (way === undefined || way === 'export' || way === 'import') return way;
  throw new Refused(422, [
    { loc: ['query', 'flow_type'], msg: "Input should be 'export' or 'import'", type: 'enum' },
  ]);
}

/** @throws Refused 422 if the reporter isn't named */
function reporterOf(query: Query) {
  const code = query.text('reporter_country_code');
  if (code !== undefined) return countryOf(code);
  throw new Refused(422, [
    { loc: ['query', 'reporter_country_code'], msg: 'Field required', type: 'missing' },
  ]);
}

/** Values by a name, the greatest first. */
function totals(flows: readonly Flow[], nameOf: (flow: Flow) => string): [name: string, value: number][] {
  const sums = new Map<string, number>();
  for (const flow of flows) sums.set(nameOf(flow), (sums.get(nameOf(flow)) ?? 0) + flow.value);
  return [...sums].sort(([, a], [, b]) => b - a);
}

const partnersOf = (flows: readonly Flow[]) =>
  totals(flows, (flow) => flow.partner_country_code).map(([code, value]) => ({
    partner_country_code: code,
    partner_name: `Synthetic trade with ${code.toUpperCase()}`,
    total_value: value,
  }));

const productsOf = (flows: readonly Flow[]) =>
  totals(flows, (flow) => flow.product_code).map(([code, value]) => ({
    product_code: code,
    product_name: `Synthetic product ${code}`,
    total_value: value,
  }));

export const routes: readonly Route[] = [
  {
    template: '/v1/trade/overview/{code}',
    undocumented: ['start_year', 'end_year', 'top_limit'],
    answer: (query, _habits, code) => {
      const { code: id, name, region } = countryOf(code);
      const top = query.integer('top_limit', 1, 20) ?? 5;
      const flows = ofYears(flowsOf(countryOf(code)), query);
      const sum = (way: string) =>
        flows.filter((flow) => flow.flow_type === way).reduce((total, { value }) => total + value, 0);
      return {
        data: {
          country: { code: id, name, region },
          note: 'synthetic',
          total_exports: sum('export'),
          total_imports: sum('import'),
          top_partners: partnersOf(flows).slice(0, top),
          top_products: productsOf(flows).slice(0, top),
        },
      };
    },
  },
  {
    template: '/v1/trade/flows',
    undocumented: [
      'reporter_country_code',
      'partner_country_code',
      'product_code',
      'flow_type',
      'year',
      'start_year',
      'end_year',
      'limit',
    ],
    answer: (query) => {
      const limit = query.integer('limit', 1, MAX_FLOWS) ?? DEFAULT_FLOWS;
      const reporter = query.text('reporter_country_code');
      const partner = query.text('partner_country_code')?.toLowerCase();
      const product = query.text('product_code');
      const way = wayOf(query);
      const reporters = reporter === undefined ? countries : [countryOf(reporter)];
      const data = ofYears(reporters.flatMap(flowsOf), query)
        .filter((flow) => partner === undefined || flow.partner_country_code === partner)
        .filter((flow) => product === undefined || flow.product_code === product)
        .filter((flow) => way === undefined || flow.flow_type === way)
        .slice(0, limit);
      return { data };
    },
  },
  {
    template: '/v1/trade/partners',
    undocumented: ['reporter_country_code'],
    answer: (query) => ({ data: partnersOf(flowsOf(reporterOf(query))) }),
  },
  {
    template: '/v1/trade/products',
    undocumented: ['reporter_country_code'],
    answer: (query) => ({ data: productsOf(flowsOf(reporterOf(query))) }),
  },
];
