/** A gateway from an OpenAPI document: composed by GraphQL Mesh, run by Hive Gateway's runtime. */
import { createServer } from 'node:http';
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { getComposedSchemaFromConfig } from '@graphql-mesh/compose-cli';
import rest from '@graphql-mesh/transport-rest';
import { loadOpenAPISubgraph } from '@omnigraph/openapi';
import { logReady, port } from './ready.ts';

const quiet = { log() {}, debug() {}, info() {}, warn() {}, error: console.error, child: () => quiet };

const supergraph = await getComposedSchemaFromConfig(
  {
    subgraphs: [
      {
        sourceHandler: loadOpenAPISubgraph('figures', {
          source: new URL('country-data-service.json', import.meta.url).pathname,
          endpoint: process.env.UPSTREAM_URL ?? '',
          operationHeaders: { Authorization: '{context.headers.authorization}' },
        }),
      },
    ],
  },
  quiet as never,
);

const gateway = createGatewayRuntime({
  supergraph,
  transports: { rest: { default: rest } as never },
  logging: false,
  graphiql: false,
  landingPage: false,
});
const server = createServer(gateway);
server.listen(port, '127.0.0.1', () => logReady(server.address()));
