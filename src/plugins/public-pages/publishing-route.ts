import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  errorBody,
  excerpt,
  Failure,
  type GatewayRequest,
  type RouteHost,
  type StartedServices,
  statusOfError,
} from '../../plugin/index.ts';
import { checkedPage } from './checked-page.ts';
import type { CountryNames } from './country-names.ts';
import type { Disk } from './disk.ts';
import { isOfOwnPage, ownOrigin } from './own-address.ts';
import { addPage, type PageFiles, PageRefusal, publisherOf, readPages, removePage } from './page-files.ts';
import { documentIdOf, headingOf, PageName, PageTerms, type PublicDocument } from './public-documents.ts';
import { JSON_TEXT } from './refusals.ts';
import { SANDBOX_PAGES_KEY } from './sample.ts';

/** Characters of a document, as many as a link to GraphiQL carries. */
const MAX_TEXT = 30_000;
const MAX_BODY_BYTES = 131_072;

const NewPage = PageTerms.pick({ title: true, note: true, theme: true, picture: true }).extend({
  name: PageName,
  query: z.string().min(1).max(MAX_TEXT),
});

/** Publisher of pages over the sandbox, whose keys are everybody's. */
const OF_SANDBOX = 'sandbox';

/** Issued key that pages run under. */
const PAGES_KEY = SANDBOX_PAGES_KEY;

interface Publishing {
  readonly disk: Disk;
  readonly files: PageFiles;
  /** Names of issued keys; null over the sandbox, where each demo key will do. */
  readonly publishers: readonly string[] | null;
  readonly served: {
    look(): Promise<void>;
    current(): ReadonlyMap<string, PublicDocument>;
    readonly countryName: CountryNames;
  };
}

/**
 * Publishes pages from GraphiQL: `POST /c`, `DELETE /c/<name>`, and `GET /c` for those of the same publisher. A browser may
 * only do it for a page of this gateway, and nobody without a key that the operator has named for it.
 */
export function publishingRoutes(
  app: FastifyInstance,
  gateway: StartedServices,
  host: RouteHost,
  { disk, files, publishers, served }: Publishing,
): void {
  const { site, problem } = host;
  const isSandbox = publishers === null;
  const publisherNames = new WeakMap<FastifyRequest, string>();
  const nameOf = (request: FastifyRequest) => publisherNames.get(request) ?? '';

  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store').header('vary', 'Authorization, Origin');
    if (!isOfOwnPage(request, host))
      throw new Failure(
        'ORIGIN_NOT_ALLOWED',
        'Only pages of this gateway may publish here. If this is one, PUBLIC_URL has to be its address.',
      );
    const name =
      publishers === null
        ? ofSandbox(request, host.demoKeys)
        : await publisherIn(received(request, site), gateway, publishers);
    publisherNames.set(request, name);
  });
  app.setErrorHandler<FastifyError | Failure>((error, request, reply) => {
    if (error instanceof PageRefusal) return refuse(request, reply, 409, 'BAD_USER_INPUT', error.message);
    if (error instanceof Failure)
      return refuse(request, reply, statusOfError({ extensions: error }), error.code, error.message);
    const status = error.statusCode ?? 500;
    if (status < 500) return refuse(request, reply, status, 'BAD_REQUEST', excerpt(error.message));
    problem(error, request.id);
    const words = 'The gateway failed to change its pages; its log says why.';
    return refuse(request, reply, 500, 'INTERNAL_SERVER_ERROR', words);
  });

  app.get('/c', async (request) => {
    const by = nameOf(request);
    const pages = Object.entries(await readPages(disk, files)).filter(([, page]) => publisherOf(page) === by);
    return { pages: pages.map(([name, page]) => ({ name, title: (page as { title?: unknown }).title })) };
  });
  app.post('/c', { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
    const parsed = NewPage.safeParse(request.body);
    if (!parsed.success) throw new Failure('BAD_USER_INPUT', firstProblem(parsed.error));
    const { name, query, ...given } = parsed.data;
    const { documents } = gateway;
    if (documents.trusted() !== null && !documents.allows(query))
      throw new Failure('DOCUMENT_NOT_ALLOWED', 'Only trusted documents run here, and this is none.');
    const document = documentIdOf(query);
    const terms = { ...given, document, key: PAGES_KEY, by: nameOf(request) };
    const { page, price } = await checkedPage(name, terms, query, gateway).catch((error: Error) => {
      throw new Failure('BAD_USER_INPUT', excerpt(error.message));
    });
    await checkReadable(received(request, site), gateway, page);
    await addPage(disk, files, { name, terms, text: query, operationName: page.operationName }, true);
    await served.look();
    if (!served.current().has(name)) {
      await removePage(disk, files, name, isSandbox);
      throw new Error(`The page ${name} is not served, since ${files.published} has an error.`);
    }
    reply.code(201);
    return { name, title: headingOf(page, {}, served.countryName), price };
  });
  app.delete<{ Params: { name: string } }>('/c/:name', async (request, reply) => {
    const { name } = request.params;
    if (!(await removePage(disk, files, name, isSandbox, nameOf(request))))
      return refuse(request, reply, 404, 'BAD_USER_INPUT', 'You have published no page of this name.');
    await served.look();
    return { name };
  });
}

