import { readFileSync } from 'node:fs';
import { openPublishing } from '../address/publishing.ts';

const LONG = encodeURIComponent('{ countries { code name region } }');
const SHORT = encodeURIComponent('{ country(code: "KE") { name } }');

/** A GET of each address of `docs/settings.md`, by the address; null if it takes no GET. */
const EXAMPLES: Readonly<Record<string, readonly string[] | null>> = {
  '/graphql': [`/graphql?query=${LONG}`, `/graphql?query=${SHORT}`],
  '/graphql/stream': null,
  '/graphiql': ['/graphiql', '/graphiql/'],
  '/mcp': null,
  '/llms.txt': ['/llms.txt'],
  '/c/<name>': ['/c/lines', '/c/bars?theme=dark'],
  '/c/<name>.json': ['/c/lines.json'],
  '/c/<name>.csv': ['/c/lines.csv'],
  '/c/<name>.arrow': ['/c/lines.arrow'],
  '/c/<name>.svg': ['/c/lines.svg'],
  '/c/<name>.png': ['/c/lines.png'],
  '/c/<name>.html': ['/c/lines.html'],
  '/c/<name>.metadata.json': ['/c/lines.metadata.json'],
  '/oembed': null,
  '/openapi.json': ['/openapi.json', '/c/openapi.json'],
  '/schema.graphql': ['/schema.graphql', '/schema.graphql?for=clients'],
  '/health/live': ['/health/live'],
  '/health/ready': ['/health/ready'],
  '/metrics': ['/metrics'],
};

function documentedAddresses(): string[] {
  const settings = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');
  const lines = settings.split('\n').filter((line) => /^\| `\/[^`]*`/.test(line));
  const endings = (cell: string) => {
    const [first = '', ...rest] = Array.from(cell.matchAll(/`([^`]+)`/g), ([, text = '']) => text);
    const base = first.split('.')[0];
    return [first, ...rest.map((text) => (text.startsWith('.') ? `${base}${text}` : text))];
  };
  return lines.flatMap((line) => endings(line.split('|')[1] ?? ''));
}

/** A program that serves all addresses, and a GET of each, those of the scripts of the page included. */
export async function openAddresses() {
  const program = await openPublishing({
    env: { CORS_ORIGINS: 'https://page.example', TRUSTED_DOCUMENTS_FOR: 'issued' },
  });
  await program.issue({ name: 'page' });
  const scripts = Array.from(
    (await (await program.at('/graphiql')).text()).matchAll(/(?:src|href)="\.(\/[^"]+\.(?:js|css))"/g),
    ([, path = '']) => path,
  );
  const paths = documentedAddresses().flatMap((address) => {
    const examples = EXAMPLES[address];
    if (examples === undefined) throw new Error(`There is no example of ${address}.`);
    return examples ?? [];
  });
  return Object.assign(program, {
    paths: [...paths, ...scripts],
    headers: { authorization: `Bearer ${program.sandbox.keys.team}` },
  });
}
