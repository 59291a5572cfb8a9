import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Config, ConfigError } from '../../config.ts';
import { errorBody, excerpt, Failure } from '../../errors.ts';
import { numberOf } from '../../exact-json.ts';
import type { Gateway } from '../../gateway.ts';
import { heldBounds } from '../../memory-budget.ts';
import {
  ChangedRequest,
  type GatewayRequest,
  type GatewayResponse,
  isHeld,
  isNothing,
  wholeBody,
} from '../../operations/messages.ts';
import { type AnswerSending, goneSignal, sendAnswer } from '../../server/graphql-route.ts';
import { isObject } from '../../service/records/envelope.ts';
import type { Issued } from '../issued/exchange.ts';
import { ownBuild, packageFile } from '../own-version.ts';
import { statusOfFault } from '../tables/tabled.ts';
import { Drawer, type Drawing, Drawings } from './drawer.ts';
import { OpenApi } from './openapi.ts';
import { oembedOf, PAGE_WIDTHS, pageOf, pagePolicy, picturePolicy, refusalPage } from './page.ts';
import {
  lookIn,
  openPublicDocuments,
  type PublicDocument,
  type PublicDocuments,
  parametersGiven,
  variablesIn,
} from './public-documents.ts';

interface AddressRouteOptions extends AnswerSending {
  readonly config: Config;
  /** File of the public documents. */
  readonly file: string;
  readonly gateway: Gateway;
  readonly issued: Issued;
  /** True if the figures are those of the embedded sandbox. */
  readonly isSynthetic: boolean;
}

/** The public documents at the moment. */
interface PublishedDocuments {
  readonly listed: () => readonly PublicDocument[];
  readonly things: () => ReturnType<OpenApi['things']>;
}

const HTML = 'text/html; charset=utf-8';
const SVG = 'image/svg+xml; charset=utf-8';
const JSON_TEXT = 'application/json; charset=utf-8';

/** Types of content that tables are asked for by, as of any operation. */
const TABLES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  arrow: 'application/vnd.apache.arrow.stream',
};

/** Forms of a public document by the endings of their addresses; that without one is the page. */
const FORMS = ['page', 'json', 'csv', 'arrow', 'svg', 'png'] as const;
type Form = (typeof FORMS)[number];

/** The code of GraphiQL that draws pictures, as `npm run build` makes it. */
const DRAWING_CODE = packageFile('dist/graphiql/pictures/picture-worker.js');

/** Bytes of the longest answer that is drawn. */
const MAX_DRAWN_BYTES = 4_000_000;

/** Seconds for which others may keep how a page is embedded. */
const EMBED_SECONDS = 3_600;

/** The matter of these is the operator's key: no visitor has any. */
const OF_OPERATOR: Readonly<Record<string, number>> = { UNAUTHENTICATED: 403, KEY_EXPIRED: 403 };

/** One request for one form of a document. */
interface Visit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly document: PublicDocument;
  readonly form: Form;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The parameters that give them, as they were written. */
  readonly given: string;
  readonly look: ReturnType<typeof lookIn>;
  /** The operation, in the name of the document's key. */
  readonly asked: GatewayRequest;
}

/** A refusal in words. */
interface PictureRefusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** The errors, as `/graphql` tells them. */
  readonly body: string;
}

/**
 * Serves the public documents of the operator: `/c/<name>` as a page, its data and its picture beside it, `/oembed`, and
 * `/openapi.json`. Each runs as an operation like any other, under the issued key that the operator has named for it.
 * @returns functions that list them, as they are and in words for models
 * @throws ConfigError if one of them can't be served
 */
