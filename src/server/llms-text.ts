import type { FastifyInstance } from 'fastify';
import type { ModelsSection } from '../gateway/plugin.ts';

/** Seconds for which others may keep the text: prices and documents change. */
const CACHE_SECONDS = 60;

const GRAPHQL = [
  '- [GraphQL](graphql): POST, GET or QUERY. With the header `x-explain: 1` nothing is sent, and the answer is the price.',
  '- [Schema](schema.graphql?for=clients): types and fields with their descriptions, where it is not switched off.',
];

/**
 * Serves `/llms.txt`: a text that tells a model of this gateway before it asks, with addresses as they are seen from that
 * one.
 */
export function llmsRoute(app: FastifyInstance, sections: readonly ModelsSection[]): void {
  app.get('/llms.txt', async (_request, reply) => {
    reply.type('text/plain; charset=utf-8').header('cache-control', `public, max-age=${CACHE_SECONDS}`);
    const parts: string[] = [];
    for (const { heading, things } of sections) {
      const lines = (await things()).map(
        ({ name, words }) => `- ${name}: ${words.replaceAll(/\s+/g, ' ').trim()}`,
      );
      parts.push(`## ${heading}`, lines.join('\n'));
    }
    return `${[
      '# Country Graph',
      '> A GraphQL gateway over a metered service of figures about African countries: each answer tells what it has cost in calls.',
      '## Ways to ask',
      [...sections.map(({ way }) => way), ...GRAPHQL].join('\n'),
      ...parts,
    ].join('\n\n')}\n`;
  });
}
