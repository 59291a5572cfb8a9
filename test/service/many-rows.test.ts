import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { observationSteps } from '../../src/service/records/observations.ts';
import { openProgram } from '../support/program.ts';
import { SENT_ROW } from '../support/sent-row.ts';

const SERIES = '{ observations(countryCodes: ["KE"], metricKeys: ["population_total"]) { value } }';

/** A service that answers everything with the same rows. */
async function openServiceOf(rows: readonly object[]) {
  const requests: (string | undefined)[] = [];
  const body = JSON.stringify({ data: rows, meta: { total: rows.length } });
  const server = createServer(({ url }, response) => {
    requests.push(url?.split('?')[0]);
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const OF_ALL = { ...SENT_ROW, country_code: 'KE', metric_key: 'population_total' };

it.each([
  ['that were asked for', OF_ALL],
  ['of nothing', { row: 'of nothing' }],
])('a body of more rows than any call can have is not read to its end: rows %s', async (_, row) => {
  const rows = Array.from({ length: 60_000 }, (_, year) => ({ ...row, year }));
  await using service = await openServiceOf(rows);
  await using program = await openProgram({ upstreamUrl: service.url });
  const keys = Array.from({ length: 26 }, (_, index) => `measure_${index}`);
  const { errors } = await program.ask(
    `{ observations(countryCodes: ["KE"], metricKeys: ${JSON.stringify(keys)}) { value } }`,
  );
  const detail = 'the list has more than 25000 rows, the most that any call can have';
  expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_INVALID_RESPONSE', detail } }]);
  expect(service.requests).toEqual(['/v1/data']);
});

it.each([
  ['a long body', OF_ALL],
  ['a short body', {}],
])('an answer with more rows than its call can have is refused, with both bounds: %s', async (_, row) => {
  const rows = Array.from({ length: 10_001 }, () => row);
  await using service = await openServiceOf(rows);
  await using program = await openProgram({ upstreamUrl: service.url });
  const { errors } = await program.ask(SERIES);
  const detail = 'the list has more than 10000 rows, the most that this call can have (any call: 25000)';
  expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_INVALID_RESPONSE', detail } }]);
  expect(service.requests).toEqual(['/v1/data']);
});

it('rows of a long list are decoded in turns', () => {
  const data = Array.from({ length: 2_000 }, (_, year) => ({ ...SENT_ROW, year }));
  const steps = observationSteps({ data }, '/v1/data', 0);
  let count = 0;
  for (let step = steps.next(); ; step = steps.next(), count += 1)
    if (step.done) {
      expect(step.value.rows).toHaveLength(2_000);
      break;
    }
  expect(count).toBe(7);
});