export async function addressRoute(
  app: FastifyInstance,
  options: AddressRouteOptions,
): Promise<PublishedDocuments> {
  const { gateway, config, course, problem } = options;
  if (!existsSync(DRAWING_CODE))
    throw new ConfigError('PUBLIC_DOCUMENTS: what draws pictures is not built. Run: npm run build');
  const { documents, stop } = await openPublicDocuments(
    options.file,
    gateway.schema,
    () => gateway.listed,
    (fault) => problem(fault, ''),
  );
  const address = new PublicAddress(options, documents);
  app.addHook('onClose', () => {
    stop();
    return address.close();
  });

  app.addHook('onRequest', (request, reply, done) => {
    if (course.isDraining) refuse(request, reply, refusalOf(shuttingDown(), request.id));
    else done();
  });
  app.setErrorHandler<FastifyError | Failure>((error, request, reply) => {
    if (error instanceof Failure) return refuse(request, reply, refusalOf(error, request.id));
    const status = error.statusCode ?? 500;
    if (status < 500) return refuse(request, reply, badRequest(status, excerpt(error.message), request.id));
    problem(error, request.id);
    const message = 'The gateway failed to answer.';
    const code = 'INTERNAL_SERVER_ERROR';
    const body = errorBody(code, message, { requestId: request.id });
    return refuse(request, reply, { status: 500, code, message, body });
  });

  const base = ({ protocol, host }: FastifyRequest) => config.publicUrl ?? `${protocol}://${host}`;
  const current = () => documents.of(gateway.listed);
  app.get<{ Params: { file: string } }>('/c/:file', (request, reply) =>
    address.answer(request, reply, request.params.file, base(request)),
  );
  app.get('/oembed', (request, reply) => address.embed(request, reply, base(request)));
  const openApi = new OpenApi(gateway);
  for (const path of ['/openapi.json', '/c/openapi.json'])
    app.get(path, async (request, reply) => {
      const text = await openApi.text(current(), base(request), ownBuild().version);
      reply.type(JSON_TEXT);
      return isTold(request, reply, digestOf([text]), 'no-cache') ? '' : text;
    });
  return { listed: () => [...current().values()], things: () => openApi.things(current()) };
}

/** Answers requests for public documents. */
class PublicAddress {
  readonly #options: AddressRouteOptions;
  readonly #documents: PublicDocuments;
  readonly #drawings: Drawings;

  constructor(options: AddressRouteOptions, documents: PublicDocuments) {
    const { isSynthetic, config } = options;
    this.#options = options;
    this.#documents = documents;
    const sourceNames = Object.fromEntries(config.sourceNames ?? []);
    const drawer = new Drawer(DRAWING_CODE, { isSynthetic, sourceNames });
    this.#drawings = new Drawings(drawer, heldBounds(config).drawingBytes);
  }

  close(): Promise<void> {
    return this.#drawings.close();
  }

