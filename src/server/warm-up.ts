import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { duplexPair } from 'node:stream';
import fastify from 'fastify';
import { readConfig } from '../config/config.ts';
import { waitingBounds } from '../config/memory-budget.ts';
import { createGateway, type Gateway } from '../gateway/gateway.ts';
import type { Endpoint } from '../service/call.ts';
import * as endpoints from '../service/endpoints.ts';
import { graphqlRoute } from './graphql-route.ts';
import { createOutgoing, NO_COMPILERS } from './http.ts';

const CODES = ['NG', 'ZA', 'KE', 'EG', 'GH'];
const METRICS = ['population_total', 'life_expectancy', 'gdp_current_usd', 'urban_population_pct'];
const ROW = 'country { code name } indicator { key name unit } year value unit source { key }';

/** Years of the stand-in's series. */
const YEARS = Array.from({ length: 35 }, (_, i) => 1990 + i);

const ROUNDS = 7;

/** Operations of the usual shapes, with texts of their own for each round. */
function textsOf(round: number): readonly string[] {
  const code = CODES[round % CODES.length];
  const codes = JSON.stringify(CODES.slice(0, 2 + (round % 4)));
  const keys = JSON.stringify(METRICS.slice(0, 1 + (round % 4)));
  const latest = (count: number) =>
    METRICS.slice(0, count)
      .map((key, i) => `f${i}: observation(metricKey: "${key}") { value year unit source { key } }`)
      .join(' ');
  const figures = latest(1 + (round % METRICS.length));
  const texts = [
    `{ country(code: "${code}") { code name ${figures} } }`,
    `{ countries { code name ${figures} } }`,
    `{ observations(countryCodes: ${codes}, metricKeys: ${keys}, fromYear: 1990) { ${ROW} } }`,
    `{ observations(countryCodes: ${codes}, metricKeys: ${keys}, latest: true) { ${ROW} } }`,
    `{ country(code: "${code}") { ${figures} } countries { code ${latest(1)} } }`,
    `{ country(code: "${code}") { ...C } } fragment C on Country { name observations(metricKeys: ${keys}, latest: true) { value year } }`,
  ];
  return texts.map((text) => `query W${round} ${text}`);
}

/**
 * Answers as pricing assumes that the real service does. It has a port on the loopback, since over connections of
 * another kind V8 would compile undici's code for both kinds, and all later calls would take longer.
 */
async function openStandIn() {
  const all: readonly Endpoint[] = Object.values(endpoints);
  const server = createServer(({ url = '' }, response) => {
    const endpoint = all.find(({ route }) => route === url.split('?', 1)[0]);
    const assumed = endpoint?.assumed?.(url, METRICS[0] ?? '', () => YEARS);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(assumed ?? {}));
  });
  // A warm-up that fails leaves it open, which must not keep the process alive.
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return server;
}

/** Connects to a server without a port. */
function connectedTo(server: Pick<ReturnType<typeof createServer>, 'emit'>) {
  const [near, far] = duplexPair();
  server.emit('connection', far);
  return near;
}

/**
 * Answers operations by a gateway of its own, over a stand-in for the service, so that the code is warm when the first
 * real ones come. Nothing leaves the machine, and all that it fills is thrown away.
 * @param schema that of the real gateway
 * @param mayGoOn waits while real requests are under way; false if there is to be no other operation
 * @returns the operations that were answered without an error
 */
export async function warmUp(schema: Gateway['schema'], mayGoOn: () => Promise<boolean>): Promise<number> {
  const config = readConfig({}, []);
  const standIn = await openStandIn();
  let answered = 0;
  const gateway = await createGateway({
    config,
    upstreamUrl: `http://127.0.0.1:${(standIn.address() as AddressInfo).port}`,
    openSchema: async () => schema,
    observer: {
      operation({ errorCodes }) {
        if (errorCodes.length === 0) answered += 1;
      },
      attempt() {},
      problem() {},
    },
  });
  const app = fastify({ schemaController: { compilersFactory: NO_COMPILERS } });
  await app.register(graphqlRoute, {
    gateway,
    course: { isClosing: false, isDraining: false },
    outgoing: createOutgoing(waitingBounds(config), () => {}),
    isSubgraph: false,
    problem() {},
  });
  await app.ready();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const query of textsOf(round)) if (await mayGoOn()) await ask(app.server, query, `warm-up-${round}`);
  }
  await gateway.stop();
  await app.close();
  standIn.close();
  return answered;
}

async function ask(server: Parameters<typeof connectedTo>[0], query: string, key: string): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const asking = request({
    method: 'POST',
    path: '/graphql',
    headers,
    createConnection: () => connectedTo(server),
  });
  asking.end(JSON.stringify({ query }));
  const [response] = await once(asking, 'response');
  response.resume();
  await once(response, 'end');
}
