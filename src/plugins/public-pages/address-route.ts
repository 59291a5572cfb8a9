import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type AnswerTable,
  attributionHeader,
  ChangedRequest,
  type Drawing,
  excerpt,
  Failure,
  type GatewayRequest,
  type GatewayResponse,
  numberOf,
  type PluginHost,
  type RouteHost,
  type StartedServices,
  type Turns,
  visitorOf,
} from '../../plugin/index.ts';
import type { NamedSource } from './attribution.ts';
import { countryChoiceOf } from './country-choice.ts';
import { type CountryNames, countryNames } from './country-names.ts';
import { FORMS, type Form, formsBeside, isCsv, isForm, whyNot } from './document-forms.ts';
import { Drawer, Drawings, TOO_LONG } from './drawer.ts';
import { pictureBounds } from './memory.ts';
import { datasetOf, metadataText, type PageMetadata } from './metadata.ts';
import { openApiOf } from './openapi.ts';
import { ownAddress } from './own-address.ts';
import {
  FRAMES_SCRIPT,
  ICON,
  oembedOf,
  PAGE_WIDTHS,
  pageOf,
  pagePolicy,
  picturePolicy,
  summaryOf,
} from './page.ts';
import {
  headingOf,
  lookIn,
  nameInWords,
  openPublicDocuments,
  type PictureLook,
  type PublicDocument,
  parametersInWords,
  pictureIn,
  variablesIn,
} from './public-documents.ts';
import { absent, badRequest, HTML, JSON_TEXT, refusalIn, refusalOf, refuse } from './refusals.ts';

interface Tables {
  written(
    accept: string,
    table: AnswerTable | null,
    response: GatewayResponse,
    turns: Turns,
    maxAnswerBytes: number,
  ): Promise<GatewayResponse>;
}

/** Headers that are passed on with a table, which has no other place for errors and warnings. */
const OF_TABLES: ReadonlySet<string> = new Set(['content-type', 'x-graphql-errors', 'x-graphql-warnings']);

// Parts of GraphiQL, as `npm run build` makes them: they draw pictures, add the fields to an operation that its picture
// needs, and run in pages.
const DRAWING_CODE = 'dist/graphiql/pictures/picture-worker.js';
const NEEDED_FIELDS = 'dist/graphiql/pictures/needed-fields.js';
const PAGE_SCRIPT = 'dist/graphiql/pages/page-script.js';

/** Returns null if an operation asks for no figures. */
type WithNeededFields = (text: string, operationName?: string) => { readonly query: string } | null;

/** Seconds for which others may cache the embedding code of a page. */
const EMBED_SECONDS = 3_600;

/**
 * Characters of an address's parameters, encoded as part of the address of oEmbed, which is the longest that a page
 * refers to. Proxies take a request line of 8,190 bytes, and the rest is for the page's own address: a list of a thousand countries fits.
 */
const MAX_GIVEN = 7_500;

/** Milliseconds for which names of sources, or their absence, are cached. */
const NAMES_MS = 60_000;
type SourceNames = Awaited<ReturnType<StartedServices['sourceNames']>>;
const NO_NAMES: SourceNames = new Map();

interface Visit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly document: PublicDocument;
  readonly form: Form;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The parameters of the address that count, as they were written. */
  readonly given: string;
  readonly look: ReturnType<typeof lookIn> & { readonly picture: PictureLook };
  /** Names of lines that the address gives. */
  readonly named: readonly string[];
  /** The document, with the fields that its picture needs. */
  readonly drawnText: string;
  /** The operation, under the document's key. */
  readonly asked: GatewayRequest;
}

/**
 * Serves `/c/<name>` in all its forms, `/oembed` and `/openapi.json`. A document runs as an ordinary operation under the
 * issued key that the operator has named for it.
 * @throws Error of the settings if one of them can't be served
 */
