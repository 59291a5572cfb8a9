import { existsSync } from 'node:fs';
import type { Response } from 'undici';
import {
  type Config,
  ConfigError,
  type OutgoingProxy,
  outgoingProxyIn,
  readConfig,
} from '../config/config.ts';
import type { CommandHost } from '../gateway/plugin.ts';
import type { Finding } from '../plugin/definition.ts';
import { excerpt } from '../shared/errors.ts';
import { httpDateIn } from '../shared/periods.ts';
import { commandView } from './command-view.ts';
import { reasonOf } from './formats.ts';
import type { ProgramPlugins } from './named-plugins.ts';
import { remarksOf, strangeSettings } from './strange-settings.ts';

/** The `Date` header has whole seconds. */
const MAX_SKEW_MS = 5_000;

/** For the connection and the answer of the store. */
const STORE_TIMEOUT_MS = 3_000;

/** Nothing is cached under it. */
const NOTHING = 'doctor';

/**
 * Looks at everything that the gateway needs to run.
 * @param key tried, which spends one call; undefined tries none
 * @returns the findings, a line each, and true if none of them keeps the gateway from running
 */
export async function examine(
  host: CommandHost,
  programPlugins: ProgramPlugins,
  key: string | undefined,
  now: () => number,
) {
  const findings = await findingsOf(host, programPlugins, key, now);
  return { report: report(findings), isWell: findings.every(({ isWell }) => isWell !== false) };
}

async function findingsOf(
  host: CommandHost,
  { named, errors }: ProgramPlugins,
  key: string | undefined,
  now: () => number,
): Promise<readonly Finding[]> {
  const { env, plugins } = host;
  const ofPlugins = [
    ...errors.map((text) => ({ isWell: false, name: 'plugins', text })),
    ...Array.from(named, ([name, specifier]) => ({
      isWell: true,
      name: 'plugins',
      text: `${name}, of ${specifier}`,
    })),
  ];
  let config: Config;
  try {
    config = readConfig(env, plugins);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [...ofPlugins, { isWell: false, name: 'settings', text: error.message }];
  }
  const documents = await documentsFinding(config);
  return [
    ...ofPlugins,
    { isWell: true, name: 'settings', text: 'all can be read' },
    ...[...strangeSettings(env, plugins), ...remarksOf(plugins, env, config)].map((text) => ({
      isWell: null,
      name: 'settings',
      text,
    })),
    ...(documents === null ? [] : [documents]),
    ...(await serviceFindings(config, key, now)),
    await storeFinding(config),
    ...(await Promise.all(plugins.map((plugin) => plugin.findings?.(commandView(host), key) ?? []))).flat(),
  ];
}

async function documentsFinding({ trustedDocuments }: Config): Promise<Finding | null> {
  if (trustedDocuments === undefined) return null;
  const name = 'trusted documents';
  const { openTrusted } = await import('../graphql/request/trusted.ts');
  return openTrusted(trustedDocuments).then(
    ({ trusted, stop }) => {
      stop();
      return { isWell: true, name, text: `${trusted?.length ?? 0} operation(s)` };
    },
    (error: unknown) => ({ isWell: false, name, text: reasonOf(error) }),
  );
}

async function serviceFindings(
  config: Config,
  key: string | undefined,
  now: () => number,
): Promise<Finding[]> {
  const { countryDataUrl: base } = config;
  if (base === undefined) {
    const text = 'COUNTRY_DATA_URL is not set: the gateway would run over the embedded sandbox';
    const unused = 'not tried: it would be sent to COUNTRY_DATA_URL, which is not set';
    const keyFindings = key === undefined ? [] : [{ isWell: null, name: 'key', text: unused }];
    return [{ isWell: null, name: 'service', text }, ...keyFindings];
  }
  const proxy = outgoingProxyIn(config);
  const get = getting(config.upstreamTimeoutMs, proxy);
  const asked = await get(`${base}/health`);
  const way = 'calls leave by HTTP_PROXY and HTTPS_PROXY, but for hosts of NO_PROXY';
  const proxied = proxy === null ? [] : [{ isWell: null, name: 'proxy', text: way }];
  if (typeof asked === 'string')
    return [...proxied, { isWell: false, name: 'service', text: `not reached: ${asked}` }];
  const { status } = asked;
  const isWell = status === 200;
  const findings = [
    ...proxied,
    { isWell, name: 'service', text: `/health answers ${status}` },
    clockFinding(asked.headers.get('date'), now()),
  ];
  if (key === undefined || !isWell) {
    const text =
      key === undefined ? 'none given, so none was tried' : 'not tried, as the service is not well';
    return [...findings, { isWell: null, name: 'key', text }];
  }
  return [...findings, await keyFinding(base, key, get)];
}

