import { type AnswerTable, definePlugin, type GatewayResponse, type Turns } from '../../plugin/index.ts';

const TABLE = /text\/csv|application\/x-ndjson|application\/vnd\.apache\.arrow\.stream/i;

export const csvTables = definePlugin({
  name: 'csv-tables',
  settings: {},
  open: () => ({
    api: () => ({
      /** @param accept names the format, as the header does */
      async written(
        accept: string,
        table: AnswerTable | null,
        response: GatewayResponse,
        turns: Turns,
        maxAnswerBytes: number,
      ): Promise<GatewayResponse> {
        const { tableFormatFor, writtenAs } = await import('./table-answers.ts');
        const format = tableFormatFor(accept);
        if (format === null) throw new Error(`There is no table of the form ${accept}.`);
        return writtenAs(format, table, response, turns, maxAnswerBytes);
      },
    }),
    request(next, gateway) {
      const load = () => import('./tabled.ts');
      return (request) => {
        if (!TABLE.test(request.headers.accept ?? '')) return next(request);
        return load().then(({ tabled }) => tabled(request, next, gateway));
      };
    },
  }),
});
