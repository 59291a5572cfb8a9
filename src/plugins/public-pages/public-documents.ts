import { hash } from 'node:crypto';
import { Kind, OperationTypeNode, parse } from 'graphql';
import { z } from 'zod';
import {
  type AnswerTable,
  type DrawingOrder,
  excerpt,
  Failure,
  messageOf,
  numberOf,
  type PluginServices,
  presentKind,
} from '../../plugin/index.ts';
import type { CountryNames } from './country-names.ts';
import type { Disk } from './disk.ts';

export type PictureLook = DrawingOrder['look'];

type TrustedDocument = ReturnType<PluginServices['documents']['listed']>[number];
type Operation = ReturnType<PluginServices['documents']['described']>[number];

/** Parameters of an address that are no variables. */
const LOOKS = ['theme', 'width', 'bare', 'bom', 'tips'] as const;

/** Prefix of the parameters of the picture; variables have no point in their names. */
const OF_PICTURE = 'picture.';

/** Tracking parameters, which are ignored. */
const STRANGE = /^(utm_\w+|\w*clid|mc_[ce]id)$/;

const MAX_PARAMETERS = 100;

/** Characters of a heading, whatever its variables are: room for the names of some fifty countries. */
const MAX_HEADING = 600;

/** Pixels. */
export const WIDTHS = { least: 320, usual: 960, most: 1600 };

const year = z.int().min(-10_000).max(10_000);

/** As the operator's file or an address gives them. */
const PictureTerms = z.strictObject({
  indicator: z.string().min(1).optional(),
  kind: z
    .preprocess(
      (kind) => (typeof kind === 'string' ? presentKind(kind) : kind),
      z.enum(['lines', 'small-pictures', 'ranking', 'map', 'scatter']),
    )
    .optional(),
  isLog: z.boolean().optional(),
  axis: z.enum(['zero', 'data']).optional(),
  measure: z.enum(['value', 'index', 'difference', 'percent']).optional(),
  base: year.optional(),
  year: year.optional(),
  highlight: z.array(z.string()).max(8).optional(),
  focus: z.string().optional(),
  removed: z.array(z.string()).max(100).optional(),
  isShared: z.boolean().optional(),
  scope: z.enum(['ALL', 'NATIONAL', 'PLACES']).optional(),
});

/** The name by which a page has its document. */
export const documentIdOf = (text: string): string => hash('sha256', text, 'hex');

/** Names of pages in addresses. */
export const PageName = z
  .string()
  .regex(/^[A-Za-z0-9][\w-]{0,63}$/, 'must be up to 64 letters, digits and dashes');

export const PageTerms = z.strictObject({
  /** Name of a trusted document, or of its only operation. */
  document: z.string().min(1),
  key: z.string().min(1),
  /** Heading of the page; if left out, that of the picture. */
  title: z.string().trim().min(1).max(200).optional(),
  /** Stands below the picture of the page. */
  note: z.string().trim().min(1).max(600).optional(),
  /** Colours, unless an address has its own. */
  theme: z.enum(['light', 'dark', 'auto']).optional(),
  picture: PictureTerms.default({}),
  /** Who has published it from GraphiQL, and may take it back there: the name of an issued key. */
  by: z.string().optional(),
});

/** The operator's file: documents by their names in addresses. */
const PublicFile = z.record(PageName, PageTerms);

/** With the terms of any release. */
export const PageTable = z.record(
  z.string(),
  z.unknown(),
  'must be {"<name>": {"document": …, "key": …}, …}',
);

export type PublicTerms = z.output<typeof PageTerms>;

type PublicVariable = Operation['inputs'][number];

export interface PublicDocument {
  readonly name: string;
  /** Name of the issued key that it runs under. */
  readonly key: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly note: string | null;
  readonly theme: PublicTerms['theme'];
  readonly look: PictureLook;
  readonly documentId: string;
  readonly text: string;
  readonly operationName: string | undefined;
  readonly variables: readonly PublicVariable[];
  readonly errorsOf: Operation['errorsOf'];
  /** Values of the required variables, to price the document with. */
  readonly sample: Readonly<Record<string, unknown>>;
  /** Null unless its answer has exactly one list. */
  readonly table: AnswerTable | null;
}

