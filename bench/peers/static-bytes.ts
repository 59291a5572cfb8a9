/** Answers every request with the response to row c from memory: the cost of Node's HTTP alone. */
import { createServer } from 'node:http';
import { FIRST_QUESTION } from '../race/questions.ts';
import { logReady, port } from './ready.ts';
import { threeFigures } from './three-figures.ts';

const answer = Buffer.from(await threeFigures('Bearer demo-team', FIRST_QUESTION.metrics));
const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': answer.length };

const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, headers).end(answer));
});
server.listen(port, '127.0.0.1', () => logReady(server.address()));
