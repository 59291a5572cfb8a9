import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Config, ConfigError } from '../../config/config.ts';
import { heldBounds, pictureBounds } from '../../config/memory-budget.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import {
  type GatewayRequest,
  type GatewayResponse,
  isHeld,
  isNothing,
  statusOfFault,
  UNPROVEN,
  wholeBody,
} from '../../graphql/request/messages.ts';
import { tableFormatFor, writtenAs } from '../../graphql/request/table-answers.ts';
import { visitorOf } from '../../keys/visitor.ts';
import { goneSignal, sendAnswer } from '../../server/graphql-route.ts';
import type { AnswerSending } from '../../server/http.ts';
import { isObject } from '../../service/records/envelope.ts';
import { errorBody, excerpt, Failure } from '../../shared/errors.ts';
import { numberOf } from '../../shared/exact-json.ts';
import { ownBuild, packageFile } from '../../shared/own-version.ts';
import type { Issued } from '../issued-keys/exchange.ts';
import { Drawer, type Drawing, Drawings, type PictureFacts, TOO_LONG } from './drawer.ts';
import { openApiOf } from './openapi.ts';
import { lookIn, openPublicDocuments, type PublicDocument, variablesIn } from './public-documents.ts';

interface AddressRouteOptions extends AnswerSending {
  readonly config: Config;
  readonly file: string;
  readonly gateway: Gateway;
  readonly issued: Issued;
  /** True if the figures are those of the embedded sandbox. */
  readonly isSynthetic: boolean;
}

const HTML = 'text/html; charset=utf-8';
const SVG = 'image/svg+xml; charset=utf-8';
const JSON_TEXT = 'application/json; charset=utf-8';

/** Types of content of tables, as any operation is asked for one. */
const TABLES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  arrow: 'application/vnd.apache.arrow.stream',
};

/** A table that spreadsheets read as UTF-8. */
const MARKED_CSV = 'text/csv; bom=present';

/** The headers of a table that go with it: failures and warnings have no other place. */
const OF_TABLES: ReadonlySet<string> = new Set(['content-type', 'x-graphql-errors', 'x-graphql-warnings']);

/** Forms of a public document by the endings of their addresses; that without one is the page. */
const FORMS = ['page', 'json', 'csv', 'arrow', 'svg', 'png'] as const;
type Form = (typeof FORMS)[number];

/** The code of GraphiQL that draws pictures, as `npm run build` makes it. */
const DRAWING_CODE = packageFile('dist/graphiql/pictures/picture-worker.js');

/** Seconds for which others may keep how a page is embedded. */
const EMBED_SECONDS = 3_600;

/** Characters of an answer that is looked into for errors: a longer one has data. */
const MOST_READ_BYTES = 4_000_000;

/** The matter of these is the operator's key: no visitor has any. */
const OF_OPERATOR: Readonly<Record<string, number>> = { UNAUTHENTICATED: 403, KEY_EXPIRED: 403 };

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

interface PictureRefusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** The errors, as `/graphql` tells them. */
  readonly body: string;
  readonly retryAfterSeconds?: number | undefined;
}

/**
 * Serves the public documents of the operator: `/c/<name>` as a page, its data and its picture beside it, `/oembed`, and
 * `/openapi.json`. Each runs as an operation like any other, under the issued key that the operator has named for it.
 * @returns functions that list them, as they are and in words for models
 * @throws ConfigError if one of them can't be served
 */