/** What a document needs to become public. */
export type PageGateway = Pick<PluginServices, 'documents' | 'settingsError' | 'tables'>;

interface Means {
  readonly gateway: PageGateway;
  readonly disk: Disk;
  readonly onProblem: (problem: unknown) => void;
  /** Warned of what is left out; if null, a document that can't be public fails the file. */
  readonly leaveOut: ((words: string) => void) | null;
}

/**
 * Opens the public documents of a file, which is read again when it changes. A changed file with errors is reported, and
 * ignored.
 * @throws Error of the settings if the file can't be read, or one of its documents can't be public, unless these are left out
 */
export async function openPublicDocuments(
  path: string,
  { gateway, disk, onProblem, leaveOut }: Means,
  lookMs?: number,
) {
  const listed = gateway.documents;
  const read = async () => {
    const { pages, errors } = await pagesIn(disk, path).catch((cause: unknown) => {
      throw gateway.settingsError(`PUBLIC_DOCUMENTS: ${messageOf(cause)}`, { cause });
    });
    // It is written after the documents that it names, so these are read after it.
    await listed.look();
    const documents = documentsOf(pages, gateway, listed.listed());
    const all = [...errors, ...documents.errors];
    if (all.length === 0) return pages;
    if (leaveOut === null) throw gateway.settingsError(`PUBLIC_DOCUMENTS: ${[path, ...all].join('\n  ')}`);
    for (const error of all) leaveOut(`Left out of the public pages: ${error}`);
    return pages;
  };
  const file = await disk.watch(path, read, onProblem, lookMs);
  let seen: { readonly content: Pages; readonly trusted: readonly TrustedDocument[] } | undefined;
  let documents: ReadonlyMap<string, PublicDocument> = new Map();
  return {
    /** Reads the files now if they have changed. */
    look: file.look,
    /** A document that is no longer trusted is no longer public. */
    current() {
      const { content } = file;
      const trusted = listed.listed();
      if (content !== seen?.content || trusted !== seen.trusted) {
        seen = { content, trusted };
        documents = documentsOf(content, gateway, trusted).documents;
      }
      return documents;
    },
    stop: file.stop,
  };
}

type Pages = ReadonlyMap<string, PublicTerms>;

function documentsOf(pages: Pages, gateway: PageGateway, listed: readonly TrustedDocument[]) {
  const documents = new Map<string, PublicDocument>();
  const errors: string[] = [];
  for (const [name, terms] of pages) {
    try {
      documents.set(name, publicDocument(name, terms, gateway, listed));
    } catch (error) {
      errors.push(`${name}: ${messageOf(error)}`);
    }
  }
  return { documents, errors };
}

/** Reads the terms of each page for itself. */
async function pagesIn(disk: Disk, path: string) {
  const pages = new Map<string, PublicTerms>();
  const errors: string[] = [];
  const text = await disk.readText(path);
  for (const [name, terms] of Object.entries(disk.checkedJson(PageTable, text, path))) {
    try {
      const page = disk.checked(PublicFile, { [name]: terms }, text, path)[name];
      if (page !== undefined) pages.set(name, page);
    } catch (error) {
      errors.push(messageOf(error));
    }
  }
  return { pages, errors };
}

/** @throws Error if the document can't be public */
export function publicDocument(
  name: string,
  { document: meant, key, title, note, theme, picture }: PublicTerms,
  gateway: PageGateway,
  listed: readonly TrustedDocument[],
): PublicDocument {
  const { trusted, description } = findDocument(meant, listed);
  const [operation] = gateway.documents.described(trusted.text) as [Operation];
  const variables = variablesOf(operation);
  const operationName = operation.name;
  const tables = gateway.tables({ body: { query: trusted.text, operationName }, search: '' }) ?? [];
  const [only] = tables.length === 1 ? tables : [];
  const unknown = Array.from(title?.matchAll(/\$(\w+)/g) ?? [], ([, word]) => word).find(
    (word) => !variables.some((one) => one.name === word),
  );
  if (unknown !== undefined) throw new Error(`its title names $${unknown}, which is no variable of it.`);
  return {
    name,
    key,
    title: title ?? null,
    description,
    note: note ?? null,
    theme,
    look: picture,
    documentId: trusted.id,
    text: trusted.text,
    operationName,
    variables,
    errorsOf: operation.errorsOf,
    sample: operation.sample,
    table: only ?? null,
  };
}