export async function addressRoute(
  app: FastifyInstance,
  gateway: StartedServices,
  host: RouteHost,
  pages: PageSettings,
) {
  const { problem, site, bodies, unread } = host;
  const { file, files: disk, leaveOut } = pages;
  const [drawingCode = '', neededFields = '', pageScript = ''] = [
    DRAWING_CODE,
    NEEDED_FIELDS,
    PAGE_SCRIPT,
  ].map((built) => disk.ofPackage(built));
  if (![drawingCode, neededFields, pageScript].every((built) => existsSync(built)))
    throw gateway.settingsError('PUBLIC_DOCUMENTS: what draws pictures is not built. Run: npm run build');
  const onProblem = (error: unknown) => problem(error, '');
  const { current, look, stop } = await openPublicDocuments(file, { gateway, disk, onProblem, leaveOut });
  const isSynthetic = host.demoKeys !== null;
  const { sourceNames, attribution } = site;
  const bounds = pictureBounds(gateway.limits);
  const { maxPixels, answerBytes } = bounds;
  const drawer = new Drawer(drawingCode, { isSynthetic, sourceNames, attribution, maxPixels }, bounds);
  app.addHook('onClose', () => {
    stop();
    return drawer.close();
  });
  const drawings = new Drawings(drawer, bounds.drawingBytes);
  const { withNeededFields } = await import(pathToFileURL(neededFields).href);
  const script = readFileSync(pageScript, 'utf8').trim();
  const version = pages.release();
  const built = { withNeededFields, countryName: await countryNames(disk), script };
  const means = { current, look, drawings, answerBytes, ...built, version, now: pages.now };
  const address = new PublicAddress(gateway, host, means);

  app.addHook('onRequest', (request, reply, done) => {
    const ending = unread.ending();
    if (ending !== null) refuse(request, reply, refusalOf(ending, request.id));
    else done();
  });
  app.setErrorHandler<FastifyError | Failure>((error, request, reply) => {
    if (error instanceof Failure) return refuse(request, reply, refusalOf(error, request.id));
    const status = error.statusCode ?? 500;
    if (status < 500) return refuse(request, reply, badRequest(status, excerpt(error.message), request.id));
    problem(error, request.id);
    const words = 'The gateway failed to answer.';
    return refuse(request, reply, badRequest(500, words, request.id, 'INTERNAL_SERVER_ERROR'));
  });

  const base = (request: FastifyRequest) => ownAddress(request, site);
  app.get<{ Params: { file: string } }>('/c/:file', (request, reply) =>
    address.answer(request, reply, request.params.file, base(request)),
  );
  app.get('/c/frames.js', (_request, reply) =>
    reply
      .type('text/javascript; charset=utf-8')
      .header('cache-control', `public, max-age=${EMBED_SECONDS}`)
      .header('cross-origin-resource-policy', 'cross-origin')
      .send(FRAMES_SCRIPT),
  );
  // Browsers ask for the one at the root by themselves.
  for (const path of ['/c/favicon.ico', '/favicon.ico'])
    app.get(path, (_request, reply) =>
      reply
        .type(FORMS.svg.type)
        .header('cache-control', `public, max-age=${EMBED_SECONDS}`)
        .header('cross-origin-resource-policy', 'cross-origin')
        .send(ICON),
    );
  app.get('/oembed', (request, reply) => address.embed(request, reply));
  const { text: openApi, things } = openApiOf(gateway, current);
  for (const path of ['/openapi.json', '/c/openapi.json'])
    app.get(path, async (request, reply) => {
      const text = await openApi(base(request), version);
      reply.type(JSON_TEXT);
      reply.header('cache-control', addressed('public, no-cache', site));
      if (!bodies.isSentByTag(request, reply, `W/"${digestOf(text)}"`)) bodies.sendBody(request, reply, text);
      return reply;
    });
  return { listed: () => [...current().values()], current, look, countryName: built.countryName, things };
}

