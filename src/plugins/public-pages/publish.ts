import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Command, Option } from 'commander';
import {
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  validate,
} from 'graphql';
import { CommandError, formatted, graphqlIn } from '../../cli/formats.ts';
import { settingsOf } from '../../cli/strange-settings.ts';
import type { Config } from '../../config/config.ts';
import { createGateway } from '../../gateway/gateway.ts';
import type { CommandHost } from '../../gateway/plugin.ts';
import { sampleVariables } from '../../graphql/cost/samples.ts';
import { explained, PRICING_KEY, priceIn } from '../../graphql/request/own-requests.ts';
import { sha256Of } from '../../graphql/request/persisted.ts';
import { frameOf } from '../../shared/drawings.ts';
import { readText } from '../../shared/text-files.ts';
import { addPages, type PageFiles, readPages, removePage } from './page-files.ts';
import { headingOf, variablesOf } from './public-documents.ts';
import { type Env, OF_PAGES, ownFolder, SANDBOX_PAGES_KEY, sandboxFiles } from './sample.ts';

const EXAMPLES = `
Over the sandbox, the gateway of this checkout shows the page within seconds. Else it reads TRUSTED_DOCUMENTS and
PUBLIC_DOCUMENTS, which this writes; set them here as there.
Examples:
  country-graph publish --list
  country-graph publish life.graphql --title 'Life expectancy since $from'
  PUBLIC_URL=https://figures.example country-graph publish life.graphql --name life --key pages`;

interface PublishOptions {
  readonly name?: string;
  readonly title?: string;
  readonly key: string;
  readonly url: string;
  readonly list?: true;
}

const urlOption = () =>
  new Option('--url <url>', 'where the gateway is reached')
    .env('PUBLIC_URL')
    .default('http://127.0.0.1:4000');

export function addPublish(command: Command, { env, plugins }: CommandHost): void {
  command
    .argument('[file]', 'a file with one query')
    .option('--name <name>', 'its name in addresses; left out, that of the file')
    .option('--title <title>', 'heading of the page, such as: Population since $from')
    .option('--key <name>', 'issued key that it runs under', 'pages')
    .addOption(urlOption())
    .option('--list', 'list the pages that there are, and say where they are stored')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string | undefined, options: PublishOptions) => {
      if (options.list) {
        configOf(env, plugins);
        return console.log(await listOf(filesFor(env), options.url));
      }
      if (file === undefined) throw new CommandError('Name a file with one query, or say --list.');
      console.log(await publish(file, options, env, plugins));
    });
}

export function addUnpublish(command: Command, { env, plugins }: CommandHost): void {
  command.argument('<name>', 'its name in addresses').action(async (name: string) => {
    configOf(env, plugins);
    console.log(await unpublish(name, filesFor(env)));
  });
}

async function listOf(files: OwnedFiles, url: string): Promise<string> {
  const pages = Object.entries(await readPages(files));
  const rows = pages.map(([name, page]) => {
    const { key, title } = (page ?? {}) as { readonly key?: unknown; readonly title?: unknown };
    return [name, key, title ?? '', addressOf(name, url)];
  });
  const table = { path: 'pages', columns: ['name', 'key', 'title', 'address'], rows };
  const words = rows.length === 0 ? 'There are no pages.\n' : formatted([table], 'table');
  return `${words}They are stored in ${files.published}`;
}

async function unpublish(name: string, files: OwnedFiles): Promise<string> {
  if (!Object.hasOwn(await readPages(files), name))
    throw new CommandError(`There is no page ${JSON.stringify(name)} in ${files.published}.`);
  await removePage(files, name, files.isSandbox);
  const rest = files.isSandbox ? '' : ` Its document stays trusted (${files.trusted}).`;
  return `${name} is public no more (${files.published}).${rest}`;
}

const addressOf = (name: string, url: string) => new URL(`c/${name}`, `${url.replace(/\/*$/, '')}/`).href;

/**
 * Checks and prices a document, and writes it where the gateway finds it.
 * @returns the text to print
 * @throws CommandError if it can't be public
 */
