import { parse } from 'graphql';
import type { Kernel } from '../../gateway/plugin.ts';
import { acceptingInstead } from '../../graphql/request/accept.ts';
import { type AnswerTable, TooManyFields, tablesBySchema } from '../../graphql/request/answer-tables.ts';
import { textIn } from '../../graphql/request/asked-operation.ts';
import { HeldOperations } from '../../graphql/request/held-operations.ts';
import { isExplained } from '../../graphql/request/plain-requests.ts';
import { ChangedRequest, type GatewayRequest } from '../../graphql/request/requests.ts';
import { type GatewayResponse, refusalBody, VARIES } from '../../graphql/request/responses.ts';
import type { HandleRequest } from '../../graphql/request/stages.ts';
import type { Job } from '../../shared/async/turns.ts';
import { attributionHeader } from '../../shared/source-names.ts';
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
  parts: Kernel,
  job: Job,
): Promise<GatewayResponse> {
  const format = tableFormatFor(request.headers.accept);
  if (format === null) return next(request);
  const table = tableFor(request, parts);
  if (typeof table === 'string') return refused(table, request);
  const response = await next(
    new ChangedRequest(request, { headers: acceptingInstead(request.headers, JSON_ANSWER) }),
  );
  if (isExplained(request)) return varied(response);
  const { maxAnswerBytes, attribution } = parts.config;
  const written = await writtenAs(format, table, response, job, maxAnswerBytes);
  const headers = new Map([...written.headers, attributionHeader(attribution)]);
  return { ...written, headers };
}

/** Returns the table, or why there is none; null if other stages refuse the operation. */
function tableFor(
  request: GatewayRequest,
  { schema, persisted, config }: Kernel,
): AnswerTable | string | null {
  if (new HeldOperations(request).isBatch)
    return 'A table is made of one operation. Send them one by one, or ask for JSON.';
  const asked = textIn(request, persisted);
  if (asked === null) return null;
  try {
    const document = parse(asked.text, { maxTokens: config.maxTokens, noLocation: true });
    const [table, ...rest] = tablesBySchema(schema, document, asked.operationName) ?? [];
    if (table === undefined || rest.length === 0) return table ?? null;
    const paths = [table, ...rest].map(({ path }) => path);
    return `A table is made of one list, and the operation has ${paths.length}: ${paths.slice(0, 5).join(', ')}${paths.length > 5 ? ', …' : ''}. Ask for one of them at a time, or for JSON.`;
  } catch (error) {
    return error instanceof TooManyFields ? error.message : null;
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