interface PageSettings extends Pick<PluginHost, 'files' | 'now' | 'release'> {
  readonly file: string;
  /** Warned of what is left out; if null, a document that can't be public fails the file. */
  readonly leaveOut: ((words: string) => void) | null;
}

interface PageMeans extends Pick<PluginHost, 'now'> {
  /** Of the gateway. */
  readonly version: string;
  /** Bytes of an answer that can be drawn. */
  readonly answerBytes: number;
  readonly current: () => ReadonlyMap<string, PublicDocument>;
  /** Reads the file now if it has changed. */
  readonly look: () => Promise<void>;
  readonly drawings: Drawings;
  readonly withNeededFields: WithNeededFields;
  readonly countryName: CountryNames;
  readonly script: string;
}

class PublicAddress {
  readonly #gateway: StartedServices;
  readonly #host: RouteHost;
  readonly #means: PageMeans;
  readonly #drawnDocuments = new WeakMap<PublicDocument, Pick<PublicDocument, 'text' | 'documentId'>>();
  /** By the name of the key under which they are cached. */
  readonly #sourceNames = new Map<
    string,
    { readonly names: Promise<SourceNames>; readonly untilMs: number }
  >();

  constructor(gateway: StartedServices, host: RouteHost, means: PageMeans) {
    this.#gateway = gateway;
    this.#host = host;
    this.#means = means;
  }

  /** Returns the document with the further fields that pictures need. */
  #drawnOf(document: PublicDocument): Pick<PublicDocument, 'text' | 'documentId'> {
    const cachedDocument = this.#drawnDocuments.get(document);
    if (cachedDocument !== undefined) return cachedDocument;
    const needed = this.#means.withNeededFields(document.text, document.operationName);
    const drawn =
      needed === null
        ? document
        : { text: needed.query, documentId: this.#gateway.documents.admit(needed.query) };
    this.#drawnDocuments.set(document, drawn);
    return drawn;
  }

