import {
  type AnswerTable,
  acceptingInstead,
  attributionHeader,
  ChangedRequest,
  Failure,
  type GatewayRequest,
  type GatewayResponse,
  type HandleRequest,
  HeldOperations,
  isExplained,
  type PluginServices,
  refusalBody,
  VARIES,
} from '../../plugin/index.ts';
import { tableFormatFor, varied, writtenAs } from './table-answers.ts';

/** With this type, the status of an answer tells how the operation went. */
const JSON_ANSWER = 'application/graphql-response+json';

/**
 * Answers with a table if the client asks for one by `Accept`. An operation without exactly one list is refused before it
 * runs. Answers that make no table, such as errors without data, are JSON.
 */
export async function tabled(
  request: GatewayRequest,
  next: HandleRequest,
  gateway: PluginServices,
): Promise<GatewayResponse> {
  const format = tableFormatFor(request.headers.accept);
  if (format === null) return next(request);
  const table = tableFor(request, gateway);
  if (typeof table === 'string') return refused(table, request);
  if (format.isWide && typeof table?.wide === 'string') return refused(table.wide, request);
  const response = await next(
    new ChangedRequest(request, { headers: acceptingInstead(request.headers, JSON_ANSWER) }),
  );
  if (isExplained(request)) return varied(response);
  const { limits, site, turnsFor } = gateway;
  const written = await writtenAs(format, table, response, turnsFor(request), limits.answerBytes);
  const headers = new Map([...written.headers, attributionHeader(site.attribution)]);
  return { ...written, headers };
}

/** Returns the table, or why there is none; null if other stages refuse the operation. */
function tableFor(request: GatewayRequest, gateway: PluginServices): AnswerTable | string | null {
  if (new HeldOperations(request).isBatch)
    return 'A table is made of one operation. Send them one by one, or ask for JSON.';
  try {
    const [table, ...rest] = gateway.tables(request) ?? [];
    if (table === undefined || rest.length === 0) return table ?? null;
    const paths = [table, ...rest].map(({ path }) => path);
    return `A table is made of one list, and the operation has ${paths.length}: ${paths.slice(0, 5).join(', ')}${paths.length > 5 ? ', …' : ''}. Ask for one of them at a time, or for JSON.`;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

function refused(message: string, { requestId }: GatewayRequest): GatewayResponse {
  return {
    status: 406,
    headers: new Map([
      ['content-type', `${JSON_ANSWER}; charset=utf-8`],
      ['cache-control', 'no-store'],
      ['vary', VARIES],
    ]),
    body: refusalBody('BAD_REQUEST', message, { requestId }),
  };
}
