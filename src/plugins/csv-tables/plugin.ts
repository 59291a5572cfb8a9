import { definePlugin } from '../../gateway/plugin.ts';
import type { AnswerTable } from '../../graphql/request/answer-tables.ts';
import type { GatewayResponse } from '../../graphql/request/responses.ts';
import type { Job } from '../../shared/async/turns.ts';

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
        job: Job,
        maxAnswerBytes: number,
      ): Promise<GatewayResponse> {
        const { tableFormatFor, writtenAs } = await import('./table-answers.ts');
        const format = tableFormatFor(accept);
        if (format === null) throw new Error(`There is no table of the form ${accept}.`);
        return writtenAs(format, table, response, job, maxAnswerBytes);
      },
    }),
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
