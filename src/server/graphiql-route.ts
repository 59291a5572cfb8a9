import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Where `npm run build` puts the pages. */
const BUILT = fileURLToPath(new URL('../../dist/graphiql/', import.meta.url));

const YEAR_SECONDS = 31_536_000;

/**
 * Nothing from elsewhere, and no script in the page. Styles are the exception: the editor makes them as it goes, and
 * nobody else's text ever becomes part of the page.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface IdeRouteOptions {
  /** Whether subscriptions are taken. */
  readonly isLive: boolean;
  /** Demo keys of the embedded sandbox by name; null where the figures are real. */
  readonly demoKeys: Readonly<Record<string, string>> | null;
  /** The only operations that may run at the moment; null where any may. */
  readonly trusted: () => readonly { readonly id: string; readonly text: string }[] | null;
}

/** `/graphiql`: GraphiQL, from files that were built and compressed beforehand; a browser that opens `/` lands there. */
export async function graphiqlRoute(app: FastifyInstance, { demoKeys, trusted, isLive }: IdeRouteOptions) {
  const isBuilt = existsSync(BUILT);
  if (isBuilt) {
    await app.register(fastifyStatic, {
      root: BUILT,
      prefix: '/graphiql/',
      index: false,
      preCompressed: true,
      cacheControl: false,
      wildcard: false,
      setHeaders(reply, path) {
        // Names of assets change with what is in them; the page names the assets of today.
        const isAsset = path.includes('/assets/');
        reply.header('cache-control', isAsset ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache');
        reply.header('x-content-type-options', 'nosniff');
      },
    });
  }
  app.get('/graphiql', async (_request, reply) => {
    if (!isBuilt) return notBuilt(reply);
    return reply
      .header('content-security-policy', CONTENT_SECURITY_POLICY)
      .header('referrer-policy', 'no-referrer')
      .header('x-frame-options', 'DENY')
      .sendFile('index.html');
  });
  app.get('/graphiql/', async (_request, reply) => reply.redirect('/graphiql', 308));
  app.get('/graphiql/settings.json', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    return { demoKeys, isTrustedOnly: trusted() !== null, isLive };
  });
  app.get('/graphiql/documents.json', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
    return trusted() ?? [];
  });
  app.get('/', async (_request, reply) => reply.redirect('/graphiql', 302));
}

function notBuilt(reply: FastifyReply): FastifyReply {
  return reply.code(404).type('text/plain').send('GraphiQL is not built. Run: npm run build\n');
}
