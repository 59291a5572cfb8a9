import { GraphQLError, type GraphQLObjectType, type GraphQLSchema, print } from 'graphql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runPlan } from '../../src/graphql/execution/run.ts';
import { batches, resolvers } from '../../src/graphql/resolvers/generated.ts';
import { entities } from '../../src/graphql/resolvers/nodes.ts';
import { createSchema } from '../../src/graphql/schema/schema.ts';
import { draws } from '../support/draws.ts';
import { createArchive } from './archive.ts';
import { runByTheLetter } from './by-the-letter.ts';
import { type Case, createCase, drawCase, planOf, runOurs, runTheirs } from './cases.ts';
import { mix } from './dice.ts';
import { differenceOf } from './outcomes.ts';
import { resolveByDraws } from './resolvers.ts';

const SEED = 20_261_126;
const OPERATIONS = draws(4_000, 400);
/** One operation in as many runs by a clock that ends every turn at once. */
const HASTY = 8;

const schemas = Array.from({ length: 16 }, (_, number): GraphQLSchema => {
  const schema = number % 2 === 0 ? createSchema({ resolvers, entities, batches }) : createArchive();
  resolveByDraws(schema, mix(SEED, number));
  return schema;
});

/** An operation many of whose values are at fault. */
function drawnCase(number: number): Case {
  const drawn = drawCase(schemas[number % schemas.length] as GraphQLSchema, mix(SEED, number));
  const faultRate = [0, 0.02, 0.12, 0.3][number % 4] ?? 0;
  return { ...drawn, draws: { ...drawn.draws, faultRate, isLong: false } };
}

describe('drawn operations with faults', () => {
  const unheard: unknown[] = [];
  /**
   * Passes over errors with a place, which depth-first executors leave behind; ours are as they were thrown.
   */
  const hear = (fault: unknown) => {
    if (!(fault instanceof GraphQLError && fault.path !== undefined)) unheard.push(fault);
  };
  const listeners = process.listeners('unhandledRejection');
  const { stackTraceLimit } = Error;

  beforeAll(() => {
    Error.stackTraceLimit = 0;
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', hear);
  });

  afterAll(() => {
    Error.stackTraceLimit = stackTraceLimit;
    process.removeListener('unhandledRejection', hear);
    for (const listener of listeners) process.on('unhandledRejection', listener);
    vi.restoreAllMocks();
  });

  const explained = (number: number, { document }: Case, difference: string) =>
    `Number ${number}: ${difference}\n${print(document)}`;

  test('drawn operations with faults propagate errors as graphql-js does, by the letter', {
    timeout: 60_000,
  }, async () => {
    for (let number = 0; number < OPERATIONS / 8; number += 1) {
      const drawn = drawnCase(number);
      const difference = differenceOf(await runByTheLetter(drawn, 'PROPAGATE'), await runTheirs(drawn));
      if (difference !== null) expect.fail(explained(number, drawn, difference));
    }
  });

  test('NULL leaves each error of a drawn operation where it is, and HALT all but the first', {
    timeout: 200_000,
  }, async () => {
    const seen = { errors: 0, lost: 0, halted: 0 };
    for (let number = 0; number < OPERATIONS; number += 1) {
      const drawn = drawnCase(number);
      let time = 0;
      const clock =
        number % HASTY === 0 ? vi.spyOn(performance, 'now').mockImplementation(() => (time += 10)) : null;
      const run = (errorBehavior: 'NULL' | 'HALT') => runOurs(drawn, planOf(drawn), { errorBehavior });
      const ours = await run('NULL');
      const halted = await run('HALT');
      clock?.mockRestore();
      const letter = await runByTheLetter(drawn, 'NULL');
      const difference = differenceOf(ours, letter);
      if (difference !== null) expect.fail(explained(number, drawn, difference));
      if (letter.errors.length === 0) expect(halted).toEqual(ours);
      else {
        expect(halted).toMatchObject({ data: 'null', errors: [expect.any(GraphQLError)] });
        const told = letter.errors.map((error) => JSON.stringify(error));
        expect(told).toContain(JSON.stringify(halted.errors[0]));
        seen.halted += 1;
      }
      seen.errors += letter.errors.length;
      if (letter.errors.length > 0 && (await runTheirs(drawn)).data === 'null') seen.lost += 1;
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(unheard).toEqual([]);
    expect(seen.errors).toBeGreaterThan(OPERATIONS / 2);
    expect(seen.lost).toBeGreaterThan(OPERATIONS / 50);
    expect(seen.halted).toBeGreaterThan(OPERATIONS / 4);
  });
});

test('an operation that halts resolves nothing below, and tells so', async () => {
  const schema = createArchive();
  const { ratio, archive } = schema.getQueryType()?.getFields() ?? {};
  const below = vi.fn(() => 'name');
  Object.assign(ratio ?? {}, { resolve: () => new Error('Broken.') });
  Object.assign(archive ?? {}, { resolve: async () => ({}) });
  const { name } = (schema.getType('Archive') as GraphQLObjectType).getFields();
  Object.assign(name ?? {}, { resolve: below });
  const drawn = createCase(schema, '{ ratio archive(id: "1") { name } }');
  const onHalt = vi.fn();
  const { data, errors } = await runPlan({
    plan: planOf(drawn),
    context: undefined,
    variables: {},
    errorBehavior: 'HALT',
    onHalt,
  });
  expect([data.join(''), errors.map(({ message }) => message)]).toEqual(['null', ['Broken.']]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(below).not.toHaveBeenCalled();
  expect(onHalt).toHaveBeenCalledExactlyOnceWith(errors[0]);
});
