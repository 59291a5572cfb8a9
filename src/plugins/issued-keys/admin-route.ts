import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { csvLine, numberOf } from '../../plugin/index.ts';
import { type KeyDesk, KeyError, USAGE_COLUMNS, usageCells } from './key-desk.ts';

const MAX_BODY_BYTES = 32_768;

const Rotation = z.strictObject({ overlapSeconds: z.number().optional() });

const UsageQuery = z.object({ days: z.string().optional(), key: z.string().optional() });

/** @throws KeyError */
function readAs<Form extends z.ZodType>(form: Form, given: unknown): z.output<Form> {
  const read = form.safeParse(given);
  if (!read.success) throw new KeyError(400, z.prettifyError(read.error));
  return read.data;
}

const hashed = (text: string) => createHash('sha256').update(text).digest();

export async function adminRoutes(
  app: FastifyInstance,
  { desk, operatorKey }: { readonly desk: KeyDesk; readonly operatorKey: string },
): Promise<void> {
  const expected = hashed(`Bearer ${operatorKey}`);
  const nameIn = ({ params }: FastifyRequest) => String((params as { name?: unknown }).name);

  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const given = request.headers.authorization?.replace(/^bearer +/i, 'Bearer ') ?? '';
    if (timingSafeEqual(hashed(given), expected)) return;
    reply.code(401).header('www-authenticate', 'Bearer');
    return reply.send({ error: 'Unauthorized', message: 'Send OPERATOR_KEY as the bearer.' });
  });
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    const status = error instanceof KeyError ? error.status : (error.statusCode ?? 503);
    const message = status < 500 ? error.message : 'The store of issued keys has not answered.';
    return reply.code(status).send({ error: status < 500 ? 'Refused' : 'Unavailable', message });
  });

  const usageFor = async (request: FastifyRequest) => {
    const { days, key } = readAs(UsageQuery, request.query);
    return desk.usage({ ...(days === undefined ? {} : { days: numberOf(days) ?? Number.NaN }), name: key });
  };
  app.get('/usage', usageFor);
  app.get('/usage.csv', async (request, reply) => {
    const { usage } = await usageFor(request);
    reply.type('text/csv; charset=utf-8');
    return [USAGE_COLUMNS, ...usage.map(usageCells)].map(csvLine).join('');
  });
  app.get('/keys', () => desk.list());
  app.post('/keys', { bodyLimit: MAX_BODY_BYTES }, async ({ body }, reply) => {
    reply.code(201);
    return desk.create(body);
  });
  app.get('/keys/:name', (request) => desk.show(nameIn(request)));
  app.delete('/keys/:name', (request) => desk.revoke(nameIn(request)));
  app.post('/keys/:name/rotate', { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
    const { body = {} } = request;
    const { overlapSeconds } = readAs(Rotation, body);
    reply.code(201);
    return desk.rotate(nameIn(request), overlapSeconds);
  });
}
