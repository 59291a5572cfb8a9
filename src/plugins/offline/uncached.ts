import { Failure, type Plugin } from '../../plugin/index.ts';

/** Also fetches the times of the last runs. */
export const SOURCES = '{ sources { key } }';

/** The operation that fetches what a call of a route would, by the country code in its path. */
const OPERATIONS: Readonly<Record<string, (code: string, query: URLSearchParams) => string>> = {
  '/v1/platform/version': () => '{ platformVersion { version } }',
  '/v1/platform/etl-status': () => SOURCES,
  '/v1/countries': () => '{ countries { code } }',
  '/v1/countries/{code}/profile': (code) => ofCountry(code, 'profile'),
  '/v1/countries/{code}/signals': (code) => ofCountry(code, 'signals'),
  '/v1/government/structure/{code}': (code) => ofCountry(code, 'offices'),
  '/v1/indicators': (_, query) => {
    const [category, hasData] = [query.get('category'), query.get('has_data')];
    const filters = [
      ...(category === null ? [] : [`category: ${JSON.stringify(category)}`]),
      ...(hasData === null ? [] : [`hasData: ${hasData}`]),
    ];
    return `{ indicators${filters.length === 0 ? '' : `(${filters.join(', ')})`} { key } }`;
  },
  '/v1/markets/tickers': (_, query) => {
    const exchange = query.get('exchange_code');
    const filter = exchange === null ? '' : `(exchangeCode: ${JSON.stringify(exchange)})`;
    return `{ tickers${filter} { symbol } }`;
  },
};

const ofCountry = (code: string, field: string) =>
  `{ country(code: ${JSON.stringify(code)}) { ${field} { record } } }`;

const quoted = (word: string) => (/^[\w.,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

const fill = (...words: readonly string[]) => ['country-graph fill', ...words.map(quoted)].join(' ');

const distinct = (names: readonly string[]) => [...new Set(names)].sort().join(',');

/** Names the command that would fetch what isn't cached. */
export const uncached: Omit<NonNullable<Plugin['offline']>, 'isAlways'> = {
  ofCall({ route, target }) {
    if (route === '/health')
      return new Failure('NOT_HELD', 'Nothing is sent, and the health of the service is never cached.', {
        route,
      });
    const [path = '', search = ''] = target.split('?');
    const code = path.split('/')[route.split('/').indexOf('{code}')] ?? '';
    const operation = OPERATIONS[route]?.(decodeURIComponent(code), new URLSearchParams(search));
    return new Failure('NOT_HELD', 'Nothing is sent, and this is not cached: `command` fetches it.', {
      route,
      command: fill(operation ?? 'operation.graphql'),
    });
  },
  ofFigures(figures) {
    const years = figures.map(({ years }) => years);
    const [from, to] = [years.map((some) => some?.from ?? null), years.map((some) => some?.to ?? null)];
    const first = from.includes(null) ? '' : Math.min(...(from as number[]));
    const last = to.includes(null) ? '' : Math.max(...(to as number[]));
    const command = fill(
      '--indicators',
      distinct(figures.map(({ metricKey }) => metricKey)),
      '--countries',
      distinct(figures.map(({ countryCode }) => countryCode)),
      ...(figures.every(({ mode }) => mode === 'latest') ? ['--latest'] : []),
      ...(first === '' && last === '' ? [] : ['--years', `${first}-${last}`]),
    );
    return new Failure(
      'NOT_HELD',
      'The operation runs offline, and these figures are not cached, or are older than `maxAge` allows: `command` fetches them.',
      { route: '/v1/data', command },
    );
  },
};