export async function addressRoute(app: FastifyInstance, options: AddressRouteOptions) {
  const { gateway, config, course, problem } = options;
  if (!existsSync(DRAWING_CODE))
    throw new ConfigError('PUBLIC_DOCUMENTS: what draws pictures is not built. Run: npm run build');
  const { current, stop } = await openPublicDocuments(
    options.file,
    gateway.schema,
    () => gateway.listed,
    (fault) => problem(fault, ''),
  );
  const { isSynthetic } = options;
  const sourceNames = Object.fromEntries(config.sourceNames ?? []);
  const bounds = pictureBounds(config);
  const { maxPixels } = bounds;
  const drawer = new Drawer(DRAWING_CODE, { isSynthetic, sourceNames, maxPixels }, bounds);
  app.addHook('onClose', () => {
    stop();
    return drawer.close();
  });
  const drawings = new Drawings(drawer, heldBounds(config).drawingBytes);
  const address = new PublicAddress(options, current, drawings);

  app.addHook('onRequest', (request, reply, done) => {
    if (course.isDraining) refuse(request, reply, refusalOf(SHUTTING_DOWN, request.id));
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
  app.get<{ Params: { file: string } }>('/c/:file', (request, reply) =>
    address.answer(request, reply, request.params.file, base(request)),
  );
  app.get('/oembed', (request, reply) => address.embed(request, reply, base(request)));
  const { text: openApi, things } = openApiOf(gateway, current);
  for (const path of ['/openapi.json', '/c/openapi.json'])
    app.get(path, async (request, reply) => {
      const text = await openApi(base(request), ownBuild().version);
      reply.type(JSON_TEXT);
      return isTold(request, reply, digestOf(text), addressed('public, no-cache', config)) ? '' : text;
    });
  return { listed: () => [...current().values()], things };
}

class PublicAddress {
  readonly #options: AddressRouteOptions;
  readonly #current: () => ReadonlyMap<string, PublicDocument>;
  readonly #drawings: Drawings;

  constructor(
    options: AddressRouteOptions,
    current: () => ReadonlyMap<string, PublicDocument>,
    drawings: Drawings,
  ) {
    this.#options = options;
    this.#current = current;
    this.#drawings = drawings;
  }

  /** Answers with one form of a document: `file` is its name, and the ending of the form. */
  async answer(
    request: FastifyRequest,
    reply: FastifyReply,
    file: string,
    base: string,
  ): Promise<FastifyReply> {
    const [name = '', ending = 'page', ...others] = file.split('.');
    const form = others.length === 0 ? FORMS.find((one) => one === ending) : undefined;
    const document = this.#current().get(name);
    if (document === undefined || form === undefined || file.endsWith('.page')) return absent(request, reply);
    const { schema } = this.#options.gateway;
    const search = searchOf(request.url);
    const { variables, given } = variablesIn(document, search, schema);
    const look = lookIn(search);
    const asking = operationOf(document, variables, request, reply);
    const entered = await this.#options.issued.enter(document.key, asking);
    const policy = form === 'page' ? pagePolicy : picturePolicy;
    reply
      .header('content-security-policy', policy(entered.origins))
      .header('cross-origin-resource-policy', 'cross-origin')
      .header('x-content-type-options', 'nosniff')
      // Readers of tables would ask for parts of a file otherwise.
      .header('accept-ranges', 'none')
      .header('referrer-policy', 'strict-origin-when-cross-origin');
    if (form in TABLES && document.table === null)
      return refuse(request, reply, badRequest(406, 'This answer makes no table.', request.id));
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
    const document = path.startsWith(start) ? this.#current().get(path.slice(start.length)) : undefined;
    if (document === undefined) return absent(request, reply);
    const parameters = new URLSearchParams(search);
    const { given } = variablesIn(document, parameters, this.#options.gateway.schema);
    const told = {
      title: document.title ?? document.description ?? document.name,
      url: `${start}${besidePage(document, given)('')}`,
    };
    const room = { maxWidth: pixelsIn(maxwidth), maxHeight: pixelsIn(maxheight) };
    reply
      .header('cache-control', addressed(`public, max-age=${EMBED_SECONDS}`, this.#options.config))
      .type(JSON_TEXT);
    return reply.send(JSON.stringify(oembedOf(told, room)));
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
    const name = digestOf(dataTag ?? body, form, document, look, given, ownBuild().version);
    const isPage = form === 'page';
    const lasting = isPage ? addressed(cachingOf(response), this.#options.config) : cachingOf(response);
    const caching = dataTag === undefined ? 'no-store' : lasting;
    const tag = isPage ? digestOf(name, base) : name;
    if (isTold(request, reply, dataTag === undefined ? null : tag, caching)) return void reply.send('');
    if (form === 'json') return this.#send(visit, JSON_TEXT, body);
    if (form in TABLES) return this.#sendTable(visit, { ...response, body });
    const drawing = await this.#draw(visit, body, name);
    if (isPage) return this.#send(visit, HTML, pageFor(visit, drawing, base));
    if (drawing.bytes === null) {
      const message = 'This answer has no figures that make a picture. Ask for its page or its data.';
      return void refuse(request, reply, badRequest(406, message, request.id));
    }
    if (typeof drawing.bytes === 'string') return this.#send(visit, SVG, drawing.bytes);
    reply.type('image/png').send(Buffer.from(drawing.bytes));
  }

  async #draw(
    { request, document, form, variables, look }: Visit,
    body: string,
    name: string,
  ): Promise<Drawing> {
    if (body.length > pictureBounds(this.#options.config).answerBytes)
      throw new Failure('BAD_USER_INPUT', TOO_LONG);
    const visitor = visitorOf(request.ip);
    const { text: query, operationName, look: given } = document;
    const common = { query, operationName, variables, body, look: given };
    if (form === 'page')
      return this.#drawings.get(
        name,
        { ...common, form: 'facts', theme: 'light', width: PAGE_WIDTHS.wide, isBare: true },
        visitor,
      );
    const { theme, width, isBare } = look;
    return this.#drawings.get(
      name,
      {
        ...common,
        theme,
        width,
        isBare,
        form: form === 'png' ? 'png' : 'svg',
      },
      visitor,
    );
  }

  async #sendTable(
    { request, reply, form, document, look }: Visit,
    response: GatewayResponse,
  ): Promise<void> {
    const format = tableFormatFor(form === 'csv' && look.isMarked ? MARKED_CSV : TABLES[form]);
    if (format === null) throw new Error(`There is no table of the form ${form}.`);
    const { maxAnswerBytes } = this.#options.config;
    const table = await writtenAs(format, document.table, response, { flow: UNPROVEN }, maxAnswerBytes);
    const headers = [...table.headers].filter(([name]) => OF_TABLES.has(name));
    sendAnswer(request, reply, { ...table, headers: new Map(headers) }, this.#options);
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
    if (form === 'page' || (form in TABLES && document.table === null)) return false;
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
  const answer: unknown = body.length > MOST_READ_BYTES ? null : JSON.parse(body);
  const { data, errors } = isObject(answer) ? answer : {};
  const [first] = Array.isArray(errors) ? errors : [];
  if (!isObject(first) || (status === 200 && !isNothing(data))) return null;
  const { code = 'INTERNAL_SERVER_ERROR' } = isObject(first.extensions) ? first.extensions : {};
  const fitting = OF_OPERATOR[String(code)] ?? (status === 200 ? statusOfFault(first) : status);
  return { status: fitting, code: String(code), message: String(first.message), body };
}

function refusalOf({ code, message, fields, retryable }: Failure, requestId: string): PictureRefusal {
  const status = OF_OPERATOR[code] ?? statusOfFault({ extensions: { code } });
  const body = errorBody(code, message, { retryable, ...fields, requestId });
  return { status, code, message, body, retryAfterSeconds: fields.retryAfterSeconds };
}

function badRequest(status: number, message: string, requestId: string): PictureRefusal {
  return { status, code: 'BAD_REQUEST', message, body: errorBody('BAD_REQUEST', message, { requestId }) };
}

const SHUTTING_DOWN = new Failure('OVERLOADED', 'The gateway is shutting down.', { retryAfterSeconds: 1 });

/** Answers for a name that is no public document's, be it that of a document or not. */
function absent(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return refuse(request, reply, badRequest(404, 'There is no public document of this name.', request.id));
}

/** Tells a refusal: as a page to those who asked for one, and else as errors. */
function refuse(request: FastifyRequest, reply: FastifyReply, refusal: PictureRefusal): FastifyReply {
  const { status, body, retryAfterSeconds } = refusal;
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
    .send(isPage ? refusalPage(refusal) : body);
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

/**
 * Says who may keep an answer that names the address of the gateway. Without one of the operator's, it is the `Host` of the
 * request, which anybody may write: then nobody else is to see it.
 */
function addressed(caching: string, { publicUrl }: Config): string {
  return publicUrl === undefined ? caching.replace('public', 'private') : caching;
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

function digestOf(...parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 27);
}

/** Pixels of the pictures of a page: on screens below the first, the narrow one. */
const PAGE_WIDTHS = { turn: 640, narrow: 480, wide: 960 };

/** Colours are those of the pictures. */
const STYLE = `
:root { color-scheme: light dark; --ground: #fff; --text: #1a2030; --muted: #5b6472; --line: #d9dde3; --link: #0b57a0; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #212a3b; --text: #e8ebf0; --muted: #a9b2c1; --line: #3c475b; --link: #8cc4f5; }
}
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.45 system-ui, sans-serif; }
main { max-width: 960px; margin: 0 auto; padding: 16px 0; }
h1, p, nav, details { margin: 0 24px; }
h1 { font-size: 20px; font-weight: 600; overflow-wrap: anywhere; }
p { color: var(--muted); font-size: 14px; overflow-wrap: anywhere; }
img { display: block; width: 100%; height: auto; }
a { color: var(--link); }
nav { margin-top: 12px; font-size: 14px; }
nav a { display: inline-block; margin-right: 12px; padding: 4px 0; }
summary { padding: 4px 0; cursor: pointer; font-size: 14px; }
.rows { overflow: auto; max-height: 60vh; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 12px 3px 0; border-bottom: 1px solid var(--line); text-align: left; }
`;

/** The content security policy of pages and pictures, but for their styles and frames. */
const NOTHING_ELSE = "default-src 'none'; base-uri 'none'; form-action 'none'";

const STYLE_HASH = `'sha256-${hash('sha256', STYLE, 'base64')}'`;

/**
 * Returns the content security policy of a page.
 * @param origins sites that may frame it; none in the list for any
 */
function pagePolicy(origins: readonly string[]): string {
  return `${NOTHING_ELSE}; img-src 'self'; style-src ${STYLE_HASH}; frame-ancestors ${ancestors(origins)}`;
}

/** Does the same for a picture, whose styles stand on its parts. */
function picturePolicy(origins: readonly string[]): string {
  return `${NOTHING_ELSE}; style-src 'unsafe-inline'; frame-ancestors ${ancestors(origins)}`;
}

const ancestors = (origins: readonly string[]) => (origins.length === 0 ? '*' : origins.join(' '));

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(value: unknown): string {
  return String(value ?? '').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

interface PictureOnPage {
  readonly facts: PictureFacts;
  /** Pixels of the wide picture. */
  readonly width: number;
  readonly height: number;
}

interface PageContent {
  readonly title: string;
  readonly description: string | null;
  /** Null if the answer has nothing to draw. */
  readonly picture: PictureOnPage | null;
  readonly warnings: readonly string[];
  /** Returns the address of another form of it, beside the page. */
  readonly beside: (form: string, look?: string) => string;
  readonly forms: readonly string[];
  readonly url: string;
  /** Address of its picture for pages that show a preview. */
  readonly imageUrl: string;
  readonly oembedUrl: string;
}

const LABELS: Readonly<Record<string, string>> = {
  json: 'JSON',
  csv: 'CSV',
  arrow: 'Arrow',
  svg: 'SVG',
  png: 'PNG',
};

/** Writes the page of a public document: it has no script, and names no key. */
function pageOf(parts: PageContent): string {
  const { title, description, picture, warnings, beside, forms, url, imageUrl, oembedUrl } = parts;
  const told = description ?? picture?.facts.words ?? title;
  const preview = [
    ['og:title', title],
    ['og:type', 'website'],
    ['og:url', url],
    ['og:description', told],
    ...(picture === null
      ? []
      : [
          ['og:image', imageUrl],
          ['og:image:type', 'image/png'],
          ['og:image:width', picture.facts.image.width],
          ['og:image:height', picture.facts.image.height],
          ['og:image:alt', picture.facts.words],
        ]),
  ];
  const head = [
    `<meta name="description" content="${escaped(told)}">`,
    ...preview.map(([name, content]) => `<meta property="${name}" content="${escaped(content)}">`),
    `<meta name="twitter:card" content="summary_large_image">`,
    `<link rel="alternate" type="application/json+oembed" href="${escaped(oembedUrl)}" title="${escaped(title)}">`,
  ];
  const links = forms.flatMap((form) => [
    `<a href="${escaped(beside(form))}">${LABELS[form] ?? form}</a>`,
    ...(form === 'csv' ? [`<a href="${escaped(beside('csv', 'bom=present'))}">CSV for Excel</a>`] : []),
  ]);
  const body = [
    `<h1>${escaped(title)}</h1>`,
    ...(picture === null
      ? ['<p>This answer has no figures that make a picture. Its data are there.</p>']
      : pictured(picture, title, beside)),
    ...warnings.map((warning) => `<p>${escaped(warning)}</p>`),
    `<nav aria-label="Data">${links.join(' ')}</nav>`,
  ];
  return htmlOf(title, head, body);
}

function pictured(
  { facts, width, height }: PictureOnPage,
  title: string,
  beside: PageContent['beside'],
): readonly string[] {
  const { subtitle, words, notes, table, leftOut, pages } = facts;
  const { turn, narrow, wide } = PAGE_WIDTHS;
  const svg = (theme: string, at: number) => escaped(beside('svg', `theme=${theme}&width=${at}&bare=1`));
  const narrowScreen = `(max-width: ${turn}px)`;
  const dark = '(prefers-color-scheme: dark)';
  const isSaid = facts.title === title;
  return [
    `<p>${escaped([isSaid ? '' : facts.title, subtitle].filter(Boolean).join(', '))}</p>`,
    '<picture>',
    `<source media="${narrowScreen} and ${dark}" srcset="${svg('dark', narrow)}">`,
    `<source media="${narrowScreen}" srcset="${svg('light', narrow)}">`,
    `<source media="${dark}" srcset="${svg('dark', wide)}">`,
    `<img src="${svg('light', wide)}" alt="${escaped(words)}" width="${width}" height="${height}">`,
    '</picture>',
    ...notes.map((note) => `<p>${linked(note, pages)}</p>`),
    `<details><summary>Table of ${table.rows.length} figures</summary>`,
    `<div class="rows" role="region" aria-label="Table" tabindex="0">${tableOf(table)}</div>`,
    ...(leftOut === 0 ? [] : [`<p>${leftOut} more stand in the data.</p>`]),
    '</details>',
  ];
}

/** Writes a note, with the names of sources as links to their pages. */
function linked(note: string, pages: PictureFacts['pages']): string {
  const found = pages.find(([name]) => note.includes(name));
  if (found === undefined) return escaped(note);
  const [name, url] = found;
  const others = pages.filter((page) => page !== found);
  return note
    .split(name)
    .map((part) => linked(part, others))
    .join(`<a href="${escaped(url)}">${escaped(name)}</a>`);
}

function tableOf({ columns, rows }: PictureFacts['table']): string {
  const names = columns.map((name) => `<th scope="col">${escaped(name)}</th>`).join('');
  const lines = rows.map((row) => `<tr>${row.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`);
  return `<table><thead><tr>${names}</tr></thead><tbody>${lines.join('')}</tbody></table>`;
}

/** Writes the page of a refusal, for those who look at a frame. */
function refusalPage({ status, code, message }: PictureRefusal): string {
  const isPassing = status >= 500 || status === 429;
  const title = `This picture can’t be shown${isPassing ? ' now' : ''}`;
  return htmlOf(
    title,
    ['<meta name="robots" content="noindex">'],
    [`<h1>${title}</h1>`, `<p>${escaped(message)}</p>`, `<p>${escaped(code)}</p>`],
  );
}

function htmlOf(title: string, head: readonly string[], body: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
${head.join('\n')}
<style>${STYLE}</style>
</head>
<body>
<main>
${body.join('\n')}
</main>
</body>
</html>
`;
}

/** Pixels of a frame, unless the asking page has less room; the page in it scrolls if it is longer. */
const FRAME = { width: 960, height: 820 };

/**
 * Writes the oEmbed answer of a page. Nothing is asked for it, so its frame has a usual height, and it names no thumbnail,
 * whose height nobody knows before it is drawn.
 */
function oembedOf(
  { title, url }: { readonly title: string; readonly url: string },
  { maxWidth, maxHeight }: { readonly maxWidth: number; readonly maxHeight: number },
): object {
  const width = Math.min(FRAME.width, maxWidth);
  const height = Math.min(FRAME.height, maxHeight);
  return {
    version: '1.0',
    type: 'rich',
    provider_name: 'Country Graph',
    title,
    html: `<iframe src="${escaped(url)}" title="${escaped(title)}" width="${width}" height="${height}" style="border:0;max-width:100%" loading="lazy"></iframe>`,
    width,
    height,
  };
}
