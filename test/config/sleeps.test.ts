import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PROGRAMS } from '../suites.ts';

/** Timers of tests that no test waits by, with what they are for. */
const TIMERS: Readonly<Record<string, string>> = {
  'test/fuzz/raw-http.test.ts': 'ends a run that hangs',
  'test/live/live.ts': 'the time after which a client connects again',
  'test/oracle/session.ts': 'the clock of the gateway',
  'test/store/leases.test.ts': 'faked, and moved by the test',
  'test/store/outages.test.ts': 'a proxy whose replies are late',
  'test/store/store.test.ts': 'faked, and moved by the test',
  'test/support/quiet.ts': 'fires after the windows that were open before, however busy the machine is',
};

/** These start programs, whose clocks are their own. */
const OTHERS = [
  ...PROGRAMS,
  'test/{chaos,federation,readers,clients,workers}/**',
  'test/support/{front,haproxy,wall-clock}.ts',
  'test/graphiql/**',
  '**/node_modules/**',
];

it('no test sleeps: time is moved, and events are waited for', () => {
  const sleeping = globSync('test/**/*.ts', { exclude: OTHERS }).filter((path) =>
    /\bsetTimeout\b(?!['",\]])|AbortSignal\.timeout/.test(readFileSync(path, 'utf8')),
  );
  expect(sleeping.filter((path) => path !== 'test/config/sleeps.test.ts').sort()).toEqual(
    Object.keys(TIMERS),
  );
});
