import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/errors.ts';
import { cached } from '../../src/figures/held.ts';
import type { Demand } from '../../src/plan/demand.ts';
import { sendingFor } from '../upstream/sending.ts';
import {
  entryOf,
  fetchBy,
  held,
  latest,
  nextFrom,
  parts,
  rowsOf,
  TTL_MS,
  tenantCacheThat,
} from './stages.ts';

const DOWN = new Failure('UPSTREAM_UNAVAILABLE', 'The service is down.');
const accepted = tenantCacheThat(() => true);

function open(
  next: Parameters<typeof cached>[0],
  further: { tenantCache?: typeof accepted; down?: Failure } = {},
) {
  const wanted: Demand[] = [];
  const stage = cached(next, {
    ...parts,
    tenantCache: further.tenantCache ?? accepted,
    outage: { failure: () => further.down ?? null },
    prefetch: { wanted: (_key, demand) => wanted.push(demand) },
  });
  return { stage, wanted };
}

describe('what is held', () => {
  it('is served where it is fresh, and what is missing or old fetched alone', async () => {
    const [one, two, three] = [await rowsOf(1), await rowsOf(2), await rowsOf(3)];
    const { next, asked } = nextFrom({ NG: two, GH: three });
    const { stage, wanted } = open(next);
    const { outcomes, bill } = await fetchBy(stage, [
      held(latest('KE'), entryOf(one, TTL_MS - 1)),
      held(latest('NG'), entryOf(one, TTL_MS)),
      held(latest('GH')),
    ]);
    expect(asked).toEqual([['NG', 'GH']]);
    expect(outcomes).toEqual({ KE: one, NG: two, GH: three });
    expect(bill.cached).toBe(1);
    expect(wanted.map(({ countryCode }) => countryCode)).toEqual(['KE', 'NG', 'GH']);
  });

  it('is fetched once for demands that differ in age alone, and all of them are settled', async () => {
    const [old, rows] = [await rowsOf(1), await rowsOf(2)];
    const { next, asked } = nextFrom({ KE: rows });
    const entry = entryOf(old, 500);
    const { outcomes } = await fetchBy(open(next).stage, [
      held(latest('KE', 0), entry),
      held(latest('KE', 100), entry),
      held(latest('KE'), entry),
    ]);
    expect(asked).toEqual([['KE']]);
    expect(outcomes).toEqual({ 'KE 0': rows, 'KE 100': rows, KE: rows });
  });

  it('is served past its time where the service gives no answer, and said to be old', async () => {
    const rows = await rowsOf(1);
    const { next } = nextFrom({ KE: DOWN, NG: DOWN, GH: DOWN });
    const stale: string[] = [];
    const sending = sendingFor('one', { onStale: (_rows, why) => stale.push(why) });
    const { outcomes, bill } = await fetchBy(
      open(next).stage,
      [
        held(latest('KE'), entryOf(rows, 2 * TTL_MS)),
        held(latest('NG', TTL_MS), entryOf(rows, 2 * TTL_MS)),
        held(latest('GH')),
      ],
      sending,
    );
    expect(outcomes).toEqual({ KE: rows, [`NG ${TTL_MS}`]: DOWN, GH: DOWN });
    expect(stale).toEqual(['UPSTREAM_UNAVAILABLE']);
    expect(bill.stale).toMatchObject([{ answers: 1, code: 'UPSTREAM_UNAVAILABLE' }]);
  });

  it('is served at once while the service is down, where all of it may be', async () => {
    const rows = await rowsOf(1);
    const { next, asked } = nextFrom({});
    const old = held(latest('KE'), entryOf(rows, 2 * TTL_MS));
    expect((await fetchBy(open(next, { down: DOWN }).stage, [old])).outcomes).toEqual({ KE: rows });
    // Whoever can't be served the old asks all the same.
    await fetchBy(open(next, { down: DOWN }).stage, [old, held(latest('NG'))]);
    expect(asked).toEqual([[], ['KE', 'NG']]);
  });
});

describe('a key that the service has not accepted lately', () => {
  it('is put to the test by all that is held, where that is one call', async () => {
    const [old, rows] = [await rowsOf(1), await rowsOf(2)];
    let isAccepted = false;
    const { next, asked } = nextFrom({ KE: rows, NG: rows }, () => {
      isAccepted = true;
    });
    const { stage } = open(next, { tenantCache: tenantCacheThat(() => isAccepted) });
    const fresh = entryOf(old, 0);
    const { outcomes } = await fetchBy(stage, [held(latest('KE'), fresh), held(latest('NG'), fresh)]);
    expect(asked).toEqual([['KE', 'NG']]);
    expect(outcomes).toEqual({ KE: rows, NG: rows });
  });

  it('is served nothing where the service refuses it meanwhile', async () => {
    const rows = await rowsOf(1);
    const refusal = new Failure('UNAUTHENTICATED', 'The key is not valid.');
    const { next } = nextFrom({ NG: refusal });
    const { stage } = open(next, {
      tenantCache: tenantCacheThat(
        () => false,
        () => refusal,
      ),
    });
    const { outcomes } = await fetchBy(stage, [held(latest('KE'), entryOf(rows, 0)), held(latest('NG'))]);
    expect(outcomes).toEqual({ KE: refusal, NG: refusal });
  });

  it('is asked for the rest as well where what was fetched did not reach the service', async () => {
    const rows = await rowsOf(1);
    const { next, asked } = nextFrom({ KE: rows });
    const { stage } = open(next, { tenantCache: tenantCacheThat(() => false) });
    await fetchBy(stage, [held(latest('KE'), entryOf(rows, 0)), held(latest('NG'))]);
    expect(asked).toEqual([['NG'], ['KE']]);
  });
});
