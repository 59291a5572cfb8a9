import { type DocumentNode, GraphQLError, type GraphQLSchema, parse } from 'graphql';
import { readAttribution } from '../config/config.ts';
import type { CommandHost } from '../gateway/plugin.ts';
import {
  type AnswerTable,
  listed,
  TooManyFields,
  tablesBySchema,
  tablesSeen,
} from '../graphql/request/answer-tables.ts';
import { ownRequest } from '../graphql/request/own-requests.ts';
import { wholeBody } from '../graphql/request/responses.ts';
import { taken } from '../shared/async/turns.ts';
import { BYTE_ORDER_MARK } from '../shared/cells.ts';
import { parseExactly } from '../shared/exact-json.ts';
import { nameAndPage } from '../shared/source-names.ts';
import { type GivenAnswer, isEmptyForANameIn, remarksOn } from './answer-remarks.ts';
import { openAskedService } from './asked-service.ts';
import { arrowOf, CommandError, formatted, type questionFrom, reasonOf } from './formats.ts';
import { ownKeyOf } from './given-key.ts';
import { openOwnGateway } from './own-gateway.ts';
import { settingsOf } from './strange-settings.ts';

type Question = Awaited<ReturnType<typeof questionFrom>>;

/** What most commands run in. */
export type Surroundings = Pick<CommandHost, 'env' | 'plugins'>;

interface QueryOptions {
  readonly url?: string;
  readonly key?: string;
  readonly format: 'json' | 'arrow' | Parameters<typeof formatted>[1];
  readonly bom?: true;
  /** A column for each period. */
  readonly wide?: true;
  /** Asks for the reasons of what is absent. */
  readonly absences?: true;
  /** File in place of standard output. */
  readonly out?: string;
}

/** Longer than any operation of a gateway with default settings. */
const TIMEOUT_MS = 120_000;

/**
 * Asks a running gateway.
 * @param address its GraphQL address, or that of its host
 * @throws CommandError if it can't be reached, or its answer is no GraphQL
 */
async function askGateway(
  question: Question,
  address: string,
  { key, absences }: QueryOptions,
): Promise<GivenAnswer> {
  const url = graphqlAddress(address);
  const response = await fetch(url, {
    method: 'POST',
    // The key must go to no other address.
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json;q=0.9',
      ...headersOf(key, absences),
    },
    body: JSON.stringify(question),
  }).catch((error: unknown) => {
    throw new CommandError(`${url} can't be reached: ${reasonOf(error)}.`);
  });
  const body = await response.text().catch((error: unknown) => {
    throw new CommandError(`The answer of ${url} broke off: ${reasonOf(error)}.`);
  });
  return answerIn(body, `${url} answered with status ${response.status}`);
}

/** Asks a gateway of its own, with the settings of `serve`. */
async function askOwn(
  question: Question,
  { key: givenKey, absences }: QueryOptions,
  { env, plugins }: Surroundings,
  note: (words: string) => void,
) {
  const config = settingsOf(env, plugins, note);
  const { openSandbox } = await import('./serve.ts');
  const { url, key, close } = await openAskedService(
    config,
    await ownKeyOf({ key: givenKey }, env),
    openSandbox,
    note,
  );
  try {
    const gateway = await openOwnGateway({ config, plugins, note }, url);
    try {
      const request = ownRequest(question, { headers: headersOf(key, absences) });
      const body = await wholeBody((await gateway.handle(request)).body);
      return {
        answer: answerIn(body, 'The gateway answered'),
        schema: gateway.schema,
        attribution: config.attribution,
      };
    } finally {
      await gateway.stop();
    }
  } finally {
    await close();
  }
}

function headersOf(key: string | undefined, absences: true | undefined): Readonly<Record<string, string>> {
  return {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(absences && { 'x-absences': '1' }),
  };
}

function graphqlAddress(address: string): string {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CommandError(`--url must be an http:// or https:// address.`);
  if (url.username !== '' || url.password !== '') throw new CommandError('--url must hold no password.');
  if (url.pathname === '/') url.pathname = '/graphql';
  return url.href;
}

