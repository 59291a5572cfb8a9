import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress, gzip as zlibGzip } from 'node:zlib';
import { Negotiator } from '@fastify/accept-negotiator';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PluginServices, RouteHost } from '../../plugin/index.ts';

/** The pages come with the gateway's package. */
const PACKAGE = dirname(createRequire(import.meta.url).resolve('country-graph/package.json'));

const BUILT = `${PACKAGE}/dist/graphiql/`;

const PAGE = `${BUILT}index.html`;

const ASSETS = `${BUILT}assets/`;

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.ttf': 'font/ttf',
};

const YEAR_SECONDS = 31_536_000;

const LASTING = { 'cache-control': `public, max-age=${YEAR_SECONDS}, immutable` };

/** Characters; parsing the longest possible header would take milliseconds. */
const MAX_ACCEPTED = 300;

const negotiator = new Negotiator({ supportedValues: ['br', 'gzip', 'identity'] });
const [unpack, gzip] = [promisify(brotliDecompress), promisify(zlibGzip)];

/** Allows inline scripts by digest. Inline styles are all allowed, since the editor makes them as it goes. */
function policyOf(page: string): string {
  const inlineScripts = Array.from(page.matchAll(/<script>(.*?)<\/script>/gs), ([, text = '']) => text);
  const scripts = inlineScripts.map((text) => `'sha256-${hash('sha256', text, 'base64')}'`);
  return [
    `default-src 'none'; script-src ${["'self'", ...scripts].join(' ')}; worker-src 'self'; connect-src 'self'`,
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:",
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ].join('; ');
}

interface PublicPages {
  /** True if some may publish from here. */
  isOpen(): boolean;
  documents(): readonly { readonly name: string; readonly title: string | null; readonly text: string }[];
}

/** Serves the built pages. All addresses are relative, so that a proxy may serve them below a path. */
export async function graphiqlRoute(
  app: FastifyInstance,
  { demoKeys, trusted, site: { sourceNames, attribution, publicUrl }, bodies }: RouteHost,
  api: PluginServices['api'],
) {
  const isBuilt = existsSync(PAGE);
  if (isBuilt) {
    await app.register(assetsBy(bodies));
    // `Cache-Control: no-cache` of a reload must not defeat the tag.
    app.addHook('onRequest', async ({ headers }) => {
      if (headers['if-none-match'] !== undefined) delete headers['cache-control'];
    });
  }
  const built = isBuilt ? readFileSync(PAGE, 'utf8') : null;
  const page = built && opened(built, demoKeys !== null, trusted() !== null);
  app.get('/graphiql/', pageHandler(page, bodies));
  app.get('/graphiql', pageHandler(page && besideAssets(page), bodies));
  app.get('/graphiql/settings.json', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    const pages = api<PublicPages>('public-pages');
    return {
      demoKeys,
      isTrustedOnly: trusted() !== null,
      isLive: api('subscriptions') !== null,
      hasOffline: api('offline') !== null,
      sourceNames: Object.fromEntries(sourceNames),
      attribution,
      publicUrl,
      canPublish: pages?.isOpen() ?? false,
      publicDocuments: (pages?.documents() ?? []).map(({ name, title, text }) => ({
        name,
        title: title ?? name,
        text,
      })),
    };
  });
  app.get('/graphiql/documents.json', async (request, reply) => {
    reply.type('application/json; charset=utf-8').header('cache-control', 'no-store');
    bodies.sendBody(request, reply, JSON.stringify(trusted() ?? []));
    return reply;
  });
  app.get('/', async (_request, reply) => reply.redirect('graphiql', 302));
}

/** Files only exist as Brotli; clients that don't accept it get them unpacked. */
const assetsBy =
  ({ isSentByTag }: RouteHost['bodies']) =>
  async (app: FastifyInstance): Promise<void> => {
    const names = new Set(readdirSync(ASSETS));
    const packed = new Map<string, Promise<Buffer>>();
    app.addHook<{ Params: { '*'?: string } }>('onRequest', async (request, reply) => {
      const { '*': name = '' } = request.params;
      const { 'accept-encoding': accepted = '' } = request.headers;
      const encoding = accepted.length <= MAX_ACCEPTED ? negotiator.negotiate(accepted) : 'identity';
      if (!names.has(`${name}.br`)) return;
      reply.headers(LASTING);
      // The name has a digest of the contents.
      if (isSentByTag(request, reply, `W/"${name}"`)) return reply;
      if (encoding === 'br') return;
      reply.type(TYPES[extname(name)] ?? 'application/octet-stream');
      const unpacked = async () => unpack(await readFile(`${ASSETS}${name}.br`));
      if (encoding !== 'gzip') return reply.send(await unpacked());
      const gzipped = packed.get(name) ?? unpacked().then((bytes) => gzip(bytes));
      packed.set(name, gzipped);
      return reply.header('content-encoding', 'gzip').send(await gzipped);
    });
    await app.register(fastifyStatic, {
      root: ASSETS,
      prefix: '/graphiql/assets/',
      index: false,
      preCompressed: true,
      cacheControl: false,
      // None of these is of use here: our tag shows changes, and nobody requests ranges.
      etag: false,
      lastModified: false,
      acceptRanges: false,
    });
  };

function pageHandler(page: string | null, { taggedText }: RouteHost['bodies']) {
  if (page === null)
    return async (_request: FastifyRequest, reply: FastifyReply) =>
      reply.code(404).type('text/plain').send('GraphiQL is not built. Run: npm run build\n');
  const policy = policyOf(page);
  const text = taggedText(() => page);
  return async (request: FastifyRequest, reply: FastifyReply) => {
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', policy)
      .header('referrer-policy', 'no-referrer')
      .header('x-frame-options', 'DENY');
    return text(request, reply);
  };
}

/** Removes what is said of the sandbox where there is none, and example queries that may not run. */
function opened(page: string, isSandbox: boolean, isTrustedOnly: boolean): string {
  if (isTrustedOnly) return page.replace(/<section class="opening".*?<\/section>/s, '');
  return isSandbox ? page : page.replace(/<span class="of-sandbox">.*?<\/span>/s, '');
}

/** Adapts the relative addresses of `/graphiql/` to `/graphiql`. */
function besideAssets(page: string): string {
  return page.replaceAll(/(?<=(?:src|href)=")(\.\.?)\//g, (_, from) => (from === '.' ? './graphiql/' : './'));
}