function findDocument(meant: string, listed: readonly TrustedDocument[]) {
  const bare = meant.replace(/^sha256:/, '');
  const byId = listed.find(({ id }) => id === bare);
  const candidates = byId === undefined ? listed : [byId];
  const matches = candidates.flatMap((trusted) => {
    const document = parse(trusted.text);
    const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
    const [only, ...otherOperations] = operations;
    const isMeant = only !== undefined && (trusted === byId || only.name?.value === meant);
    return isMeant && otherOperations.length === 0 ? [{ trusted, operation: only }] : [];
  });
  const [first, ...otherMatches] = matches;
  if (first === undefined)
    throw new Error(`TRUSTED_DOCUMENTS has no document ${excerpt(meant)} with a single operation.`);
  if (otherMatches.length > 0)
    throw new Error(`Several documents are called ${meant}: name one by its hash.`);
  if (first.operation.operation !== OperationTypeNode.QUERY) throw new Error(`${meant} is no query.`);
  return { trusted: first.trusted, description: first.operation.description?.value ?? null };
}

/** @throws Error if one of them can't be a parameter of an address */
function variablesOf({ inputs }: Operation): readonly PublicVariable[] {
  for (const { name, value } of inputs) {
    if ((LOOKS as readonly string[]).includes(name))
      throw new Error(`$${name} has the name of a parameter of addresses.`);
    if (value.kind === 'other')
      throw new Error(
        `$${name} can't be written in an address: it must be a single value, or a list of them.`,
      );
  }
  return inputs;
}

/**
 * Reads variables from an address: lists by comma, or by a parameter for each item.
 * @returns the variables, and those of the parameters that give them
 * @throws Failure BAD_USER_INPUT
 */
export function variablesIn({ variables, errorsOf }: PublicDocument, search: URLSearchParams) {
  const given: Record<string, unknown> = {};
  const names = new Set(search.keys());
  if (search.size > MAX_PARAMETERS) throw refusal(`An address has up to ${MAX_PARAMETERS} parameters.`);
  for (const name of names) {
    const isLook = (LOOKS as readonly string[]).includes(name) || name.startsWith(OF_PICTURE);
    if (STRANGE.test(name) || isLook) continue;
    const variable = variables.find((one) => one.name === name);
    if (variable === undefined) {
      const names = variables.map((one) => one.name).join(', ');
      throw refusal(
        `There is no variable ${excerpt(name)} here${names === '' ? '' : `; there is ${names}`}.`,
      );
    }
    given[name] = readValue(variable, search.getAll(name));
  }
  const errors = errorsOf(given);
  if (errors.length > 0) throw refusal(excerpt(errors.join(' ')));
  const giving = new URLSearchParams([...search].filter(([name]) => Object.hasOwn(given, name)));
  return { variables: given, given: giving.toString() };
}

function readValue({ name, isList, value }: PublicVariable, texts: readonly string[]): unknown {
  if (isList) {
    const items = texts.flatMap((text) => text.split(',')).filter((text) => text !== '');
    return items.map((item) => readScalar(name, value, item));
  }
  const [only = '', ...rest] = texts;
  if (rest.length > 0) throw refusal(`The variable ${name} is given ${texts.length} times.`);
  return readScalar(name, value, only);
}

function readScalar(name: string, { kind, name: type }: PublicVariable['value'], text: string): unknown {
  const scalar = kind === 'scalar' ? type : '';
  if (scalar === 'Boolean') {
    if (text !== 'true' && text !== 'false') throw refusal(`The variable ${name} must be true or false.`);
    return text === 'true';
  }
  if (scalar !== 'Int' && scalar !== 'Float') return text;
  const number = numberOf(text);
  if (number === null) throw refusal(`The variable ${name} must be a number.`);
  return number;
}

