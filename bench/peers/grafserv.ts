/** Grafserv and Grafast: fields are planned before anything runs, and all figures of an operation are loaded in one batch. */
import { createServer } from 'node:http';
import { access, context, lambda, loadMany, loadOne, makeGrafastSchema, type Step } from 'grafast';
import { grafserv } from 'grafserv/node';
import {
  type Country,
  createContext,
  type Filter,
  latestOf,
  type Observation,
  type Pair,
  type PlainContext,
  type Rest,
  typeDefs,
} from './plain-graph.ts';
import { logReady, port } from './ready.ts';

type Args = Readonly<Record<`$${string}`, Step>>;

const $rest = () => access<Rest>(context(), 'rest');
const $countries = () => lambda(context(), (own) => (own as unknown as PlainContext).countries());

const latest = {
  shared: $rest,
  load: (pairs: readonly Pair[], { shared }: { shared: Rest }) => latestOf(shared, pairs),
};

const series = {
  shared: $rest,
  load: (filters: readonly Filter[], { shared }: { shared: Rest }): Promise<Observation[]>[] =>
    filters.map((filter) => shared.observations(filter)),
};

const schema = makeGrafastSchema({
  typeDefs,
  objects: {
    Query: {
      plans: {
        countries: () => $countries(),
        country: (_: Step, { $code }: Args) =>
          lambda([$countries(), $code as Step<string>] as const, ([countries, code]) =>
            (countries as Country[]).find((country) => country.code === code.toUpperCase()),
          ),
        observations: (_: Step, args: Args) =>
          loadMany(
            {
              countryCodes: args.$countryCodes,
              metricKeys: args.$metricKeys,
              latest: args.$latest,
              fromYear: args.$fromYear,
              toYear: args.$toYear,
            } as never,
            series as never,
          ),
      },
    },
    Country: {
      plans: {
        observation: ($country: Step, { $metricKey }: Args) =>
          loadOne({ code: access($country, 'code'), metricKey: $metricKey } as never, latest as never),
      },
    },
  },
});

const instance = grafserv({
  schema,
  preset: {
    grafserv: { graphqlPath: '/graphql', graphiql: false, websockets: false },
    grafast: {
      context: ({ node }) => ({ ...createContext(node?.req.headers.authorization ?? '') }),
    },
  },
});
const server = createServer();
await instance.addTo(server);
server.listen(port, '127.0.0.1', () => logReady(server.address()));