  /** Answers with one form of a document. @param file its name, and the ending of the form */
  async answer(
    request: FastifyRequest,
    reply: FastifyReply,
    file: string,
    base: string,
  ): Promise<FastifyReply> {
    const [name = '', ending = 'page', ...others] = file.split('.');
    const form = others.length === 0 ? FORMS.find((one) => one === ending) : undefined;
    const document = this.#find(name);
    if (document === null || form === undefined || file.endsWith('.page')) return absent(request, reply);
    const { schema } = this.#options.gateway;
    const search = searchOf(request.url);
    const variables = variablesIn(document, search, schema);
    const look = lookIn(search);
    const asking = operationOf(document, variables, request, reply);
    const entered = await this.#options.issued.enter(document.key, asking);
    const policy = form === 'page' ? pagePolicy : picturePolicy;
    reply
      .header('content-security-policy', policy(entered.origins))
      .header('cross-origin-resource-policy', 'cross-origin')
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'strict-origin-when-cross-origin');
    const given = parametersGiven(document, search);
    const visit = { request, reply, document, form, variables, given, look, asked: entered.request };
    await this.#answer(visit, base);
    return reply;
  }

  /** Answers with the words that a site embeds a page by, at no call. */
  embed(request: FastifyRequest, reply: FastifyReply, base: string): FastifyReply {
    const { url = '', format = 'json', maxwidth, maxheight } = Object.fromEntries(searchOf(request.url));
    if (format !== 'json')
      return refuse(request, reply, badRequest(501, 'Only format=json is there.', request.id));
    const [path = '', search = ''] = url.split('?', 2);
    const start = `${base}/c/`;
    const document = path.startsWith(start) ? this.#find(path.slice(start.length)) : null;
    if (document === null) return absent(request, reply);
    const parameters = new URLSearchParams(search);
    variablesIn(document, parameters, this.#options.gateway.schema);
    const given = parametersGiven(document, parameters);
    const told = {
      title: document.title ?? document.description ?? document.name,
      url: `${start}${besidePage(document, given)('')}`,
      imageUrl: `${start}${besidePage(document, given)('png')}`,
    };
    const room = { maxWidth: pixelsIn(maxwidth), maxHeight: pixelsIn(maxheight) };
    reply.header('cache-control', `public, max-age=${EMBED_SECONDS}`).type(JSON_TEXT);
    return reply.send(JSON.stringify(oembedOf(told, room)));
  }

  #find(name: string): PublicDocument | null {
    return this.#documents.of(this.#options.gateway.listed).get(name) ?? null;
  }

  async #answer(visit: Visit, base: string): Promise<void> {
    const { request, reply, document, form, look, given, asked } = visit;
    const response = await this.#options.gateway.handle(asked);
    const body = await wholeBody(response.body);
    const dataTag = response.status === 200 ? response.headers.get('etag') : undefined;
    if (dataTag === undefined) {
      const refusal = refusalIn(response.status, body);
      const retryAfter = response.headers.get('retry-after');
      if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
      if (refusal !== null) return void refuse(request, reply, refusal);
    }
    // Bytes of one form are the same as long as the data are, and what is told of them.
    const name = digestOf([
      dataTag ?? body,
      form,
      JSON.stringify([document, look]),
      given,
      ownBuild().version,
    ]);
    const caching = dataTag === undefined ? 'no-store' : cachingOf(response);
    if (isTold(request, reply, dataTag === undefined ? null : name, caching)) return void reply.send('');
    if (form === 'json') return this.#send(visit, JSON_TEXT, body);
    if (form in TABLES) return this.#sendTable(visit);
    const drawing = await this.#draw(visit, body, name);
    if (form === 'page') return this.#send(visit, HTML, pageFor(visit, drawing, base));
    if (drawing.bytes === null) {
      const message = 'This answer has no figures that make a picture. Ask for its page or its data.';
      return void refuse(request, reply, badRequest(406, message, request.id));
    }
    if (typeof drawing.bytes === 'string') return this.#send(visit, SVG, drawing.bytes);
    reply.type('image/png').send(Buffer.from(drawing.bytes));
  }

  async #draw({ document, form, variables, look }: Visit, body: string, name: string): Promise<Drawing> {
    if (body.length > MAX_DRAWN_BYTES)
      throw new Failure(
        'BAD_USER_INPUT',
        'The answer is too long to be drawn. Ask for less of it, or for its data.',
      );
    const { text: query, operationName, look: given } = document;
    const common = { query, operationName, variables, body, look: given };
    if (form === 'page')
      return this.#drawings.get(name, {
        ...common,
        form: 'facts',
        theme: 'light',
        width: PAGE_WIDTHS.wide,
        isBare: true,
      });
    return this.#drawings.get(name, { ...common, ...look, form: form === 'png' ? 'png' : 'svg' });
  }

  /** Has the operation run once more, for a table of what is held by now. */
  async #sendTable({ request, reply, form, asked }: Visit): Promise<void> {
    const headers = { ...asked.headers, accept: TABLES[form] ?? '' };
    const table = await this.#options.gateway.handle(new ChangedRequest(asked, { headers }));
    if (table.status !== 200)
      return void refuse(request, reply, {
        ...badRequest(table.status, 'This answer makes no table.', request.id),
        body: await wholeBody(table.body),
      });
    const type = table.headers.get('content-type') ?? '';
    sendAnswer(request, reply, { ...table, headers: new Map([['content-type', type]]) }, this.#options);
  }

  #send({ request, reply }: Visit, type: string, body: string): void {
    const headers = new Map([['content-type', type]]);
    sendAnswer(request, reply, { status: 200, headers, body }, this.#options);
  }
}

function pageFor({ document, given }: Visit, drawing: Drawing, base: string): string {
  const { facts, width, height, warnings } = drawing;
  const beside = besidePage(document, given);
  const url = `${base}/c/${beside('')}`;
  const forms = FORMS.filter((form) => {
    if (form === 'page' || (form in TABLES && !document.isTable)) return false;
    return facts !== null || (form !== 'svg' && form !== 'png');
  });
  return pageOf({
    title: document.title ?? facts?.title ?? document.name,
    description: document.description,
    picture: facts === null ? null : { facts, width, height },
    warnings,
    beside,
    forms,
    url,
    imageUrl: `${base}/c/${beside('png')}`,
    oembedUrl: `${base}/oembed?url=${encodeURIComponent(url)}`,
  });
}