  /** Reads the names of sources from the cache, at no call. */
  #sourceNamesFor({ document, asked }: Visit): Promise<SourceNames> {
    const nowMs = this.#means.now();
    const entry = this.#sourceNames.get(document.key);
    if (entry !== undefined && nowMs < entry.untilMs) return entry.names;
    const names = this.#gateway.sourceNames(asked).catch((error: unknown) => {
      this.#host.problem(error, asked.requestId ?? '');
      return NO_NAMES;
    });
    this.#sourceNames.set(document.key, { names, untilMs: nowMs + NAMES_MS });
    return names;
  }

  /** @param file name of the document, and the ending of the form */
  async answer(
    request: FastifyRequest,
    reply: FastifyReply,
    file: string,
    base: string,
  ): Promise<FastifyReply> {
    const [name = '', ...rest] = file.split('.');
    const ending = rest.length === 0 ? 'page' : rest.join('.');
    const form = isForm(ending) ? ending : undefined;
    const document = await this.#find(name);
    if (document === undefined || form === undefined || file.endsWith('.page')) return absent(request, reply);
    const search = searchOf(request.url);
    const { variables, given: parameters } = variablesIn(document, search);
    const { picture, given: looks } = pictureIn(search);
    const { highlight = [], focus = [] } = picture;
    const look = {
      ...lookIn(search, hasAddress(form), document.theme),
      picture: { ...document.look, ...picture },
    };
    const given = givenIn(parameters, looks);
    const { documentId, operationName } = document;
    const asking: GatewayRequest = {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
      search: '',
      body: { documentId, operationName, variables },
      signal: this.#host.gone(reply),
      requestId: request.id,
      address: request.ip,
    };
    const entered = await this.#gateway.named(document.key, asking);
    const { origins } = entered;
    const policy = form === 'page' ? pagePolicy(origins, this.#means.script) : picturePolicy(origins);
    reply
      .header('content-security-policy', policy)
      .header('cross-origin-resource-policy', 'cross-origin')
      .header(...attributionHeader(this.#host.site.attribution))
      // Otherwise readers of tables would request ranges.
      .header('accept-ranges', 'none')
      .header('referrer-policy', 'strict-origin-when-cross-origin');
    const why = whyNot(form, document);
    if (why !== null) return refuse(request, reply, badRequest(406, why, request.id));
    const drawn = this.#drawnOf(document);
    const asked = isDrawn(form)
      ? new ChangedRequest(entered.request, {
          body: { documentId: drawn.documentId, operationName, variables },
        })
      : entered.request;
    const visit = { request, reply, document, form, variables, given, look, drawnText: drawn.text, asked };
    await this.#answer({ ...visit, named: [focus, highlight].flat() }, base);
    return reply;
  }

  /** Another process may just have published it. */
  async #find(name: string): Promise<PublicDocument | undefined> {
    const document = this.#means.current().get(name);
    if (document !== undefined) return document;
    await this.#means.look();
    return this.#means.current().get(name);
  }

  /** Answers oEmbed, at no call. */
  embed(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { url = '', format = 'json', maxwidth, maxheight } = Object.fromEntries(searchOf(request.url));
    if (format !== 'json')
      return refuse(request, reply, badRequest(501, 'Only format=json is there.', request.id));
    const [path = '', search = ''] = url.split('?', 2);
    const start = `${ownAddress(request, this.#host.site, url)}/c/`;
    const document = path.startsWith(start) ? this.#means.current().get(path.slice(start.length)) : undefined;
    if (document === undefined) return absent(request, reply);
    const parameters = new URLSearchParams(search);
    const { variables, given: ofVariables } = variablesIn(document, parameters);
    lookIn(parameters, true);
    const theme = parameters.get('theme');
    const ofTheme = theme === null ? '' : `theme=${theme}`;
    const given = givenIn(ofVariables, pictureIn(parameters).given, ofTheme);
    const embed = {
      title:
        headingOf(document, variables, this.#means.countryName) ??
        document.description ??
        nameInWords(document.name),
      scriptUrl: `${start}frames.js`,
      url: `${start}${besidePage(document, given)('')}`,
      attribution: this.#host.site.attribution,
    };
    const room = { maxWidth: pixelsIn(maxwidth), maxHeight: pixelsIn(maxheight) };
    reply
      .header('cache-control', addressed(`public, max-age=${EMBED_SECONDS}`, this.#host.site))
      .type(JSON_TEXT);
    return reply.send(JSON.stringify(oembedOf(embed, room)));
  }

  async #answer(visit: Visit, base: string): Promise<void> {
    const { request, reply, document, form, look, given, asked } = visit;
    const response = await this.#gateway.handle(asked);
    const body = await this.#gateway.textOf(response);
    const dataTag = response.status === 200 ? response.headers.get('etag') : undefined;
    if (dataTag === undefined) {
      const refusal = refusalIn(response.status, body);
      const retryAfter = response.headers.get('retry-after');
      if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
      if (refusal !== null) return void refuse(request, reply, refusal);
    }
    // The bytes of a form depend on nothing else.
    const sourceNames = isDrawn(form) ? await this.#sourceNamesFor(visit) : NO_NAMES;
    const { attribution, sourceNames: ownNames } = this.#host.site;
    const names = isDrawn(form) ? [attribution, ...ownNames, ...sourceNames] : [];
    const name = digestOf(dataTag ?? body, form, document, look, given, names, this.#means.version);
    const isPage = form === 'page';
    const lasting = hasAddress(form) ? addressed(cachingOf(response), this.#host.site) : cachingOf(response);
    const caching = dataTag === undefined ? 'no-store' : lasting;
    const tag = hasAddress(form) ? digestOf(name, base) : name;
    reply.header('cache-control', caching);
    if (dataTag !== undefined && this.#host.bodies.isSentByTag(request, reply, `W/"${tag}"`)) return;
    if (form === 'json') return this.#send(visit, JSON_TEXT, body);
    if (FORMS[form].kind === 'table') return this.#sendTable(visit, { ...response, body });
    const drawing = await this.#draw(visit, { body, name: form === 'html' ? tag : name, sourceNames, base });
    if (drawing.unknown !== undefined) throw unknownLine(drawing.unknown);
    if (FORMS[form].kind === 'page') {
      const content = contentOf(visit, drawing, base, this.#means, attribution);
      const metadata = metadataFor(content, visit, this.#host.demoKeys !== null);
      if (isPage) return this.#send(visit, HTML, pageOf({ ...content, dataset: datasetOf(metadata) }));
      return this.#send(visit, JSON_TEXT, metadataText(metadata));
    }
    if (drawing.bytes === null) {
      const message = 'This answer has no figures that make a picture. Ask for its page or its data.';
      return void refuse(request, reply, badRequest(406, message, request.id));
    }
    if (form === 'html') reply.header('content-disposition', `attachment; filename="${document.name}.html"`);
    if (typeof drawing.bytes === 'string')
      return this.#send(visit, `${FORMS[form].type}; charset=utf-8`, drawing.bytes);
    reply.type('image/png').send(Buffer.from(drawing.bytes));
  }

  async #draw(
    { request, document, form, variables, given, look, named, drawnText: query }: Visit,
    { body, name, sourceNames, base }: { body: string; name: string; sourceNames: SourceNames; base: string },
  ): Promise<Drawing> {
    if (body.length > this.#means.answerBytes) throw new Failure('BAD_USER_INPUT', TOO_LONG);
    const visitor = visitorOf(request.ip);
    const { operationName, note } = document;
    const heading = headingOf(document, variables, this.#means.countryName);
    const { width, isBare, hasTips, theme } = look;
    const from = `${base}/c/${besidePage(document, given)('')}`;
    const asked =
      FORMS[form].kind === 'page'
        ? ({
            form: 'facts',
            theme: 'light',
            width: PAGE_WIDTHS[0],
            isBare: true,
            widths: PAGE_WIDTHS,
          } as const)
        : ({
            form: form === 'png' || form === 'html' ? form : 'svg',
            theme,
            width,
            isBare,
            hasTips,
            file: { name: document.name, from },
          } as const);
    const drawn = {
      query,
      operationName,
      variables,
      body,
      look: look.picture,
      named,
      heading,
      note,
      sourceNames,
    };
    return this.#means.drawings.get(name, { ...drawn, ...asked }, visitor);
  }

  async #sendTable(
    { request, reply, form, document, look }: Visit,
    response: GatewayResponse,
  ): Promise<void> {
    const accept = isCsv(form) && look.isMarked ? `${FORMS[form].type}; bom=present` : FORMS[form].type;
    const { answerBytes } = this.#gateway.limits;
    const turns = this.#gateway.turnsFor(null);
    const tables = this.#gateway.api<Tables>('csv-tables');
    const table = await tables?.written(accept, document.table, response, turns, answerBytes);
    if (table === undefined) throw new Error('The plugin csv-tables is off.');
    const headers = [...table.headers].filter(([name]) => OF_TABLES.has(name));
    this.#host.sendAnswer(request, reply, { ...table, headers: new Map(headers) });
  }

  #send({ request, reply }: Visit, type: string, body: string): void {
    const headers = new Map([['content-type', type]]);
    this.#host.sendAnswer(request, reply, { status: 200, headers, body });
  }
}

function contentOf(
  { document, given, variables, look: { theme } }: Visit,
  { facts, warnings }: Drawing,
  base: string,
  { script, countryName }: Pick<PageMeans, 'script' | 'countryName'>,
  attribution: NamedSource,
) {
  const beside = besidePage(document, given);
  const url = `${base}/c/${beside('')}`;
  const forms = formsBeside(document).filter((form) => facts !== null || FORMS[form].kind !== 'picture');
  const ofTheme = theme === (document.theme ?? 'auto') ? '' : `theme=${theme}`;
  return {
    name: document.name,
    title: headingOf(document, variables, countryName) ?? facts?.title ?? nameInWords(document.name),
    description: document.description,
    note: document.note,
    facts,
    attribution,
    warnings,
    theme,
    script,
    beside,
    forms,
    parameters: parametersInWords(document),
    countries: countryChoiceOf(document, variables, joined(given, ofTheme)),
    countryName,
    url,
    imageUrl: `${base}/c/${beside('png')}`,
    oembedUrl: `${base}/oembed?url=${encodeURIComponent(url)}`,
  };
}

function metadataFor(
  content: ReturnType<typeof contentOf>,
  { document, given }: Visit,
  isSynthetic: boolean,
): PageMetadata {
  const { title, facts, url, attribution } = content;
  const beside = besidePage(document, given);
  const data = formsBeside(document).filter((form) => ['data', 'table'].includes(FORMS[form].kind));
  return {
    title,
    description: [isSynthetic ? SYNTHETIC : '', summaryOf(content)].filter((part) => part !== '').join(' '),
    url,
    attribution,
    isSynthetic,
    figures: facts?.metadata ?? null,
    files: data.map((form) => [FORMS[form].type, new URL(beside(form), url).href]),
  };
}

const SYNTHETIC = 'Synthetic figures of the embedded sandbox: none of them is real.';

/** True for forms with the gateway's address in them. */
const hasAddress = (form: Form) => FORMS[form].kind === 'page' || form === 'html';

const isDrawn = (form: Form) => FORMS[form].kind === 'page' || FORMS[form].kind === 'picture';

const joined = (...parameters: readonly string[]) => parameters.filter((part) => part !== '').join('&');

/**
 * Joins the parameters that an address gives.
 * @throws Failure BAD_USER_INPUT if others wouldn't take the addresses that its page refers to
 */
function givenIn(...parameters: readonly string[]): string {
  const given = joined(...parameters);
  const { length } = encodeURIComponent(given);
  if (length > MAX_GIVEN) throw new Failure('BAD_USER_INPUT', tooLongParameters(length));
  return given;
}

const tooLongParameters = (length: number) =>
  `The parameters of this address are too long for links: encoded they have ${length.toLocaleString('en')} characters, and may have ${MAX_GIVEN.toLocaleString('en')}.`;

/** Makes addresses of forms, relative to that of the page, which has no ending. */
function besidePage({ name }: PublicDocument, given: string): (form: string, look?: string) => string {
  return (form, look = '') => {
    const parameters = joined(given, look);
    return `${name}${form === '' ? '' : `.${form}`}${parameters === '' ? '' : `?${parameters}`}`;
  };
}

/**
 * Restricts the caching of an answer with the gateway's address in it: without PUBLIC_URL, that is the `Host` of the
 * request, which anybody may forge.
 */
function addressed(caching: string, { publicUrl }: RouteHost['site']): string {
  return publicUrl === null ? caching.replace('public', 'private') : caching;
}

/** A public document is the same for everybody, so shared caches may keep it. */
function cachingOf({ headers }: GatewayResponse): string {
  const [seconds] = /(?<=max-age=)\d+/.exec(headers.get('cache-control') ?? '') ?? [];
  return seconds === undefined ? 'public, no-cache' : `public, max-age=${seconds}`;
}

function searchOf(url: string): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at === -1 ? '' : url.slice(at));
}

function unknownLine({ name, known }: NonNullable<Drawing['unknown']>): Failure {
  const words = `No line of this picture is named ${JSON.stringify(excerpt(name, 100))}; there are ${known.join(', ')}.`;
  return new Failure('BAD_USER_INPUT', excerpt(words, 2_000));
}

function pixelsIn(text = ''): number {
  const pixels = numberOf(text);
  return pixels !== null && pixels >= 1 ? pixels : Number.POSITIVE_INFINITY;
}

function digestOf(...parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 27);
}
