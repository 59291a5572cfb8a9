import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { LRUCache } from 'lru-cache';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { Dice } from '../execution/dice.ts';
import { type Fuzzed, openFuzzed, posted } from './asking.ts';
import { broken } from './bodies.ts';
import { CAMPAIGN, campaign, seed } from './campaign.ts';

/**
 * Calls of an operation, at the most. The service sends anything in place of its true answers; the gateway
 * names the parts that it can't read, and goes on.
 */
const MAX_CALLS = 60;
/** Share of the answers that are as they should be. */
const SOUND_SHARE = 0.25;
/** Operations of one key: words of a service about a key, such as that it is spent, last. */
const RUNS_PER_KEY = 10;

const OPERATIONS = [
  '{ health { status record } platformVersion { version record } }',
  '{ countries { id code name iso3 officialName capital region subregion record } }',
  '{ countries(codes: ["KE", "NG"]) { name profile { record country { code } indicators { key name unit value year period record source { key record } indicator { key category record } } } } }',
  '{ country(code: "KE") { signals { record observations { id value year period } fxRates { baseCurrency quoteCurrency rate rateDate countries { code name } source { key nextRun } } commodityBenchmarks { commodityKey priceValue priceDate } disasterAlerts { eventKey alertScore eventFromAt eventToAt source { key } record } } } }',
  '{ country(code: "KE") { offices { id name roleType record country { name } terms { holder startDate endDate status record } } } }',
  '{ indicators { id key name unit category hasData record sources { key lastSuccessfulRefresh } } }',
  '{ indicator(key: "population_total") { name observation(countryCode: "KE") { value } observations(countryCodes: ["KE", "UG"], latest: true) { value year } } }',
  '{ sources { id key lastSuccessfulRefresh nextRun record } source(key: "world_bank_wdi") { nextRun } }',
  '{ observations(countryCodes: ["KE", "NG", "ZA"], metricKeys: ["population_total", "gdp_current_usd"], latest: true) { id value unit year period asOfPeriod locationName valueStatus isModelled estimateLow estimateHigh datasetVersion retrievedAt record freshness { fetchedAt stale reason } country { name } indicator { name unit } source { key } } }',
  '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"], fromYear: 2000) { value year } country(code: "KE") { observation(metricKey: "population_total") { value year } } }',
  '{ tickers { id exchangeCode symbol name instrumentType sector industry session closePrice changePercent record country { name } } }',
  '{ tickers(exchangeCode: "NGX") { symbol } ticker(exchangeCode: "NGX", symbol: "SYN001") { name closePrice } countries { tickers { symbol } } quota { plan state requestsPerMinute monthlyRequests } }',
];

const truths = new LRUCache<string, string>({ max: 1_000 });
const sandbox = createSandbox({ plans: { team: { requestsPerMinute: 1e9, monthlyRequests: 1e12 } } });
let dice = new Dice(0);
let calls = 0;
let serviceUrl = '';

async function truthOf(target: string): Promise<string> {
  const headers = { authorization: `Bearer ${sandbox.keys.team}` };
  const truth = truths.get(target) ?? (await (await fetch(serviceUrl + target, { headers })).text());
  truths.set(target, truth);
  sandbox.log.clear();
  return truth;
}

const service = createServer(async (request, response) => {
  calls += 1;
  const truth = await truthOf(request.url ?? '/');
  if (dice.chance(SOUND_SHARE)) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(truth);
    return;
  }
  const { status, headers, body } = broken(truth, dice);
  // Breaks the connection: the body ends before its stated length.
  const isCut = dice.chance(0.01);
  response.writeHead(status, isCut ? { ...headers, 'content-length': body.length + 1 } : headers);
  if (isCut) response.write(body, () => request.socket.destroy());
  else response.end(body);
});
service.keepAliveTimeout = 120_000;

let fuzzed: Fuzzed;
beforeAll(async () => {
  serviceUrl = (await sandbox.listen()).url;
  await new Promise<void>((listening) => service.listen(0, '127.0.0.1', listening));
  fuzzed = await openFuzzed({
    upstreamUrl: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    env: { CACHE_TTL_SECONDS: '0', STALE_IF_ERROR_SECONDS: '60', UPSTREAM_RETRIES: '0' },
  });
});
afterAll(async () => {
  await fuzzed[Symbol.asyncDispose]();
  service.closeAllConnections();
  await new Promise((closed) => service.close(closed));
  await sandbox.close();
});

it('the gateway says what it can’t read of what the service sends', CAMPAIGN, async () => {
  const outcomes = new Map<string, number>();
  let runs = 0;
  let allCalls = 0;
  await campaign(
    'upstream bodies',
    fc.record({ seed, query: fc.noShrink(fc.constantFrom(...OPERATIONS)) }),
    async ({ seed, query }) => {
      dice = new Dice(seed);
      calls = 0;
      const key = `k${Math.floor(runs / RUNS_PER_KEY)}`;
      runs += 1;
      const { body, codes } = await fuzzed.send(
        '',
        posted({ query }, { authorization: `Bearer ${key}` }),
        `${query}, seed ${seed}`,
      );
      expect(calls).toBeLessThanOrEqual(MAX_CALLS);
      expect(body.extensions.upstream.calls).toBe(calls);
      allCalls += calls;
      for (const code of new Set(codes.length === 0 ? ['no error'] : codes)) {
        outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
      }
    },
    () => `, ${allCalls} calls, ${JSON.stringify(Object.fromEntries(outcomes))}`,
  );
});
