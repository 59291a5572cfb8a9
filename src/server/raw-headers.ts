import type { FastifyReply } from 'fastify';

/**
 * Copies the headers of a reply to the raw response, which sends them once the reply is taken out of the server's hands
 * (`hijack`).
 */
export function copyHeaders(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
}
