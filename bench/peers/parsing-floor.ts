/**
 * A lower bound for the cost of a gateway: parse the service's bodies, pick members, serialize the response. The question
 * comes as JSON, so no GraphQL is parsed.
 */
import { createServer, type ServerResponse } from 'node:http';
import { type Dispatcher, Pool } from 'undici';
import { pick, type ServiceBody, targetsOf } from '../race/pick.ts';
import type { Question } from '../race/questions.ts';
import { logReady, port } from './ready.ts';

interface FloorRequest {
  readonly row: string;
  readonly question: Question;
}

const pool = new Pool(process.env.UPSTREAM_URL ?? '', { keepAliveTimeout: 30_000 });

function getJson(path: string, authorization: string): Promise<ServiceBody> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart(_controller, status) {
        if (status !== 200) reject(new Error(`${path}: status ${status}`));
      },
      onResponseData(_controller, part) {
        parts.push(part);
      },
      onResponseEnd() {
        const [first] = parts;
        const bytes = parts.length === 1 && first ? first : Buffer.concat(parts);
        resolve(JSON.parse(bytes.toString()));
      },
      onResponseError(_controller, error) {
        reject(error);
      },
    };
    pool.dispatch({ method: 'GET', path, headers: { accept: 'application/json', authorization } }, handler);
  });
}

async function answer(body: string, authorization: string, response: ServerResponse): Promise<void> {
  const { row, question }: FloorRequest = JSON.parse(body);
  const bodies = targetsOf(row, question).map((target) => getJson(target, authorization));
  const data = pick(row, question, await Promise.all(bodies));
  const bytes = Buffer.from(JSON.stringify({ data }));
  response
    .writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length })
    .end(bytes);
}

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const body = Buffer.concat(parts).toString();
    answer(body, request.headers.authorization ?? '', response).catch((error) =>
      response.writeHead(500).end(String(error)),
    );
  });
});
server.listen(port, '127.0.0.1', () => logReady(server.address()));
