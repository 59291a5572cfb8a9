import { expect, it } from 'vitest';
import { type Additions, definePlugin } from '../../src/plugin/index.ts';
import { openProgram } from '../support/program.ts';

const adding = (name: string, additions: Additions) =>
  definePlugin({
    name,
    settings: {},
    open: () => ({ operation: (next) => (operation) => next(operation.adding(additions)) }),
  });

it('what several plugins add to an answer is all in it, and the outer one prevails', async () => {
  const read: string[] = [];
  const note = (by: string) => (one: { readonly route: string }) => void read.push(`${by} ${one.route}`);
  const outer = adding('outer', {
    onRead: note('outer'),
    headers: (reads) =>
      new Map([
        ['x-figures', String([...reads.figures()].length)],
        ['x-same', 'outer'],
      ]),
    extensions: () => ({ outer: 1, same: 'outer' }),
  });
  const inner = adding('inner', {
    onRead: note('inner'),
    headers: () =>
      new Map([
        ['x-inner', 'yes'],
        ['x-same', 'inner'],
      ]),
    extensions: () => ({ inner: 1, same: 'inner' }),
  });
  await using program = await openProgram({ env: { CACHE_URL: 'memory:' }, shipped: [outer, inner] });
  const ask = async () => {
    const query = '{ country(code: "KE") { name observation(metricKey: "population_total") { value } } }';
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${program.sandbox.keys.team}`,
    };
    const answer = await fetch(program.url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    const { upstream, ...extensions } = (await answer.json()).extensions;
    const named = ['x-figures', 'x-inner', 'x-same'].map((name) => answer.headers.get(name));
    return [upstream.calls, extensions, named];
  };
  const added = [{ inner: 1, outer: 1, same: 'outer' }, ['1', 'yes', 'outer']];
  expect(await ask()).toEqual([2, ...added]);
  expect(read.toSorted()).toEqual(['inner /v1/countries', 'outer /v1/countries']);
  expect(program.requests()).toHaveLength(2);
  // The answer to the second is kept as bytes, with what was added.
  await ask();
  expect(await ask()).toEqual([0, ...added]);
  expect(program.requests()).toEqual([]);
});

it('an operation that a plugin has made up is refused, and no call is made', async () => {
  const posing = definePlugin({
    name: 'posing',
    settings: {},
    open: () => ({ operation: (next) => (operation) => next({ ...operation }) }),
  });
  await using program = await openProgram({ shipped: [posing] });
  const { errors } = await program.ask('{ sources { key } }');
  expect(errors).toHaveLength(1);
  expect(program.requests()).toEqual([]);
});