/** The name of a page in words, as its title where it has no other. */
export function nameInWords(name: string): string {
  const words = name.replaceAll(/[-_.]+/g, ' ').trim();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** Fills in the variables that a title names, as in `Population since $from`. */
export function headingOf(
  { title, variables }: Pick<PublicDocument, 'title' | 'variables'>,
  given: Readonly<Record<string, unknown>>,
  countryName: CountryNames,
): string | null {
  if (title === null) return null;
  const heading = title.replaceAll(/\$(\w+)/g, (written, name) => {
    const variable = variables.find((one) => one.name === name);
    const value = given[name] ?? variable?.usual?.value ?? null;
    if (variable === undefined || value === null) return written;
    const areCodes = variable.type.includes('CountryCode');
    const words = [value].flat().map((one) => (areCodes ? countryName(String(one)) : String(one)));
    return new Intl.ListFormat('en').format(words);
  });
  // HTML and oEmbed's readers take no control characters.
  return excerpt(heading.replace(/\p{Cc}+/gu, ' '), MAX_HEADING);
}

export function parametersInWords({ variables }: PublicDocument): readonly string[] {
  const parameters = variables.map(
    ({ name, type, usual }) => `${name}: ${type}${usual === null ? '' : `, ${usual.text} if left out`}`,
  );
  return [
    variables.length === 0
      ? 'What it asks for is fixed: its operation has no variables, so no parameter changes its countries or years.'
      : `Variables: ${parameters.join('; ')}. Items of a list stand between commas.`,
    `The picture: ${Object.keys(PictureTerms.shape)
      .map((name) => OF_PICTURE + name)
      .join(', ')}.`,
    'The page: theme (light, dark or auto).',
  ];
}

/**
 * @param usualTheme that of the document
 * @throws Failure BAD_USER_INPUT
 */
export function lookIn(search: URLSearchParams, isPage = false, usualTheme: PublicTerms['theme'] = 'auto') {
  const {
    theme = usualTheme === 'auto' && !isPage ? 'light' : usualTheme,
    width = String(WIDTHS.usual),
    bare = '0',
    bom = 'absent',
    tips = '0',
  } = Object.fromEntries(search);
  if (theme !== 'light' && theme !== 'dark' && !(isPage && theme === 'auto'))
    throw refusal(`theme must be light${isPage ? ', dark or auto' : ' or dark'}.`);
  const { least, most } = WIDTHS;
  const pixels = numberOf(width) ?? 0;
  if (!Number.isInteger(pixels) || pixels < least || pixels > most)
    throw refusal(`width must be from ${least} to ${most} pixels.`);
  if (bare !== '0' && bare !== '1') throw refusal('bare must be 0 or 1.');
  if (tips !== '0' && tips !== '1') throw refusal('tips must be 0 or 1.');
  if (bom !== 'present' && bom !== 'absent') throw refusal('bom must be present or absent.');
  return {
    theme,
    width: pixels,
    isBare: bare === '1',
    isMarked: bom === 'present',
    hasTips: tips === '1',
  } as const;
}

/**
 * Reads the look of a picture, which overrides the operator's: `picture.kind=map&picture.year=2010`. Lists have a parameter
 * for each item.
 * @returns the look, and the parameters that give it
 * @throws Failure BAD_USER_INPUT
 */
export function pictureIn(search: URLSearchParams): {
  readonly picture: PictureLook;
  readonly given: string;
} {
  const giving = new URLSearchParams([...search].filter(([name]) => name.startsWith(OF_PICTURE)));
  const kind = giving.get(`${OF_PICTURE}kind`);
  if (kind !== null) giving.set(`${OF_PICTURE}kind`, presentKind(kind));
  const settings: Record<string, unknown> = {};
  for (const key of new Set(giving.keys())) {
    const name = key.slice(OF_PICTURE.length);
    const texts = giving.getAll(key);
    const [text = ''] = texts;
    if (name === 'highlight' || name === 'removed') settings[name] = texts;
    else if (name === 'base' || name === 'year') settings[name] = numberOf(text) ?? text;
    else settings[name] = text === 'true' || (text === 'false' ? false : text);
  }
  const parsed = PictureTerms.safeParse(settings);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refusal(excerpt(`${OF_PICTURE}${[issue?.path[0] ?? '…']}: ${issue?.message}`));
  }
  return { picture: parsed.data, given: giving.toString() };
}

function refusal(message: string): Failure {
  return new Failure('BAD_USER_INPUT', message);
}