/** Returns the addresses of the forms of a document, from where its page is; that of the page has no ending. */
function besidePage({ name }: PublicDocument, given: string): (form: string, look?: string) => string {
  return (form, look = '') => {
    const parameters = [given, look].filter((part) => part !== '').join('&');
    return `${name}${form === '' ? '' : `.${form}`}${parameters === '' ? '' : `?${parameters}`}`;
  };
}

function operationOf(
  { documentId, operationName }: PublicDocument,
  variables: Readonly<Record<string, unknown>>,
  { id, ip }: FastifyRequest,
  reply: FastifyReply,
): GatewayRequest {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
    search: '',
    body: { documentId, operationName, variables },
    signal: goneSignal(reply),
    requestId: id,
    address: ip,
  };
}

/** Returns the refusal that an answer is; null if there are data in it. */
function refusalIn(status: number, body: string): PictureRefusal | null {
  const answer: unknown = body.length > MAX_DRAWN_BYTES ? null : JSON.parse(body);
  const { data, errors } = isObject(answer) ? answer : {};
  const [first] = Array.isArray(errors) ? errors : [];
  if (!isObject(first) || (status === 200 && !isNothing(data))) return null;
  const { code = 'INTERNAL_SERVER_ERROR' } = isObject(first.extensions) ? first.extensions : {};
  const fitting = OF_OPERATOR[String(code)] ?? (status === 200 ? statusOfFault(first) : status);
  return { status: fitting, code: String(code), message: String(first.message), body };
}

function refusalOf(
  failure: Failure,
  requestId: string,
): PictureRefusal & { readonly retryAfterSeconds?: number | undefined } {
  const { code, message, fields, retryable } = failure;
  const status = OF_OPERATOR[code] ?? statusOfFault({ extensions: { code } });
  const body = errorBody(code, message, { retryable, ...fields, requestId });
  return { status, code, message, body, retryAfterSeconds: fields.retryAfterSeconds };
}

function badRequest(status: number, message: string, requestId: string): PictureRefusal {
  return { status, code: 'BAD_REQUEST', message, body: errorBody('BAD_REQUEST', message, { requestId }) };
}

function shuttingDown(): Failure {
  return new Failure('OVERLOADED', 'The gateway is shutting down.', { retryAfterSeconds: 1 });
}

/** Answers for a name that is no public document's, be it that of a document or not. */
function absent(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return refuse(request, reply, badRequest(404, 'There is no public document of this name.', request.id));
}

/** Tells a refusal: as a page to those who asked for one, and else as errors. */
function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: PictureRefusal & { readonly retryAfterSeconds?: number | undefined },
): FastifyReply {
  const { status, code, message, body, retryAfterSeconds } = refusal;
  const [path = ''] = request.url.split('?', 1);
  const isPage = /^\/c\/[^.]*$/.test(path);
  if (isPage && !reply.hasHeader('content-security-policy'))
    reply.header('content-security-policy', pagePolicy([]));
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  reply.removeHeader('etag');
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .type(isPage ? HTML : JSON_TEXT)
    .send(isPage ? refusalPage(message, code) : body);
}

/** Names an answer in its headers. Returns true, with status 304, if the client has it. */
function isTold(request: FastifyRequest, reply: FastifyReply, name: string | null, caching: string): boolean {
  reply.header('cache-control', caching);
  if (name === null) return false;
  const etag = `W/"${name}"`;
  reply.header('etag', etag);
  if (!isHeld(request.headers['if-none-match'], etag)) return false;
  reply.code(304);
  return true;
}

/** Says for how long anybody may keep an answer: what is public is the same for all. */
function cachingOf({ headers }: GatewayResponse): string {
  const [seconds] = /(?<=max-age=)\d+/.exec(headers.get('cache-control') ?? '') ?? [];
  return seconds === undefined ? 'public, no-cache' : `public, max-age=${seconds}`;
}

function searchOf(url: string): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at === -1 ? '' : url.slice(at));
}

function pixelsIn(text = ''): number {
  const pixels = numberOf(text);
  return pixels !== null && pixels >= 1 ? pixels : Number.POSITIVE_INFINITY;
}

function digestOf(parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length} ${part}`);
  return hash.digest('base64url').slice(0, 27);
}
