import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openProgram } from '../support/program.ts';

export interface Service {
  /** Address without a trailing slash. */
  readonly baseUrl: string;
  /** A key that the service takes. */
  readonly key: string;
  close(): Promise<void>;
}

/**
 * Duties of any implementation of the REST service, asked of it directly and through the gateway. Seven calls
 * with a key, so that it can be run against a metered service; run it once a minute on the smallest plan.
 */
export function checkService(name: string, open: () => Promise<Service>): void {
  describe(`the contract of the service: ${name}`, () => {
    let service: Service;
    beforeAll(async () => {
      service = await open();
    });
    afterAll(() => service.close());

    const get = (path: string, headers: Record<string, string> = {}) =>
      fetch(service.baseUrl + path, { headers });
    const bearer = () => ({ authorization: `Bearer ${service.key}` });

    it.each(['/health', '/v1/platform/version'])('%s is public', async (path) => {
      expect((await get(path)).status).toBe(200);
    });

    it.each([
      '/v1/data?country_codes=KE&metric_keys=population_total',
      '/v1/countries',
      '/v1/platform/etl-status',
    ])('%s is not', async (path) => {
      expect((await get(path)).status).toBe(401);
    });

    it('serves rows with the specified fields, for codes in either case', async () => {
      const path = (code: string) =>
        `/v1/data?country_codes=${code}&metric_keys=population_total&latest=true`;
      const [upper, lower] = [await get(path('KE'), bearer()), await get(path('ke'), bearer())];
      expect([upper.status, lower.status]).toEqual([200, 200]);
      const body = await upper.json();
      expect(await lower.json()).toEqual(body);
      expect(JSON.stringify(body)).toMatch(/"metric_key":\s*"population_total"/);
    });

    it('lets the list of countries be kept', async () => {
      const first = await get('/v1/countries', bearer());
      const etag = first.headers.get('etag');
      expect(first.headers.get('cache-control')).not.toBeNull();
      await first.arrayBuffer();
      const again = await get('/v1/countries', { ...bearer(), 'if-none-match': etag ?? '' });
      expect(again.status).toBe(304);
    });

    it('can be asked through the gateway', async () => {
      await using program = await openProgram({ upstreamUrl: service.baseUrl });
      const reply = await program.ask(
        '{ countries { code name observation(metricKey: "population_total") { value country { code } indicator { key } } } }',
        { key: service.key },
      );
      expect(reply.errors).toEqual([]);
      expect(reply.data.countries).toHaveLength(54);
      expect(reply.upstream.byRoute['/v1/countries']).toBe(1);
      for (const { code, observation } of reply.data.countries) {
        if (observation !== null) expect(observation.country.code).toBe(code);
      }
    });
  });
}
