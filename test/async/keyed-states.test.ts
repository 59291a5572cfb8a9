import { expect, it } from 'vitest';
import { KeyedStates } from '../../src/async/maps.ts';

function open() {
  const opened: string[] = [];
  const inUse = new Set<string>();
  const states = new KeyedStates(
    (key) => {
      opened.push(key);
      return { key };
    },
    ({ key }) => !inUse.has(key),
  );
  return { states, opened, inUse };
}

it('opens one state for each key, and has it again', () => {
  const { states, opened } = open();
  const [a, b] = [states.of('a'), states.of('b')];
  expect([states.of('a'), states.of('b')]).toEqual([a, b]);
  expect(states.of('a')).toBe(a);
  expect(opened).toEqual(['a', 'b']);
});

it('forgets idle states once there are many, and never one in use', () => {
  const { states, opened, inUse } = open();
  inUse.add('a');
  const a = states.of('a');
  for (let i = 0; i < 10_000; i += 1) states.of(`idle ${i}`);
  expect(states.size).toBeLessThan(600);
  expect(states.of('a')).toBe(a);
  expect(opened).toHaveLength(10_001);
});

it('does not look at all of them each time where all are in use', () => {
  let looks = 0;
  const states = new KeyedStates(
    (key) => key,
    () => {
      looks += 1;
      return false;
    },
  );
  for (let i = 0; i < 100_000; i += 1) states.of(`${i}`);
  expect(states.size).toBe(100_000);
  expect(looks).toBeLessThan(200_000);
});
