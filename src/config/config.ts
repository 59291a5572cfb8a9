import { accessSync, constants, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../shared/errors.ts';
import { type NamedSource, SERVICE, type SourceNames } from '../shared/source-names.ts';
import { checkedJson, FileError, readTextSync } from '../shared/text-files.ts';
import { autoWorkers, budgetOf, MAX_WORKERS, type MemoryOwner } from './memory-budget.ts';
import { originIn } from './origins.ts';

const SQLITE = 'sqlite:';

/** Redis addresses must be such that the client can read them. */
function isCacheAddress(address: string): boolean {
  if (address === 'memory:' || address === 'none') return true;
  return address.startsWith(SQLITE) ? address.slice(SQLITE.length).trim() !== '' : isOfRedis(address);
}

function isOfRedis(address: string): boolean {
  if (!/^rediss?:\/\/./.test(address)) return false;
  const url = URL.parse(address);
  if (url === null || url.port === '0' || /\s/.test(url.hostname)) return false;
  const isDatabase = /^\/?\d*$/.test(url.pathname);
  return isDatabase && [url.username, url.password, url.hostname].every(isDecodable);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Says why SQLite can't open the file of an address; null if it can. */
function sqliteError(address: string): string | null {
  if (!address.startsWith(SQLITE)) return null;
  const path = address.slice(SQLITE.length);
  if (path === ':memory:') return null;
  const { R_OK: READ, W_OK: WRITE, X_OK: SEARCH } = constants;
  try {
    const file = statSync(path, { throwIfNoEntry: false });
    if (file?.isDirectory()) return `${path} can't hold a cache: it is a folder, not a file`;
    if (file !== undefined) accessSync(path, READ | WRITE);
    // SQLite keeps further files beside it.
    accessSync(dirname(path), WRITE | SEARCH);
    return null;
  } catch (error) {
    return `${path} can't hold a cache: ${messageOf(error)}`;
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/** A plugin, as far as settings are concerned. */
export interface SettingsOwner {
  /** In kebab-case, unique. */
  readonly name: string;
  /** Checks by names in the environment. */
  readonly settings: z.ZodRawShape;
  /** Settings that are secret, or hold a password: each may be given by the name of a file instead. */
  readonly secrets?: readonly string[];
  /** Its memory in each process that answers; null if negligible. */
  memory?(settings: never): MemoryOwner | null;
  /** Errors of combinations of settings, a line each. */
  errors?(given: Env): readonly string[];
}

/** Checks and reads a whole number within bounds, both included. */
export const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((n) => n >= least && n <= most, `must be from ${least} to ${most}`);

const workers = z
  .string()
  .regex(/^(auto|\d+)$/, 'must be a whole number, or auto')
  .transform((text) => (text === 'auto' ? autoWorkers() : Number(text)))
  .refine((n) => n >= 1 && n <= MAX_WORKERS, `must be from 1 to ${MAX_WORKERS}, or auto`);

/** Without a scheme, http is meant, as in other programs. */
const proxyAddress = z
  .string()
  .transform((text) => (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`))
  .refine(
    (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
    'must be the http:// or https:// address of a proxy',
  );

const PROXY_SETTINGS = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'] as const;

/** Checks `on` or `off`, and reads it as a boolean. */
export const onOff = z.enum(['on', 'off'], 'must be on or off').transform((word) => word === 'on');

/** The items of a comma-separated list, without blanks around them, and without empty ones. */
export const itemsOf = (list: string) =>
  list
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);

const names = z
  .string()
  .transform(itemsOf)
  .pipe(z.array(z.string().regex(/^\w+$/, 'must be names such as node, comma-separated')));

/** An address, or a range such as 10.0.0.0/8. */
function isAddressRange(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  if (bits < 0 || rest.length > 0) return false;
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bits);
}

/** An address to ask by HTTP. A user in it would reach nobody: calls bear the caller's key, and fetch refuses it. */
export const httpAddress = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
  .refine(
    (url) => !URL.parse(url)?.username && !URL.parse(url)?.password,
    'must have no user and no password',
  );

/** Paths are appended to it, so it can't have a query or a fragment, not even empty ones. */
const baseAddress = httpAddress
  .refine((url) => !/[?#]/.test(url), 'must have no ? and no #')
  .refine((url) => URL.parse(url)?.port !== '0', 'must have a port that can be reached')
  .transform((url) => url.replace(/\/+$/, ''));

const HOUR_MS = 3_600_000;

const Environment = z.object({
  /** Base address of the REST service, without a trailing slash; undefined means the embedded sandbox. */
  COUNTRY_DATA_URL: baseAddress.optional(),
  /** Addresses whose `X-Forwarded-For` tells the address of the client. */
  TRUSTED_PROXIES: z
    .string()
    .transform(itemsOf)
    .refine((list) => list.every(isAddressRange), 'must be addresses or ranges such as 10.0.0.0/8')
    .default([]),
  /** Proxies through which the service is asked, by the scheme of its address, and hosts that are asked without. */
  HTTP_PROXY: proxyAddress.optional(),
  HTTPS_PROXY: proxyAddress.optional(),
  NO_PROXY: z.string().optional(),
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(4000),
  /** Port of health and metrics; undefined means beside everything else. */
  ADMIN_PORT: wholeNumber(0, 65_535).optional(),
  /** Processes that answer requests; with more than one, another one supervises them. */
  WORKERS: workers.default(1),
  /** Megabytes that all processes of the program may take together. */
  MEMORY_MB: wholeNumber(1, 1_048_576).optional(),
  CACHE_URL: z
    .string()
    .refine(isCacheAddress, 'must be memory:, sqlite:PATH, redis://HOST:PORT/DATABASE, rediss://… or none')
    .default('memory:'),
  CACHE_TTL_SECONDS: wholeNumber(0, 31_536_000).default(300),
  STALE_IF_ERROR_SECONDS: wholeNumber(0, 31_536_000).default(86_400),
  AUTH_TTL_SECONDS: wholeNumber(0, 31_536_000).default(300),
  /** True if a call may be spent on asking which sources have changed. */
  CACHE_RENEWAL: onOff.default(true),
  /** Bytes that a cache in memory may hold, roughly. */
  CACHE_MAX_BYTES: wholeNumber(1_048_576, 1_099_511_627_776).optional(),
  /** Milliseconds that one read or write of the cache may take before it is given up. */
  CACHE_TIMEOUT_MS: wholeNumber(1, 60_000).default(200),
  /** Bytes of whole answers that are cached for the next time that the same is asked; 0 for none. */
  ANSWERS_MAX_BYTES: wholeNumber(0, 1_099_511_627_776).optional(),
  /** Secret that keys are digested with; undefined means one is made. */
  KEY_PEPPER: z.string().min(16, 'must have 16 characters or more').optional(),
  BATCH_WINDOW_MS: wholeNumber(0, 1000).default(2),
  /** Milliseconds that a batch waits for loads that can still add to it. */
  BATCH_HOLD_MS: wholeNumber(0, 60_000).default(1000),
  /** Unwanted rows that one call may bring in order to save another. */
  BATCH_OVERFETCH_ROWS: wholeNumber(0, 100_000).default(1000),
  /** Country codes, and metric keys, that one data call may name. */
  CODES_PER_CALL: wholeNumber(1, 10_000).default(250),
  UPSTREAM_TIMEOUT_MS: wholeNumber(1, HOUR_MS).default(10_000),
  UPSTREAM_RETRIES: wholeNumber(0, 20).default(2),
  /** Milliseconds that one operation may take, its waits included. */
  OPERATION_TIMEOUT_MS: wholeNumber(1, HOUR_MS).default(30_000),
  RATE_LIMIT_WAIT_MS: wholeNumber(0, HOUR_MS).default(0),
  /** File of the operations that may run; undefined for any. */
  TRUSTED_DOCUMENTS: z.string().min(1).optional(),
  /** File of the names of sources. */
  SOURCE_NAMES: z.string().min(1).optional(),
  /** Name and page of the service, for all who see its figures. */
  ATTRIBUTION_NAME: z
    .string()
    .trim()
    .regex(/^\P{Cc}{1,200}$/u, 'must be one line of 1 to 200 characters')
    .default(SERVICE.name),
  ATTRIBUTION_URL: httpAddress.max(2_000, 'must have at most 2,000 characters: a header has it').optional(),
  /** Address of this gateway as others reach it, without a trailing slash; undefined for that of each request. */
  PUBLIC_URL: baseAddress.optional(),
  /** The keys by which only those may run: all, or the issued ones that say so. */
  TRUSTED_DOCUMENTS_FOR: z.enum(['all', 'issued'], 'must be all or issued').default('all'),
  /** Operations that are under way at once; those beyond wait for a little, then are refused. */
  MAX_CONCURRENT_OPERATIONS: wholeNumber(1, 100_000).default(512),
  MAX_UPSTREAM_CALLS: wholeNumber(1, 1_000_000).default(60),
  MAX_DEPTH: wholeNumber(1, 1000).default(12),
  MAX_ALIASES: wholeNumber(0, 100_000).default(200),
  MAX_ROOT_FIELDS: wholeNumber(1, 100_000).default(100),
  MAX_TOKENS: wholeNumber(1, 10_000_000).default(6_000),
  /** Items of one list that an operation gives: countries, metrics, identifiers, representations. */
  MAX_LIST_ITEMS: wholeNumber(1, 1_000_000).default(1000),
  MAX_BODY_BYTES: wholeNumber(1, 1_073_741_824).default(1_048_576),
  /** Bytes of the longest answer that is sent, before compression. */
  MAX_ANSWER_BYTES: wholeNumber(1024, 1_073_741_824).optional(),
  /** Milliseconds for which a program that is to stop, and isn't ready any more, takes new requests. */
  DRAIN_DELAY_MS: wholeNumber(0, HOUR_MS).default(0),
  /** Milliseconds that, from then on, requests under way may take. */
  DRAIN_TIMEOUT_MS: wholeNumber(0, HOUR_MS).default(10_000),
  /** True if clients are routers of a supergraph, which lose the body of any answer but 200. */
  SUBGRAPH: onOff.default(false),
  /** Root fields that the SDL for routers leaves out. */
  SUBGRAPH_OMIT: names.default([]),
  /** True if alpha-3 codes are a key of countries, too. */
  SUBGRAPH_ISO3: onOff.default(false),
  /** True if others may add fields to all nodes at once. */
  SUBGRAPH_NODE: onOff.default(false),
  /** The beginning of our types and root fields for routers. */
  SUBGRAPH_PREFIX: z
    .string()
    .regex(
      /^[A-Za-z][A-Za-z0-9]*_$/,
      'must be letters and digits with one underscore at the end, such as CG_',
    )
    .optional(),
  INTROSPECTION: onOff.default(true),
  CORS_ORIGINS: z
    .string()
    .transform(itemsOf)
    .pipe(
      z.array(
        z.union(
          [z.literal('*'), z.string().transform(originIn).pipe(z.string())],
          'must be origins such as https://app.example or https://*.app.example, or *',
        ),
      ),
    )
    .default([]),
  /** Read by `cli/named-plugins.ts`, since plugins bring settings of their own. */
  PLUGINS: z.string().optional(),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'must be a pino level')
    .default('info'),
});

/** Each may be given by the name of a file instead, as `KEY_PEPPER_FILE`. */
const SECRETS = ['KEY_PEPPER', 'CACHE_URL'] as const;

export type SettingName = keyof typeof Environment.shape | `${(typeof SECRETS)[number]}_FILE`;

export function settingNamesOf(owners: readonly SettingsOwner[]): readonly string[] {
  const ofKernel = [...Object.keys(Environment.shape), ...SECRETS.map((name) => `${name}_FILE`)];
  return [...ofKernel, ...owners.flatMap(ownSettingNames)];
}

export function ownSettingNames({ settings, secrets = [] }: SettingsOwner): readonly string[] {
  return [...Object.keys(settings), ...secrets.map((name) => `${name}_FILE`)];
}

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

type Checked = z.output<typeof Environment>;

/** The checked settings of one gateway: those of {@link Environment}, in camelCase. */
export type Config = {
  readonly [Name in Exclude<
    keyof Checked,
    'SOURCE_NAMES' | 'ATTRIBUTION_NAME' | 'ATTRIBUTION_URL' | 'PLUGINS'
  > as CamelCase<Name>]: Checked[Name];
} & ReturnType<typeof budgetOf>['settings'] & {
    /** Whom figures are attributed to. */
    readonly attribution: NamedSource;
    /** From the operator's file; undefined if there is none. */
    readonly sourceNames: SourceNames | undefined;
    /** Settings of each plugin by its name, by their names in the environment. */
    readonly plugins: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };

/** The message names every error, a line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** @param errors a line each, which begins with the name of the setting */
export function settingsError(...errors: readonly string[]): ConfigError {
  const lines = errors.map((error) => `  ${error}`).join('\n');
  return new ConfigError(`The settings have ${errors.length} error(s):\n${lines}`);
}

const Attribution = Environment.pick({ ATTRIBUTION_NAME: true, ATTRIBUTION_URL: true });

function attributionOf(settings: z.infer<typeof Attribution>): NamedSource {
  return { name: settings.ATTRIBUTION_NAME, url: settings.ATTRIBUTION_URL ?? null };
}

/**
 * Reads the service's name and page alone, for commands that compose no gateway.
 * @throws ConfigError
 */
export function readAttribution({ ATTRIBUTION_NAME, ATTRIBUTION_URL }: Env): NamedSource {
  const { data, error } = Attribution.safeParse({
    ATTRIBUTION_NAME: ATTRIBUTION_NAME || undefined,
    ATTRIBUTION_URL: ATTRIBUTION_URL || undefined,
  });
  if (data !== undefined) return attributionOf(data);
  throw settingsError(...error.issues.map(({ path, message }) => `${String(path[0])}: ${message}`));
}

/**
 * Reads the settings, and secrets from their files. An empty variable counts as unset, except for the service's
 * address: without that, answers have synthetic figures.
 * @param owners plugins
 * @param machine the memory, from which some defaults are derived
 * @throws ConfigError naming every setting that is wrong
 */
export function readConfig(
  env: Env,
  owners: readonly SettingsOwner[] = [],
  machine?: Parameters<typeof budgetOf>[1],
): Config {
  const { given, errors } = withSecrets(
    Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== '')),
    [...SECRETS, ...owners.flatMap(({ secrets = [] }) => secrets)],
  );
  // Both spellings are usual, and the lower one wins in other programs as well.
  for (const name of PROXY_SETTINGS) given[name] = given[name.toLowerCase()] ?? given[name];
  if (env.COUNTRY_DATA_URL === '')
    errors.push('COUNTRY_DATA_URL: is empty; name the service, or leave it out for the embedded sandbox');
  const parsed = Environment.safeParse(given);
  const ofPlugins = owners.map(({ name, settings }) => ({ name, ...z.object(settings).safeParse(given) }));
  for (const issue of [parsed, ...ofPlugins].flatMap(({ error }) => error?.issues ?? [])) {
    const name = String(issue.path[0]);
    errors.push(
      given[name] === undefined
        ? `${name}: must be set`
        : `${name}: ${issue.message} (got ${shown(name, given[name])})`,
    );
  }
  const { PORT: port = '4000', ADMIN_PORT: adminPort } = given;
  // Both may be 0, for free ports.
  if (adminPort !== undefined && Number(adminPort) !== 0 && Number(adminPort) === Number(port))
    errors.push('ADMIN_PORT: must be another port than PORT');
  if (given.TRUSTED_DOCUMENTS_FOR === 'issued' && given.TRUSTED_DOCUMENTS === undefined)
    errors.push('TRUSTED_DOCUMENTS_FOR: issued needs TRUSTED_DOCUMENTS to name the documents');
  const unfit = sqliteError(given.CACHE_URL ?? '');
  if (unfit !== null) errors.push(`CACHE_URL: ${unfit}`);
  const { sourceNames, errors: ofNames } = sourceNamesIn(given.SOURCE_NAMES);
  errors.push(...ofNames.map((error) => `SOURCE_NAMES: ${error}`));
  errors.push(...owners.flatMap((owner) => owner.errors?.(given) ?? []));
  const memoryOwners = owners.flatMap(({ memory }, i) => memory?.((ofPlugins[i]?.data ?? {}) as never) ?? []);
  const budget = parsed.data && budgetOf(parsed.data, machine, memoryOwners);
  errors.push(...(budget?.errors ?? []));
  if (!parsed.success || budget === undefined || errors.length > 0) {
    throw settingsError(...errors);
  }
  const checked: Readonly<Record<string, unknown>> = parsed.data;
  const settings = Object.keys(Environment.shape).map((name) => [camelCase(name), checked[name]]);
  const plugins = Object.fromEntries(ofPlugins.map(({ name, data }) => [name, data]));
  return Object.freeze({
    ...Object.fromEntries(settings),
    ...budget.settings,
    attribution: attributionOf(parsed.data),
    sourceNames,
    plugins,
  });
}

/** Proxies for calls to the service, as undici takes them; null for none. */
export type OutgoingProxy = ReturnType<typeof outgoingProxyIn>;

/** Empty values keep undici from reading the environment. */
export function outgoingProxyIn({ countryDataUrl, httpProxy = '', httpsProxy = '', noProxy = '' }: Config) {
  const isNone = countryDataUrl === undefined || (httpProxy === '' && httpsProxy === '');
  return isNone ? null : { httpProxy, httpsProxy, noProxy };
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const SourceNamesFile = z.record(
  z.string().min(1),
  z.strictObject({
    name: z.string('must be a text').trim().min(1, 'must not be empty'),
    url: httpAddress.nullish().transform((url) => url ?? null),
  }),
);

function sourceNamesIn(file: string | undefined): {
  readonly sourceNames?: SourceNames;
  readonly errors: readonly string[];
} {
  if (file === undefined) return { errors: [] };
  try {
    const names = checkedJson(SourceNamesFile, readTextSync(file), file);
    return { sourceNames: new Map(Object.entries(names)), errors: [] };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return { errors: error.message.split('\n') };
  }
}

/** Reads secrets from their files. */
function withSecrets(env: Env, secrets: readonly string[]) {
  const given: Record<string, string | undefined> = { ...env };
  const errors: string[] = [];
  for (const name of secrets) {
    const file = env[`${name}_FILE`];
    if (file === undefined) continue;
    if (given[name] !== undefined) {
      errors.push(`${name}: is given twice, by itself and by ${name}_FILE; leave one of them out`);
      continue;
    }
    const { text, error } = textOf(file);
    if (error !== undefined) errors.push(`${name}_FILE: ${error}`);
    given[name] = text;
  }
  return { given, errors };
}

/** Editors and `echo` end the file with a newline, which is not part of the secret. */
function textOf(file: string): { readonly text?: string; readonly error?: string } {
  try {
    const text = readTextSync(file).replace(/\n$/, '');
    return text === ''
      ? { error: `must name a file with something in it (got ${JSON.stringify(file)})` }
      : { text };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

/** Secrets are not repeated in errors, nor are addresses, which may hold a password. */
function shown(name: string, value: string | undefined): string {
  if (name === 'KEY_PEPPER' || name.endsWith('_KEY')) return 'a secret';
  return name.endsWith('_URL') || name.endsWith('_PROXY') ? 'an address' : JSON.stringify(value);
}
