import type { FastifyReply, FastifyRequest } from 'fastify';
import { entityTag, isHeld } from '../operations/responses.ts';

/** Sends a text that hardly ever changes, with a tag: a client that has it already gets the tag alone. */
export function taggedText(read: () => string): (request: FastifyRequest, reply: FastifyReply) => string {
  let named = { text: '', etag: '' };
  return ({ headers }, reply) => {
    const text = read();
    if (named.etag === '' || text !== named.text) named = { text, etag: entityTag([text]) };
    reply.header('etag', named.etag).header('cache-control', 'no-cache');
    if (!isHeld(headers['if-none-match'], named.etag)) return text;
    reply.code(304);
    return '';
  };
}