function answerIn(text: string, what: string): GivenAnswer {
  let answer: unknown;
  try {
    answer = parseExactly(text);
  } catch {
    answer = null;
  }
  if (!isAnswer(answer)) throw new CommandError(`${what}, which is no answer of GraphQL.`);
  return { ...answer, errors: answer.errors ?? [] };
}

function isAnswer(value: unknown): value is Partial<GivenAnswer> {
  if (typeof value !== 'object' || value === null) return false;
  const isListed = !('errors' in value) || Array.isArray(value.errors);
  return isListed && ('data' in value || 'errors' in value);
}

/**
 * Runs one operation. In rows, a figure that failed would look absent, and a file may hold good ones of an earlier time: so
 * rows and files are written only if all went well.
 * @returns what to write, null for nothing, and a text for standard error, which names the service of what is written
 * @throws CommandError if nothing could be asked, or nothing was answered
 */
export async function query(question: Question, options: QueryOptions, host: Surroundings) {
  const { url, format, bom, wide, out } = options;
  const document = withOperation(() => parse(question.query));
  if (bom && format !== 'csv') throw new CommandError('--bom is for --format csv.');
  if (wide) await checkWide(format, document, question.operationName);
  const notes: string[] = [];
  const { answer, schema, attribution } =
    url === undefined
      ? await askOwn(question, options, host, (words) => notes.push(words))
      : {
          attribution: readAttribution(host.env),
          answer: await askGateway(question, url, options),
          schema: null,
        };
  const isWhole = answer.errors.length === 0 && !isEmptyForANameIn(answer);
  const isWritten = isWhole || (format === 'json' && out === undefined);
  const remarks = [
    ...remarksOn(answer),
    // Figures may go on to people, to whom the service's terms have it named.
    ...(isWritten && answer.data != null ? [`Data: ${nameAndPage(attribution)}.`] : []),
    ...notes,
    ...(isWritten ? [] : [out === undefined ? NO_ROWS : `${out} is as it was.`]),
  ];
  return {
    written: isWritten
      ? await writtenBy(options, document, question.operationName, answer.data, schema)
      : null,
    remarks: remarks.map((line) => `${line.replace(/\p{Cc}+/gu, ' ')}\n`).join(''),
    exitCode: isWhole ? 0 : 1,
  };
}

const NO_ROWS =
  'Nothing is written: in rows, what failed would look absent. --format json shows what has come.';

/** @throws CommandError before anything is asked */
async function checkWide(
  format: QueryOptions['format'],
  document: DocumentNode,
  operationName: string | undefined,
): Promise<void> {
  if (format === 'json') throw new CommandError('--wide is for rows: --format csv, table, ndjson or arrow.');
  const { openSchema } = await import('../gateway/open-schema.ts');
  const schema = await openSchema();
  const tables = withOperation(() => tablesBySchema(schema, document, operationName)) ?? [];
  for (const { wide } of tables) if (typeof wide === 'string') throw new CommandError(wide);
}

/** @param ownSchema null for the answer of a gateway whose schema isn't known */
async function writtenBy(
  { format, bom, wide }: QueryOptions,
  document: DocumentNode,
  operationName: string | undefined,
  data: unknown,
  ownSchema: GraphQLSchema | null,
): Promise<string | Uint8Array> {
  if (format === 'json') return `${JSON.stringify(data ?? null, null, 2)}\n`;
  const { openSchema } = await import('../gateway/open-schema.ts');
  const schema = ownSchema ?? (await openSchema());
  const tables = withOperation(() => tablesSeen(document, operationName, data, schema)).map((table) =>
    wide ? wideTable(table, data) : table,
  );
  if (format === 'arrow') return arrowOf(tables, data);
  const rows = formatted(listed(tables, data), format);
  return bom ? `${BYTE_ORDER_MARK}${rows}` : rows;
}

function wideTable(table: AnswerTable, data: unknown): AnswerTable {
  const { path, wide } = table;
  if (typeof wide === 'string') throw new CommandError(wide);
  const { columns, rows } = taken(wide(data as Parameters<typeof wide>[0]));
  return { path, columns, rows: () => rows, wide };
}

/** Turns errors of the operation into errors of the command. */
function withOperation<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof GraphQLError)
      throw new CommandError(`The operation can't be read: ${error.message}`);
    if (error instanceof TooManyFields) throw new CommandError(error.message);
    throw error;
  }
}
