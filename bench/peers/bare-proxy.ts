/** The work of the row of three figures by hand: the least cost of a gateway, without GraphQL. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { port, tellReady } from './ready.ts';
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
server.listen(port, '127.0.0.1', () => tellReady(server.address()));
