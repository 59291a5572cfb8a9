/** Figures without any library: `node main.ts`, in browsers just the same. */
import process from 'node:process';

const GATEWAY = process.env.GATEWAY ?? 'http://127.0.0.1:4000/graphql';
const KEY = process.env.COUNTRY_GRAPH_KEY ?? 'demo-team';

interface Answer<Data> {
  /** Null where nothing could run. What failed in it is null, and told in `errors`. */
  readonly data: Data | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions: { readonly code: string; readonly retryable: boolean; readonly retryAt?: string };
  }[];
  readonly extensions: { readonly upstream: { readonly calls: number } };
}

async function ask<Data>(query: string, variables: object): Promise<Answer<Data>> {
  const response = await fetch(GATEWAY, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      accept: 'application/graphql-response+json',
    },
    body: JSON.stringify({ query, variables }),
  });
  return response.json();
}

interface Figures {
  readonly countries: readonly {
    readonly name: string | null;
    readonly observation: { readonly value: number; readonly year: number } | null;
  }[];
}

const { data, errors, extensions } = await ask<Figures>(
  `query Figures($codes: [CountryCode!]) {
    countries(codes: $codes) {
      name
      observation(metricKey: "life_expectancy") { value year }
    }
  }`,
  { codes: ['KE', 'NG', 'GH'] },
);
for (const { message, extensions: failure } of errors ?? []) console.error(failure.code, message);
for (const { name, observation } of data?.countries ?? [])
  console.log(name, observation?.value, observation?.year);
console.log(`${extensions.upstream.calls} upstream calls`);
