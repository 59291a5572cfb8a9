import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOffline } from '../../clients/client/src/testing.ts';
import { runCommand } from '../support/command.ts';
import { startSandbox } from '../support/sandbox-service.ts';

const ENTRY = fileURLToPath(new URL('../../clients/client/src/testing.ts', import.meta.url));
const QUERY = '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }';
const run = promisify(execFile);

/** A test of a user: the same setup whether it records or not. */
const ASKING = `
  import { startOffline } from ${JSON.stringify(ENTRY)};
  const stop = await startOffline(process.argv[1]);
  const response = await fetch(process.env.COUNTRY_GRAPH_URL, {
    method: 'POST',
    headers: { authorization: 'Bearer any-key', 'content-type': 'application/json' },
    body: JSON.stringify({ query: ${JSON.stringify(QUERY)} }),
  });
  const { data, extensions } = await response.json();
  console.log(JSON.stringify({ value: data.country.observation.value, calls: extensions.upstream.calls }));
  await stop();
`;

describe('a gateway beside tests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'country-graph-testing-'));
  const fixtures = join(folder, 'fixtures.ndjson');
  const asking = [process.execPath, '--input-type=module', '-e', ASKING, fixtures];

  beforeAll(async () => {
    await using sandbox = await startSandbox();
    const { code } = await runCommand(['record', '--out', fixtures, '--', ...asking], {
      env: { COUNTRY_DATA_URL: sandbox.url, COUNTRY_GRAPH_KEY: sandbox.keys.team },
    });
    expect(code).toBe(0);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('a gateway beside tests answers from what the same setup recorded, and is gone with them', async () => {
    const [program = '', ...args] = asking;
    const { stdout } = await run(program, args);
    expect(JSON.parse(stdout)).toEqual({ value: expect.any(Number), calls: 0 });
  });

  it('a gateway beside tests is at the address that they find, until it is stopped', async () => {
    const stop = await startOffline(fixtures, { origins: 'http://page.example' });
    const headers = { origin: 'http://page.example', 'content-type': 'application/json' };
    const ask = () => fetch(stop.url, { method: 'POST', headers, body: '{"query":"{ __typename }"}' });
    expect(process.env.COUNTRY_GRAPH_URL).toBe(stop.url);
    expect((await ask()).headers.get('access-control-allow-origin')).toBe('http://page.example');
    await stop();
    expect(process.env.COUNTRY_GRAPH_URL).toBeUndefined();
    await expect(ask()).rejects.toThrow();
  });

  it('a gateway beside tests says that it has ended if it can’t serve', async () => {
    const broken = join(folder, 'broken.ndjson');
    writeFileSync(broken, 'no fixtures');
    await expect(startOffline(broken)).rejects.toThrow('The gateway exited with');
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    await expect(startOffline(fixtures, { port })).rejects.toThrow('The gateway exited with');
    taken.close();
  });
});
