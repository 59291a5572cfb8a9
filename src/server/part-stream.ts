import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Outgoing } from './outgoing.ts';
import { copyHeaders } from './raw-headers.ts';

export interface PartStreamParts {
  readonly outgoing: Outgoing;
  /** True if clients are asked to close their connections. */
  readonly isClosing: () => boolean;
  /** Called with an error that only a fault of ours can explain. */
  readonly problem: (error: unknown, requestId: string) => void;
}

const inParts = new WeakSet<object>();

/** Tells if an answer comes in parts: until it has ended, its operation may be under way. */
export function isInParts(raw: FastifyReply['raw']): boolean {
  return inParts.has(raw);
}

/**
 * Sends an answer that comes in parts, each as soon as it is there, with the status and the headers of the reply. Bytes
 * that a slow reader has not taken count with all other answers that wait, and are cut with them.
 */
export function sendParts(
  { id, raw: { socket } }: FastifyRequest,
  reply: FastifyReply,
  body: AsyncIterable<string>,
  { outgoing, isClosing, problem }: PartStreamParts,
): void {
  const { raw } = reply;
  if (isClosing()) reply.header('connection', 'close');
  reply.hijack();
  inParts.add(raw);
  copyHeaders(reply);
  raw.writeHead(reply.statusCode);
  const pour = async () => {
    for await (const part of body) {
      if (raw.destroyed) return;
      const { bytes, taken } = outgoing.addPart(socket, Buffer.from(part));
      raw.write(bytes, taken);
    }
    raw.end();
  };
  pour().catch((error: unknown) => {
    problem(error, id);
    raw.destroy();
  });
}
