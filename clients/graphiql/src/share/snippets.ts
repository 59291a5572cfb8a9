import type { Operation } from '../operation.ts';

/** Stands in for the key in copies. */
const KEY = 'COUNTRY_GRAPH_KEY';

const ACCEPT = 'application/graphql-response+json, application/json;q=0.9';

/** Writes it as a command of a POSIX shell. The key comes from the environment. */
export function asCurl(url: string, operation: Operation): string {
  const body = JSON.stringify(operation, null, 2).replaceAll("'", "'\\''");
  return `curl ${quoted(url)} \\
  --header 'Content-Type: application/json' \\
  --header 'Accept: ${ACCEPT}' \\
  --header "Authorization: Bearer $${KEY}" \\
  --data-binary '${body}'
`;
}

/** Writes it as JavaScript of a module. The key comes from the environment. */
export function asFetch(url: string, operation: Operation): string {
  return `const response = await fetch(${JSON.stringify(url)}, {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    Accept: '${ACCEPT}',
    Authorization: \`Bearer \${process.env.${KEY}}\`,
  },
  body: JSON.stringify({
    query: ${template(operation.query)},${written(4, operation)}
  }),
});
const { data, errors } = await response.json();
`;
}

/**
 * Writes it as TypeScript, with the type of its answer.
 * @param data the type of the answer's `data`, as `dataTypeOf` writes it
 */
export function asTypeScript(url: string, operation: Operation, data: string): string {
  return `interface Data ${data}

interface Answer {
  readonly data?: Data | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions?: { readonly code?: string };
  }[];
}

const query = ${template(operation.query)};

export async function ask(key: string): Promise<Answer> {
  const response = await fetch(${JSON.stringify(url)}, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: '${ACCEPT}',
      Authorization: \`Bearer \${key}\`,
    },
    body: JSON.stringify({
      query,${written(6, operation)}
    }),
  });
  return response.json() as Promise<Answer>;
}
`;
}

/** Further members of the body beside the text, a line each. */
function written(indent: number, { variables, operationName }: Operation): string {
  return Object.entries({ variables, operationName })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `\n${' '.repeat(indent)}${name}: ${JSON.stringify(value)},`)
    .join('');
}

/** A text as an argument of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A text as a literal that keeps its lines. */
function template(text: string): string {
  return `\`${text.replace(/[\\`]|\$\{/g, '\\$&')}\``;
}
