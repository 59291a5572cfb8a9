/** Row c written by hand, without GraphQL: a lower bound for the cost of a gateway. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { logReady, port } from './ready.ts';
import { threeFigures } from './three-figures.ts';

const server = createServer(async (request, response) => {
  try {
    const { question } = JSON.parse(await text(request));
    const answer = Buffer.from(await threeFigures(request.headers.authorization ?? '', question.metrics));
    response
      .writeHead(200, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': answer.length,
      })
      .end(answer);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});
server.listen(port, '127.0.0.1', () => logReady(server.address()));
