import { describe, expect, it } from 'vitest';
import { sendThrough } from '../../../src/gateway/call-view.ts';
import { NO_TENANT_CACHE } from '../../../src/keys/tenant-cache.ts';
import { absentRoutesStage } from '../../../src/plugins/extra-routes/absent-routes.ts';
import type { Answer } from '../../../src/service/call.ts';
import { Failure } from '../../../src/shared/errors.ts';
import { sendingFor } from '../../service/sending.ts';

const ROUTE = '/v1/trade/overview/{code}';
const FLOWS = '/v1/trade/flows';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const call = (target: string, route = ROUTE) => ({ route, target, isPublic: false });
const KE = call('/v1/trade/overview/KE?top_limit=2');
const XX = call('/v1/trade/overview/XX');

const answer = (status: 200 | 404, body: unknown): Answer => ({ status, body, headers: {}, receivedAt: 0 });
const FOUND = answer(200, { data: {} });
const stray = new Failure('UPSTREAM_INVALID_RESPONSE', 'x');
const NO_ROUTE = { ...answer(404, { detail: 'Not Found' }), stray };
const STRAY = { ...answer(404, undefined), stray };

function open(answerOf: (target: string) => Answer | Promise<Answer>) {
  const sent: string[] = [];
  let time = 0;
  const stage = absentRoutesStage(new Set([ROUTE, FLOWS]), () => time);
  const ring = sendThrough(
    stage,
    () => NO_TENANT_CACHE,
  )(async ({ target }) => {
    sent.push(target);
    return answerOf(target);
  });
  const sending = sendingFor();
  return {
    sent,
    pass: (ms: number) => {
      time += ms;
    },
    send: (asked = KE) => ring(asked, sending),
    codeOf: (asked = KE) =>
      ring(asked, sending).then(
        ({ status }) => status,
        (error) => error.code,
      ),
  };
}

describe('a route that the service lacks', () => {
  it('a route that the service lacks is asked once, whoever asks and however many at once, again after a minute, and then after a day', async () => {
    const { sent, codeOf, pass } = open(() => NO_ROUTE);
    const codes = await Promise.all(Array.from({ length: 54 }, () => codeOf()));
    expect(new Set(codes)).toEqual(new Set(['UPSTREAM_ROUTE_ABSENT']));
    expect(await codeOf(XX)).toBe('UPSTREAM_ROUTE_ABSENT');
    expect(sent).toHaveLength(1);
    pass(MINUTE_MS);
    expect([await codeOf(), await codeOf(), sent.length]).toEqual([
      'UPSTREAM_ROUTE_ABSENT',
      'UPSTREAM_ROUTE_ABSENT',
      2,
    ]);
    pass(23 * HOUR_MS);
    await codeOf();
    expect(sent).toHaveLength(2);
    pass(HOUR_MS);
    await codeOf();
    expect(sent).toHaveLength(3);
  });

  it('a route that the service lacks for a moment is there again a minute later, and for good', async () => {
    let lacks = true;
    const { sent, codeOf, pass } = open(() => (lacks ? NO_ROUTE : FOUND));
    expect(await codeOf()).toBe('UPSTREAM_ROUTE_ABSENT');
    lacks = false;
    pass(MINUTE_MS);
    expect([await codeOf(), await codeOf(), sent.length]).toEqual([200, 200, 3]);
    lacks = true;
    expect(await codeOf()).toBe('UPSTREAM_ROUTE_ABSENT');
    lacks = false;
    pass(MINUTE_MS);
    expect(await codeOf()).toBe(200);
  });

  it('a route that the service lacks leaves others alone', async () => {
    const { codeOf, sent } = open((target) => (target.startsWith(FLOWS) ? FOUND : NO_ROUTE));
    await codeOf();
    const flows = call('/v1/trade/flows?reporter_country_code=KE', FLOWS);
    expect([await codeOf(flows), await codeOf(), sent.length]).toEqual([200, 'UPSTREAM_ROUTE_ABSENT', 2]);
    expect(await codeOf(call('/v1/countries', '/v1/countries'))).toBe(404);
  });

  it('a route that the service lacks is asked again soon where what says so may not be the service', async () => {
    const { sent, codeOf, pass } = open(() => STRAY);
    expect([await codeOf(), await codeOf()]).toEqual(['UPSTREAM_ROUTE_ABSENT', 'UPSTREAM_ROUTE_ABSENT']);
    expect(sent).toHaveLength(1);
    pass(MINUTE_MS);
    await codeOf();
    expect(sent).toHaveLength(2);
    pass(10 * MINUTE_MS);
    await codeOf();
    expect(sent).toHaveLength(3);
  });
});

describe('a 404 that is about something else', () => {
  it.for<[why: string, asked: typeof KE, answered: Answer]>([
    ['a country that the service names', KE, answer(404, { detail: 'country not found: ke' })],
    ['a country that nobody knows', XX, NO_ROUTE],
    ['a country that nobody knows, without words', XX, STRAY],
    [
      'a country that nobody knows, in the query',
      call('/v1/trade/flows?reporter_country_code=XX', FLOWS),
      NO_ROUTE,
    ],
  ])('a 404 that is about something else is an answer: %s', async ([, asked, answered]) => {
    const { send, sent } = open(() => answered);
    expect(await send(asked)).toBe(answered);
    expect(await send(asked)).toBe(answered);
    expect(sent).toHaveLength(2);
  });
});

it('an absent route is found out by the next call where the first can not', async () => {
  let count = 0;
  const { codeOf, sent } = open(() => {
    count += 1;
    if (count === 1) throw Object.assign(new Error('broken'), { code: 'UPSTREAM_UNAVAILABLE' });
    return FOUND;
  });
  expect(await Promise.all([codeOf(), codeOf(), codeOf()])).toEqual(['UPSTREAM_UNAVAILABLE', 200, 200]);
  expect(sent).toHaveLength(3);
});
