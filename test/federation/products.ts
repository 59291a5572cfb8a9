import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ApolloGateway, IntrospectAndCompose } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { startStandaloneServer } from '@apollo/server/standalone';
import { parse } from 'graphql';
import { createSubgraph } from '../../src/graphql/schema/schema.ts';
import { freePort } from '../support/free-port.ts';

/** The published compatibility cases of Federation, and the schema that they are about. */
export const CASES = dirname(
  createRequire(import.meta.url).resolve('@apollo/federation-subgraph-compatibility-tests/package.json'),
);

/** The two subgraphs that come with the cases, and the variable that each takes its port from. */
const OTHERS = { users: 'USERS_PORT', inventory: 'INVENTORY_PORT' };

const RESEARCH = [
  { study: { caseNumber: '1234', description: 'Federation Study' }, outcome: null },
  { study: { caseNumber: '1235', description: 'Studio Study' }, outcome: null },
];

const DIMENSIONS = { size: 'small', weight: 1, unit: 'kg' };

const USER = { email: 'support@apollographql.com', name: 'Jane Smith', totalProductsCreated: 1337 };

const PRODUCTS = [
  {
    id: 'apollo-federation',
    sku: 'federation',
    package: '@apollo/federation',
    variation: { id: 'OSS' },
    research: [RESEARCH[0]],
  },
  { id: 'apollo-studio', sku: 'studio', package: '', variation: { id: 'platform' }, research: [RESEARCH[1]] },
].map((product) => ({ ...product, dimensions: DIMENSIONS, createdBy: USER, notes: null }));

const DEPRECATED = {
  sku: 'apollo-federation-v1',
  package: '@apollo/federation-v1',
  reason: 'Migrate to Federation V2',
  createdBy: USER,
};

interface Reference {
  readonly id?: string;
  readonly sku?: string;
  readonly package?: string;
  readonly variation?: { readonly id: string };
  readonly study?: { readonly caseNumber: string };
  readonly email?: string;
  readonly totalProductsCreated?: number;
  readonly yearsOfEmployment?: number;
}

const productOf = (ref: Reference) =>
  PRODUCTS.find(({ id, sku, package: name, variation }) =>
    ref.id !== undefined
      ? id === ref.id
      : sku === ref.sku &&
        (ref.package === undefined ? variation.id === ref.variation?.id : name === ref.package),
  ) ?? null;

const deprecatedOf = (ref: Reference) =>
  ref.sku === DEPRECATED.sku && ref.package === DEPRECATED.package ? DEPRECATED : null;

/** The schema of the cases, made into a subgraph as ours is. */
function productsSchema() {
  return createSubgraph(parse(readFileSync(join(CASES, 'products.graphql'), 'utf8')), {
    resolvers: [
      {
        Query: {
          product: (_: unknown, ref: Reference) => productOf(ref),
          deprecatedProduct: (_: unknown, ref: Reference) => deprecatedOf(ref),
        },
        User: {
          averageProductsCreatedPerYear({ totalProductsCreated = 0, yearsOfEmployment = 1 }: Reference) {
            return Math.round(totalProductsCreated / yearsOfEmployment);
          },
        },
      } as never,
    ],
    entities: {
      Product: { __resolveReference: productOf },
      DeprecatedProduct: { __resolveReference: deprecatedOf },
      ProductResearch: {
        __resolveReference: ({ study }: Reference) =>
          RESEARCH.find((research) => research.study.caseNumber === study?.caseNumber) ?? null,
      },
      User: { __resolveReference: (ref: Reference) => ({ ...USER, ...ref }) },
      Inventory: {
        __resolveReference: ({ id }: Reference) => ({ id, deprecatedProducts: [DEPRECATED] }),
      },
    },
  });
}

/** Starts the subgraph, the two that come with the cases, and a router before them. */
export async function startProducts() {
  const products = new ApolloServer({
    schema: productsSchema(),
    plugins: [ApolloServerPluginInlineTraceDisabled()],
  });
  const { url } = await startStandaloneServer(products, { listen: { port: 0, host: '127.0.0.1' } });
  const others = await Promise.all(
    Object.entries(OTHERS).map(([name, variable]) => startOther(name, variable)),
  );
  const gateway = new ApolloGateway({
    supergraphSdl: new IntrospectAndCompose({ subgraphs: [{ name: 'products', url }, ...others] }),
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const router = new ApolloServer({ gateway });
  const { url: routerUrl } = await startStandaloneServer(router, { listen: { port: 0, host: '127.0.0.1' } });
  return {
    url,
    routerUrl,
    async stop() {
      await router.stop();
      await products.stop();
      for (const { child } of others) child.kill('SIGKILL');
    },
  };
}

async function startOther(name: string, variable: string) {
  const port = await freePort();
  const child = spawn(process.execPath, ['index.js'], {
    cwd: join(CASES, 'dist/subgraphs', name),
    env: { ...process.env, [variable]: String(port) },
    stdio: 'ignore',
  });
  const url = `http://localhost:${port}/`;
  await answering(url);
  return { name, url, child };
}

/** Waits until a server answers. */
export async function answering(url: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const body = JSON.stringify({ query: '{ __typename }' });
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    }).catch(() => null);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`Nothing answers at ${url}.`);
}
