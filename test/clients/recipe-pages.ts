import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import fastify from 'fastify';

export const FOLDER = fileURLToPath(new URL('../../clients/recipes/', import.meta.url));
const PAGES = `${FOLDER}dist`;
export const areBuilt = process.env.CI === 'true' || existsSync(PAGES);

export type RecipePages = Awaited<ReturnType<typeof servePages>>;

/** Serves the pages of all recipes from an origin of their own. */
export async function servePages() {
  const app = fastify();
  await app.register(fastifyStatic, { root: PAGES });
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  return { origin, close: () => app.close() };
}
