import type { FastifyInstance } from 'fastify';
import type { ModelsSection } from '../plugin/definition.ts';
import { type NamedSource, nameAndPage } from '../shared/source-names.ts';
import { sendBody } from './bodies.ts';

/** Short, since prices and documents change. */
const CACHE_SECONDS = 60;

const GRAPHQL = [
  '- [GraphQL](graphql): POST, GET or QUERY. With the header `x-explain: 1` nothing is sent, and the answer is the price.',
  '- [Schema](schema.graphql?for=clients): types and fields with their descriptions, where it is not switched off.',
];

/** Serves `/llms.txt`, which describes this gateway to models. Its links are relative to its own address. */
export function llmsRoute(
  app: FastifyInstance,
  sections: readonly ModelsSection[],
  attribution: NamedSource,
): void {
  app.get('/llms.txt', async (request, reply) => {
    reply.type('text/plain; charset=utf-8').header('cache-control', `public, max-age=${CACHE_SECONDS}`);
    const parts: string[] = [];
    for (const { heading, things } of sections) {
      const lines = (await things()).map(
        ({ name, words }) => `- ${name}: ${words.replaceAll(/\s+/g, ' ').trim()}`,
      );
      parts.push(`## ${heading}`, lines.join('\n'));
    }
    const text = `${[
      '# Country Graph',
      '> A GraphQL gateway over a metered service of figures about African countries: each answer tells what it has cost in calls.',
      `Data: ${nameAndPage(attribution)}. Name it beside the figures.`,
      '## Ways to ask',
      [...sections.map(({ way }) => way), ...GRAPHQL].join('\n'),
      ...parts,
    ].join('\n\n')}\n`;
    sendBody(request, reply, text);
    return reply;
  });
}