/** @throws Failure for anybody without a demo key */
function ofSandbox({ headers }: FastifyRequest, demoKeys: RouteHost['demoKeys']): string {
  const [, key] = /^bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (Object.values(demoKeys ?? {}).some((demoKey) => demoKey === key)) return OF_SANDBOX;
  throw new Failure('UNAUTHENTICATED', 'Over the sandbox, its demo keys may publish, and no others.');
}

/**
 * Returns the name of the issued key.
 * @throws Failure for any other key
 */
async function publisherIn(
  request: GatewayRequest,
  gateway: StartedServices,
  publishers: readonly string[],
): Promise<string> {
  const { authorization = '' } = request.headers;
  if (authorization === '') throw new Failure('UNAUTHENTICATED', 'Send a key that may publish.');
  await gateway.checkKey(request);
  const { keyName } = await gateway.holderOf(authorization);
  const name = publishers.find((one) => one === keyName);
  if (name !== undefined) return name;
  throw new Failure('FORBIDDEN', 'This key may not publish: the operator names those that may (PUBLISHERS).');
}

/**
 * Nobody publishes what they may not read themselves, or what the key of pages may not.
 * @param own a request of the publisher
 * @throws Failure
 */
async function checkReadable(
  own: GatewayRequest,
  gateway: StartedServices,
  { text: query, sample: variables }: PublicDocument,
): Promise<void> {
  const body = { query, variables };
  checkReply(await gateway.explain(body, own));
  const reply = await gateway.explain(body, { ...own, headers: JSON_HEADERS, keyName: PAGES_KEY });
  if (reply.errors[0]?.extensions?.code === 'KEY_EXPIRED')
    throw new Failure(
      'BAD_USER_INPUT',
      `Pages run under the issued key ${PAGES_KEY}, and there is none: the operator has to create it.`,
    );
  checkReply(reply);
}

/** A request as the gateway reads it, by a page of the gateway's own. */
function received(request: FastifyRequest, site: RouteHost['site']): GatewayRequest {
  const { authorization = '', origin = ownOrigin(request, site) } = request.headers;
  const headers = { ...JSON_HEADERS, authorization, origin };
  const { signal } = new AbortController();
  return {
    method: 'POST',
    headers,
    search: '',
    body: {},
    signal,
    requestId: request.id,
    address: request.ip,
  };
}

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };

type Reply = Awaited<ReturnType<StartedServices['explain']>>;

function checkReply({ errors: [first] }: Reply): void {
  if (first === undefined) return;
  const { extensions = {}, message } = first;
  const isKnown = statusOfError({ extensions }) !== 500;
  throw new Failure(isKnown ? (extensions.code as Failure['code']) : 'BAD_USER_INPUT', message);
}

function firstProblem({ issues }: z.ZodError): string {
  const [issue] = issues;
  return excerpt(`${issue?.path.join('.') || 'The page'}: ${issue?.message}`);
}

function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  code: Parameters<typeof errorBody>[0],
  message: string,
): FastifyReply {
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  return reply
    .code(status)
    .type(JSON_TEXT)
    .send(errorBody(code, message, { requestId: request.id }));
}