function clockFinding(date: string | null, nowMs: number): Finding {
  const name = 'clock';
  const serviceTime = httpDateIn(date ?? '');
  if (serviceTime === null) return { isWell: null, name, text: 'the service does not tell its time' };
  const skew = nowMs - serviceTime;
  const seconds = Math.round(Math.abs(skew) / 1000);
  if (Math.abs(skew) <= MAX_SKEW_MS) return { isWell: true, name, text: "goes with the service's" };
  const text = `${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} the service's: minutes and months are not told right`;
  return { isWell: false, name, text };
}

/** Makes the one call that is metered: the list of countries. */
async function keyFinding(base: string, key: string, get: ReturnType<typeof getting>): Promise<Finding> {
  const name = 'key';
  const asked = await get(`${base}/v1/countries`, { authorization: `Bearer ${key}` });
  if (typeof asked === 'string') return { isWell: false, name, text: `not tried: ${asked}` };
  const { status } = asked;
  if (status === 200) return { isWell: true, name, text: 'accepted, for one call of its quota' };
  const body: unknown = await asked.json().catch(() => null);
  const { isOwnError } = await import('../service/failed-answers.ts');
  if (!isOwnError(body)) {
    const text = `/v1/countries answers ${status} with a page that is not the service's, which says nothing of the key`;
    return { isWell: false, name, text };
  }
  // The service's words may hold the key.
  const detail = excerpt(String(body.detail).replaceAll(key, '[redacted]'));
  const meaning: Readonly<Record<number, string>> = {
    401: 'refused: the service does not know it',
    403: 'refused: it may not read /v1/countries',
    429: `known, but has nothing left: ${detail}`,
  };
  return { isWell: false, name, text: meaning[status] ?? `/v1/countries answers ${status}` };
}

/** Requests go the way that the gateway's calls would, by proxies if there are any. */
function getting(timeoutMs: number, proxy: OutgoingProxy) {
  return async (url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response | string> => {
    const { EnvHttpProxyAgent, fetch } = await import('undici');
    const dispatcher = proxy === null ? {} : { dispatcher: new EnvHttpProxyAgent(proxy) };
    try {
      return await fetch(url, {
        headers: { accept: 'application/json', ...headers },
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
        ...dispatcher,
      });
    } catch (error) {
      return reasonOf(error);
    }
  };
}

async function storeFinding(config: Config): Promise<Finding> {
  const name = 'cache';
  const { cacheUrl } = config;
  if (cacheUrl === 'memory:' || cacheUrl === 'none') {
    return { isWell: true, name, text: `${cacheUrl} needs nothing beside the program` };
  }
  if (cacheUrl.startsWith('sqlite:')) {
    // Settings with a file that can't be written are refused. To open a damaged one would set it aside, though a gateway may use it.
    const isThere = existsSync(cacheUrl.slice('sqlite:'.length));
    return { isWell: true, name, text: isThere ? 'the file can be written' : 'the file can be made' };
  }
  // Not the address, which may hold a password.
  const { openStore } = await import('../cache/open-store.ts');
  let problem: unknown;
  try {
    const store = await openStore({
      url: cacheUrl,
      timeoutMs: STORE_TIMEOUT_MS,
      maxBytes: config.cacheMaxBytes,
      onError: (error) => {
        problem ??= error;
      },
    });
    // An outage is reported after some failures.
    for (let i = 0; i < 3; i += 1) await store?.getMany([NOTHING]);
    await store?.close();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { isWell: false, name, text: error.message };
  }
  if (problem !== undefined)
    return { isWell: false, name, text: `the store is not reached: ${reasonOf(problem)}` };
  return { isWell: true, name, text: 'the store answers' };
}

function report(findings: readonly Finding[]): string {
  return findings
    .map(({ isWell, name, text }) => {
      const mark = isWell === null ? '--' : isWell ? 'ok' : 'NO';
      return `${mark}  ${name}: ${text.replace(/[^\P{Cc}\n]+/gu, ' ')}\n`;
    })
    .join('');
}
