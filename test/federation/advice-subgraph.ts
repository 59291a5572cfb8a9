import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { startStandaloneServer } from '@apollo/server/standalone';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { COVERED_COUNTRIES } from '../../src/service/records/countries.ts';

/** Another team's subgraph: travel advice for countries that are ours, which it knows by their code. */
export const ADVICE_SDL = `
  extend schema
    @link(
      url: "https://specs.apollo.dev/federation/v2.9"
      import: ["@key", "@external", "@requires", "@shareable"]
    )

  scalar CountryCode

  type Query {
    "Countries that there is advice for."
    warnings: [Country!]
    "As somebody has written them down, one of them wrongly."
    drafts: [Country!]
    "The same in pages: Relay's type of them is in both subgraphs."
    warningsConnection: WarningConnection
  }

  type WarningConnection {
    nodes: [Country!]!
    pageInfo: PageInfo!
  }

  type PageInfo @shareable {
    hasNextPage: Boolean!
    hasPreviousPage: Boolean!
    startCursor: String
    endCursor: String
  }

  type Country @key(fields: "code") {
    code: CountryCode!
    region: String @external
    advice: String @requires(fields: "region")
    level: Int
  }
`;

interface Representation {
  readonly code: string;
  readonly region?: string | null;
}

export async function startAdvice() {
  const schema = buildSubgraphSchema([
    {
      typeDefs: parse(ADVICE_SDL),
      resolvers: {
        Query: {
          warnings: () => [...COVERED_COUNTRIES].map((code) => ({ code })),
          drafts: () => ['KE', 'KEN', 'UG'].map((code) => ({ code })),
        },
        Country: {
          __resolveReference: (representation: Representation) => representation,
          advice: ({ code, region }: Representation) => `${code}: ask about ${region}.`,
          level: ({ code }: Representation) => code.charCodeAt(0) % 4,
        },
      } as never,
    },
  ]);
  const server = new ApolloServer({ schema, plugins: [ApolloServerPluginInlineTraceDisabled()] });
  const { url } = await startStandaloneServer(server, { listen: { port: 0, host: '127.0.0.1' } });
  return { url, [Symbol.asyncDispose]: () => server.stop() };
}
