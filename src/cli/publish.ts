import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { buildSchema, type DocumentNode, Kind, OperationTypeNode, parse, validate } from 'graphql';
import { readConfig } from '../config/config.ts';
import { sha256Of } from '../graphql/request/documents.ts';
import { KeyDesk } from '../plugins/issued-keys/key-desk.ts';
import { openKeyStore } from '../plugins/issued-keys/key-store.ts';
import { sampleVariables } from '../plugins/mcp-tools/operation-tools.ts';
import { frameOf } from '../plugins/public-pages/page.ts';
import { plugins } from '../plugins.ts';
import { CommandError } from './formats.ts';
import { explain, sdlFor } from './query.ts';
import { addTo, type Env, OF_PAGES, ownFolder, SANDBOX_PAGES_KEY, sandboxFiles } from './sandbox-pages.ts';

export interface PublishOptions {
  readonly name?: string;
  readonly title?: string;
  readonly key: string;
  readonly url: string;
}

/**
 * Makes a public document of a file: checks and prices it, and writes it where the gateway finds it.
 * @returns words on what was done, with the address and the frame
 * @throws CommandError if it can't be public
 */
export async function publish(file: string, options: PublishOptions, env: Env): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new CommandError(`${file} can't be read: ${error.message}`);
  });
  const { operation, document: parsed } = onlyQueryOf(text, file);
  const name = options.name ?? basename(file).replace(/\.\w+$/, '');
  if (!/^[A-Za-z0-9][\w-]{0,63}$/.test(name))
    throw new CommandError(
      `--name: must be up to 64 letters, digits and dashes (got ${JSON.stringify(name)})`,
    );
  const schema = buildSchema(await sdlFor('clients', {}));
  const [fault] = validate(schema, parsed);
  if (fault !== undefined) throw new CommandError(`${file}: ${fault.message}`);
  const price = await explain({ query: text, variables: sampleVariables(schema, operation) });
  const isSandbox = OF_PAGES.every((one) => env[one] === undefined);
  const files = isSandbox ? sandboxFiles() : ownFiles(env);
  if (isSandbox) await ownFolder(sandboxFiles().folder);
  const document = sha256Of(text);
  await addTo(files.trusted, document, text);
  const { title } = options;
  const key = isSandbox ? SANDBOX_PAGES_KEY : options.key;
  await addTo(files.published, name, { document, key, ...(title !== undefined && { title }) });
  const page = new URL(`c/${name}`, `${options.url.replace(/\/*$/, '')}/`).href;
  return [
    `${name} is public under the key ${key}: ${files.published}`,
    ...(isSandbox ? [] : await missingIn(env, key)),
    '',
    price,
    '',
    page,
    '',
    frameOf(page, title ?? name, new URL('frames.js', page).href),
  ].join('\n');
}

/** @throws CommandError if a text is anything but one query */
function onlyQueryOf(text: string, file: string) {
  let document: DocumentNode;
  try {
    document = parse(text);
  } catch (error) {
    throw new CommandError(
      `${file} is no GraphQL: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const [operation, ...others] = operations;
  if (operation?.operation !== OperationTypeNode.QUERY || others.length > 0)
    throw new CommandError(`${file} has to hold one query, and no other operation.`);
  return { operation, document };
}

/** The files of an operator's settings; of those that name none, new ones here. A folder of trusted documents has one more file. */
function ownFiles({ TRUSTED_DOCUMENTS, PUBLIC_DOCUMENTS = 'public-documents.json' }: Env) {
  const trusted = TRUSTED_DOCUMENTS ?? 'trusted-documents.json';
  return {
    trusted:
      existsSync(trusted) && statSync(trusted).isDirectory() ? join(trusted, 'published.json') : trusted,
    published: PUBLIC_DOCUMENTS,
  };
}

/** Says what the page of a document still waits for. */
async function missingIn(env: Env, key: string): Promise<readonly string[]> {
  const { trusted, published } = ownFiles(env);
  const settings = [
    ...(env.TRUSTED_DOCUMENTS === undefined ? [`TRUSTED_DOCUMENTS=${trusted}`] : []),
    ...(env.PUBLIC_DOCUMENTS === undefined ? [`PUBLIC_DOCUMENTS=${published}`] : []),
    ...(env.COUNTRY_DATA_KEY === undefined && env.COUNTRY_DATA_KEY_FILE === undefined
      ? ['COUNTRY_DATA_KEY, the key of the service that pages are paid by']
      : []),
  ];
  const words = settings.length === 0 ? [] : [`The gateway has to be started with ${settings.join(', ')}.`];
  const { cacheUrl, cacheTimeoutMs } = readConfig({ CACHE_URL: env.CACHE_URL }, plugins);
  if (!/^(sqlite|redis)/.test(cacheUrl))
    return [...words, `Issued keys last with CACHE_URL=sqlite:PATH; then: country-graph keys create ${key}`];
  const store = await openKeyStore(cacheUrl, cacheTimeoutMs);
  try {
    const there = await new KeyDesk(store, Date.now).newest(key);
    return there === null
      ? [...words, `There is no issued key ${key} yet: country-graph keys create ${key}`]
      : words;
  } finally {
    await store.close();
  }
}
