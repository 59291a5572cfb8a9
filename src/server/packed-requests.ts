import { Transform, type TransformCallback } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { Unreadable } from '../service/bodies.ts';
import { ENCODINGS, encodingsIn, openUnpacking, TooLarge } from '../service/unpacking.ts';

/** Fastify compares `receivedEncodedLength` with `Content-Length`. */
class Unpacking extends Transform {
  receivedEncodedLength = 0;
  readonly #unpacking: ReturnType<typeof openUnpacking>;
  #goOn: TransformCallback = () => {};

  constructor(encodings: NonNullable<ReturnType<typeof encodingsIn>>, maxBytes: number) {
    super();
    this.#unpacking = openUnpacking(encodings, maxBytes, {
      onData: (chunk) => void this.push(chunk),
      onEnd: () => this.#goOn(),
      onDrain: () => this.#goOn(),
      onError: (reason) => this.destroy(statused(reason, reason instanceof TooLarge ? 413 : 400)),
    });
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.receivedEncodedLength += chunk.length;
    this.#goOn = done;
    if (this.#unpacking.write(chunk)) done();
  }

  override _flush(done: TransformCallback): void {
    this.#goOn = done;
    this.#unpacking.end();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#unpacking.close();
    done(error);
  }
}

function statused(reason: Error, statusCode: number): Error {
  return Object.assign(reason, { statusCode });
}

/** Decompresses bodies. The bound of bodies holds for what they unpack to. */
export function readPacked(app: FastifyInstance): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    const named = request.headers['content-encoding'];
    if (named === undefined || request.method === 'GET' || request.method === 'HEAD')
      return done(null, payload);
    try {
      const encodings = encodingsIn(named);
      if (encodings === null) return done(null, payload);
      const unpacking = new Unpacking(encodings, request.routeOptions.bodyLimit ?? 0);
      payload.once('close', () => {
        if (!request.raw.complete) unpacking.destroy(new Error('The client has left.'));
      });
      // Fastify listens only until it has answered.
      unpacking.on('error', () => {});
      done(null, payload.pipe(unpacking));
    } catch (error) {
      if (!(error instanceof Unreadable)) return done(error as Error);
      reply.header('accept-encoding', ENCODINGS);
      done(statused(new Error(`Send bodies as they are, or in one of ${ENCODINGS}.`), 415));
    }
  });
}
