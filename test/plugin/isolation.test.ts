import { expect, it } from 'vitest';
import {
  ChangedRequest,
  definePlugin,
  type FieldContext,
  type Operation,
  type OutgoingCall,
  type Plugin,
} from '../../src/plugin/index.ts';
import { openProgram, type Reply } from '../support/program.ts';

const FIGURE = '{ country(code: "KE") { observation(metricKey: "population_total") { value } } }';
const PAIR = { countryCode: 'KE', metricKey: 'population_total' };

const spying = (open: () => Plugin) => definePlugin({ name: 'spying', settings: {}, open });

const codesOf = ({ errors }: Reply) => errors.map(({ extensions }) => extensions.code);

/** Fields by which a plugin looks at what is cached, within the operation that asks or by the first one that it has met. */
function openSpy() {
  let first: FieldContext | undefined;
  const seen = async ({ cached }: FieldContext) => {
    let rows = 0;
    await cached.figures([PAIR], (_, figures) => {
      rows += figures.rows.length;
    });
    return rows;
  };
  return spying(() => ({
    schema: [
      {
        sdl: `extend type Country {
          seen: Int @upstream(takes: NOTHING)
          seenBefore: Int @upstream(takes: NOTHING)
        }`,
        resolvers: {
          Country: {
            seen(_parent, _args, context) {
              first ??= context;
              return seen(context);
            },
            seenBefore: () => seen(first as FieldContext),
          },
        },
      },
    ],
  }));
}

it('a plugin reads the figures of the key that asks, and of no other, even by what it has kept', async () => {
  await using program = await openProgram({ env: { CACHE_URL: 'memory:' }, shipped: [openSpy()] });
  const { ask, sandbox } = program;
  const { team, analyst } = sandbox.keys;
  for (const key of [team, analyst]) await ask('{ sources { key } }', { key });
  expect((await ask(FIGURE, { key: team })).upstream.calls).toBe(1);
  program.requests();
  const seen = '{ country(code: "KE") { seen } }';
  expect((await ask(seen, { key: team })).data.country.seen).toBe(1);
  expect((await ask(seen, { key: analyst })).data.country.seen).toBe(0);
  const before = await ask('{ country(code: "KE") { seenBefore } }', { key: analyst });
  expect([before.data.country.seenBefore, codesOf(before)]).toEqual([null, ['INTERNAL_SERVER_ERROR']]);
  expect(program.requests()).toEqual([]);
  expect(program.problems.splice(0).map(String)).toEqual(['TypeError: The operation is over.']);
});

it('a plugin that sends a call twice has both billed, and the one beyond the bound refused', async () => {
  const twice = spying(() => ({
    async call(_call, next) {
      await next();
      return next();
    },
  }));
  await using program = await openProgram({ env: { MAX_UPSTREAM_CALLS: '2' }, shipped: [twice] });
  const bill = await program.ask('{ sources { key } }');
  expect([bill.upstream.calls, program.requests().length]).toEqual([2, 2]);
  const beyond = await program.ask('{ sources { key } indicators { key } }');
  expect(codesOf(beyond)).toContain('OPERATION_TOO_EXPENSIVE');
  expect([beyond.upstream.calls, program.requests().length]).toEqual([2, 2]);
  const { data } = await program.ask('{ quota { callsThisMonth } }');
  expect(data.quota.callsThisMonth).toBe(4);
});

it('a plugin reads no answer by a call that is over', async () => {
  let first: OutgoingCall | undefined;
  const keeping = spying(() => ({
    async call(call, next) {
      if (first !== undefined) await first.cached();
      first = call;
      return next();
    },
  }));
  await using program = await openProgram({ env: { CACHE_URL: 'memory:' }, shipped: [keeping] });
  const { ask, sandbox } = program;
  const asked = '{ sources { key } }';
  expect((await ask(asked, { key: sandbox.keys.team })).upstream.calls).toBe(1);
  program.requests();
  const later = await ask(asked, { key: sandbox.keys.analyst });
  expect([codesOf(later), later.upstream.calls]).toEqual([['INTERNAL_SERVER_ERROR'], 0]);
  expect(program.requests()).toEqual([]);
  expect(program.problems.splice(0).map(String)).toEqual(['TypeError: The call is over.']);
});

it('a plugin answers nobody by the operation of a former caller, nor by a key of its own making', async () => {
  let first: Operation | undefined;
  const kept = spying(() => ({
    operation: (next) => (operation) => {
      first ??= operation;
      return next(first);
    },
  }));
  const forging = definePlugin({
    name: 'forging',
    settings: {},
    open: () => ({
      request: (next) => (request) =>
        request.headers['x-forged'] === '1'
          ? next(new ChangedRequest(request, { exchanged: { what: 'exchanged key' } as never }))
          : next(request),
    }),
  });
  await using program = await openProgram({ shipped: [kept, forging] });
  const { ask, sandbox } = program;
  const { team, analyst } = sandbox.keys;
  const quota = '{ quota { callsThisMonth } sources { key } }';
  expect((await ask(quota, { key: team })).upstream.calls).toBe(1);
  program.requests();
  const forged = await ask(quota, { key: analyst, headers: { 'x-forged': '1' } });
  const later = await ask(quota, { key: analyst });
  for (const { data, errors } of [forged, later]) expect([data ?? null, errors.length]).toEqual([null, 1]);
  expect(program.requests()).toEqual([]);
  expect(program.problems.splice(0).map(String)).toEqual([
    'TypeError: This is no exchanged key that the gateway has made.',
    'TypeError: The operation is over.',
  ]);
});
