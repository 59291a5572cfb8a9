import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { type CommandHost, excerpt, frameOf } from '../../plugin/index.ts';
import { checkedPage } from './checked-page.ts';
import { countryNames } from './country-names.ts';
import { addPage, type PageFiles, pageFiles, readPages, removePage } from './page-files.ts';
import {
  documentIdOf,
  headingOf,
  PageName,
  PageTerms,
  type PictureLook,
  type PublicTerms,
  pictureIn,
} from './public-documents.ts';
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
  readonly note?: string;
  readonly theme?: string;
  readonly look?: string;
  readonly key: string;
  readonly url: string;
  readonly list?: true;
}

const urlOption = () =>
  new Option('--url <url>', 'where the gateway is reached')
    .env('PUBLIC_URL')
    .default('http://127.0.0.1:4000');

export function addPublish(command: Command, host: CommandHost): void {
  command
    .argument('[file]', 'a file with one query')
    .option('--name <name>', 'its name in addresses; left out, that of the file')
    .option('--title <title>', 'heading of the page, such as: Population since $from')
    .option('--note <text>', 'what stands below its picture')
    .addOption(new Option('--theme <colours>', 'its colours').choices(['light', 'dark', 'auto']))
    .option('--look <parameters>', 'how it is drawn, such as: picture.kind=map')
    .option('--key <name>', 'issued key that it runs under', 'pages')
    .addOption(urlOption())
    .option('--list', 'list the pages that there are, and say where they are stored')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string | undefined, options: PublishOptions) => {
      if (options.list) {
        settingsOf(host);
        return console.log(await listOf(host, options.url));
      }
      if (file === undefined) throw host.error('Name a file with one query, or say --list.');
      console.log(await publish(file, options, host));
    });
}

export function addUnpublish(command: Command, host: CommandHost): void {
  command.argument('<name>', 'its name in addresses').action(async (name: string) => {
    settingsOf(host);
    console.log(await unpublish(name, host));
  });
}

async function listOf(host: CommandHost, url: string): Promise<string> {
  const files = filesFor(host);
  const pages = Object.entries(await readPages(host.files, files));
  const rows = pages.map(([name, page]) => {
    const { key, title } = (page ?? {}) as { readonly key?: unknown; readonly title?: unknown };
    return [name, key, title ?? '', addressOf(name, url)];
  });
  const table = { path: 'pages', columns: ['name', 'key', 'title', 'address'], rows };
  const words = rows.length === 0 ? 'There are no pages.\n' : host.formatted([table], 'table');
  return `${words}They are stored in ${files.published}`;
}

async function unpublish(name: string, host: CommandHost): Promise<string> {
  const files = filesFor(host);
  if (!(await removePage(host.files, files, name, files.isSandbox)))
    throw host.error(`There is no page ${JSON.stringify(name)} in ${files.published}.`);
  const rest = files.isSandbox ? '' : ` Its document stays trusted (${files.trusted}).`;
  return `${name} is public no more (${files.published}).${rest}`;
}

const addressOf = (name: string, url: string) => new URL(`c/${name}`, `${url.replace(/\/*$/, '')}/`).href;

/**
 * Checks and prices a document, and writes it where the gateway finds it.
 * @returns the text to print
 * @throws Error for the user if it can't be public
 */
async function publish(
  file: string,
  {
    name = basename(file).replace(/\.\w+$/, ''),
    title,
    note,
    theme,
    look = '',
    key: ownKey,
    url,
  }: PublishOptions,
  host: CommandHost,
): Promise<string> {
  const disk = host.files;
  const text = await host.graphqlIn(await disk.readText(file), file);
  if (!PageName.safeParse(name).success)
    throw host.error(`--name: must be up to 64 letters, digits and dashes (got ${JSON.stringify(name)})`);
  const { isSandbox, ...files } = filesFor(host);
  const key = isSandbox ? SANDBOX_PAGES_KEY : ownKey;
  const document = documentIdOf(text);
  const picture = lookGiven(look, host);
  const terms = PageTerms.safeParse({ document, key, title, note, theme, picture });
  if (!terms.success) throw host.error(z.prettifyError(terms.error));
  const { page, price } = await checked(name, terms.data, text, settingsOf(host)).catch((error: Error) => {
    throw host.error(`${file}: ${error.message}`);
  });
  if (isSandbox) await ownFolder(sandboxFiles(disk).folder);
  const { operationName } = page;
  await addPage(disk, files, { name, terms: terms.data, text, operationName }).catch((error: Error) => {
    throw host.error(error.message);
  });
  const address = addressOf(name, url);
  const heading = headingOf(page, {}, await countryNames(disk)) ?? name;
  return [
    `${name} is public under the issued key ${key} (${files.published}). ${price}`,
    ...(isSandbox ? [] : missingIn(host.env, key)),
    '',
    address,
    '',
    frameOf(address, heading, new URL('frames.js', address).href),
  ].join('\n');
}

/** Reads `picture.kind=map&picture.year=2010`, as in addresses. */
function lookGiven(look: string, host: CommandHost): PictureLook {
  const search = new URLSearchParams(look);
  const other = [...search.keys()].find((name) => !name.startsWith('picture.'));
  if (other !== undefined) throw host.error(`--look: ${excerpt(other)} is no setting of the picture.`);
  try {
    return pictureIn(search).picture;
  } catch (error) {
    throw host.error(`--look: ${(error as Error).message}`);
  }
}

/** What is published may be what these still lack. */
const NOT_HEEDED = [
  ...OF_PAGES,
  'OPERATOR_KEY',
  'OPERATOR_KEY_FILE',
  'TRUSTED_DOCUMENTS_FOR',
  'MCP',
  'PUBLISHERS',
];

const settingsOf = (host: CommandHost) => host.settings(console.error, NOT_HEEDED);

/** Checks a page by a gateway of its own, which sends nothing. */
async function checked(
  name: string,
  terms: PublicTerms,
  text: string,
  { openUnasked }: ReturnType<typeof settingsOf>,
) {
  const { gateway, stop } = await openUnasked();
  try {
    return await checkedPage(name, terms, text, gateway);
  } finally {
    await stop();
  }
}

type OwnedFiles = PageFiles & { readonly isSandbox: boolean };

function filesFor({ env, files }: CommandHost): OwnedFiles {
  const isSandbox = OF_PAGES.every((one) => env[one] === undefined);
  return { ...(isSandbox ? sandboxFiles(files) : ownFiles(env)), isSandbox };
}

/** Settings that name no file get a new one here. */
const ownFiles = ({ TRUSTED_DOCUMENTS, PUBLIC_DOCUMENTS }: Env) =>
  pageFiles(TRUSTED_DOCUMENTS ?? 'trusted-documents.json', PUBLIC_DOCUMENTS ?? 'public-documents.json');

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