async function publish(
  file: string,
  { name = basename(file).replace(/\.\w+$/, ''), title, key: ownKey, url }: PublishOptions,
  env: Env,
  plugins: CommandHost['plugins'],
): Promise<string> {
  const text = await graphqlIn(await readText(file), file);
  if (!/^[A-Za-z0-9][\w-]{0,63}$/.test(name))
    throw new CommandError(
      `--name: must be up to 64 letters, digits and dashes (got ${JSON.stringify(name)})`,
    );
  const { price, variables } = await checked(
    text,
    onlyQueryOf(text, file),
    configOf(env, plugins),
    plugins,
  ).catch((error: Error) => {
    throw new CommandError(`${file}: ${error.message}`);
  });
  const { isSandbox, ...files } = filesFor(env);
  if (isSandbox) await ownFolder(sandboxFiles().folder);
  const document = sha256Of(text);
  const key = isSandbox ? SANDBOX_PAGES_KEY : ownKey;
  const terms = { document, key, ...(title !== undefined && { title }) };
  await addPages(files, { [document]: text }, { [name]: terms });
  const page = addressOf(name, url);
  return [
    `${name} is public under the issued key ${key} (${files.published}). ${price}`,
    ...(isSandbox ? [] : missingIn(env, key)),
    '',
    page,
    '',
    frameOf(
      page,
      headingOf({ title: title ?? null, variables }, {}) ?? name,
      new URL('frames.js', page).href,
    ),
  ].join('\n');
}

/** What is published may be what these still lack. */
const NOT_HEEDED = [...OF_PAGES, 'OPERATOR_KEY', 'OPERATOR_KEY_FILE', 'TRUSTED_DOCUMENTS_FOR', 'MCP'];

function configOf(env: Env, plugins: CommandHost['plugins']): Config {
  const heeded = Object.entries(env).filter(([name]) => !NOT_HEEDED.includes(name));
  // No store is needed, so none is touched.
  return { ...settingsOf(Object.fromEntries(heeded), plugins, console.error), cacheUrl: 'memory:' };
}

interface Query {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

/**
 * Prices a query, and reads its variables. Sends nothing.
 * @throws Error if the query is not valid, or too expensive
 */
async function checked(
  text: string,
  { document, operation }: Query,
  config: Config,
  plugins: CommandHost['plugins'],
) {
  const observer = { operation() {}, attempt() {}, problem() {} };
  const gateway = await createGateway({ config, plugins, upstreamUrl: 'http://127.0.0.1', observer });
  try {
    const [error] = validate(gateway.schema, document);
    if (error !== undefined) throw new Error(error.message);
    const variables = sampleVariables(gateway.schema, operation);
    const headers = { authorization: PRICING_KEY };
    const reply = await explained(gateway.handle, { query: text, variables }, { headers });
    const { calls } = priceIn(reply) ?? {};
    if (calls === undefined) throw new Error(reply.errors[0]?.message ?? 'It has no price.');
    return {
      price: `It takes ${calls} ${calls === 1 ? 'call' : 'calls'} to the service, and none while its figures are cached.`,
      variables: variablesOf(gateway.schema, operation),
    };
  } finally {
    await gateway.stop();
  }
}

function onlyQueryOf(text: string, file: string): Query {
  const document = parse(text);
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const [operation, ...rest] = operations;
  if (operation?.operation !== OperationTypeNode.QUERY || rest.length > 0)
    throw new CommandError(`${file} has to hold one query, and no other operation.`);
  return { operation, document };
}

type OwnedFiles = PageFiles & { readonly isSandbox: boolean };

function filesFor(env: Env): OwnedFiles {
  const isSandbox = OF_PAGES.every((one) => env[one] === undefined);
  return { ...(isSandbox ? sandboxFiles() : ownFiles(env)), isSandbox };
}

/** Settings that name no file get a new one here; a folder of trusted documents gets one more file. */
function ownFiles({ TRUSTED_DOCUMENTS, PUBLIC_DOCUMENTS = 'public-documents.json' }: Env) {
  const trusted = TRUSTED_DOCUMENTS ?? 'trusted-documents.json';
  return {
    trusted:
      existsSync(trusted) && statSync(trusted).isDirectory() ? join(trusted, 'published.json') : trusted,
    published: PUBLIC_DOCUMENTS,
  };
}

function missingIn(env: Env, key: string): readonly string[] {
  const { trusted, published } = ownFiles(env);
  const settings = [
    ...(env.TRUSTED_DOCUMENTS === undefined ? [`TRUSTED_DOCUMENTS=${trusted}`] : []),
    ...(env.PUBLIC_DOCUMENTS === undefined ? [`PUBLIC_DOCUMENTS=${published}`] : []),
    ...(env.COUNTRY_DATA_KEY === undefined && env.COUNTRY_DATA_KEY_FILE === undefined
      ? ['COUNTRY_DATA_KEY, the key of the service that pages are paid by']
      : []),
  ];
  return [
    ...(settings.length === 0 ? [] : [`The gateway has to be started with ${settings.join(', ')}.`]),
    `Unless it is there, the key is made by: country-graph keys create ${key}`,
  ];
}
