import { definePlugin } from '../../gateway/plugin.ts';

/** Matches an `Accept` header that has the name of a format of tables. */
const TABLE = /text\/csv|application\/x-ndjson|application\/vnd\.apache\.arrow\.stream/i;

export const csvTables = definePlugin({
  name: 'csv-tables',
  settings: {},
  open: () => ({
    request(next, kernel) {
      const load = () => import('./tabled.ts');
      return (request) => {
        const { headers, exchanged } = request;
        if (!TABLE.test(headers.accept ?? '')) return next(request);
        return load().then(({ tabled }) =>
          tabled(request, next, kernel, kernel.callerOf(headers, exchanged)),
        );
      };
    },
  }),
});
