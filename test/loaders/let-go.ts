/**
 * Kilobytes an operation that young-generation collections can't free once all operations are over. One key asks, for what
 * the process notes of each key is not meant. Run with `--expose-gc` and a young generation that holds all of a sample.
 */
import { getHeapSpaceStatistics } from 'node:v8';
import { Agent, type Dispatcher } from 'undici';
import { readConfig } from '../../src/config/config.ts';
import { createGateway } from '../../src/gateway/gateway.ts';

const OPERATIONS = 200;

const CODES = ['KE', 'NG', 'GH', 'ZA'];

const CONTROLLER = {} as Dispatcher.DispatchController;

/** Answers in place of the service. */
Agent.prototype.dispatch = ({ path }, handler) => {
  const { pathname, searchParams } = new URL(path, 'http://service');
  const data = pathname.endsWith('/countries')
    ? CODES.map((code) => ({ id: code, name: code }))
    : (searchParams.get('country_codes') ?? '').split(',').map((code) => ({
        country_code: code.toUpperCase(),
        metric_key: searchParams.get('metric_keys'),
        country_name: code,
        metric_name: 'GDP',
        value: Math.random(),
        unit: 'US$',
        year: 2024,
        period: '2024',
        source: 'bank',
        value_status: 'observed',
        dataset_version: '1',
        retrieved_at: '2026-01-01T00:00:00Z',
      }));
  handler.onRequestStart?.(CONTROLLER, {});
  setImmediate(() => {
    handler.onResponseStart?.(CONTROLLER, 200, {}, 'OK');
    handler.onResponseData?.(CONTROLLER, Buffer.from(JSON.stringify({ data })));
    handler.onResponseEnd?.(CONTROLLER, {});
  });
  return true;
};

const gateway = await createGateway({
  config: readConfig({ CACHE_URL: 'none' }, []),
  upstreamUrl: 'http://service',
  observer: { operation() {}, attempt() {}, problem() {} },
});

async function ask(operation: number): Promise<void> {
  const code = CODES[operation % CODES.length];
  const query = `{ country(code: "${code}") { name observation(metricKey: "gdp") { value } } }`;
  const { body } = await gateway.handle({
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer key' },
    search: '',
    body: { query },
    signal: new AbortController().signal,
  });
  if (!/"value":\s*0\./.test(String(body))) throw new Error(String(body));
}

async function heldAfter(operations: number): Promise<number> {
  globalThis.gc?.();
  const before = usedBytes();
  for (let i = 0; i < operations; i += 1) await ask(i);
  await new Promise((resolve) => setImmediate(resolve));
  for (let i = 0; i < 2; i += 1) globalThis.gc?.({ type: 'minor' });
  return (usedBytes() - before) / operations / 1_000;
}

function usedBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => ['new_space', 'old_space'].includes(name))
    .reduce((sum, { space_used_size: used }) => sum + used, 0);
}

// The first ones compile, and fill what is made once.
await heldAfter(5 * OPERATIONS);
console.log(JSON.stringify(await heldAfter(OPERATIONS)));
await gateway.stop();
