import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ALONE, PROGRAMS } from '../suites.ts';

/** Imports of suites that start a browser or a balancer, or compile the package or a copy of the project. */
const DEAR = /^import .* from '\.\.\/support\/(chromium|graphiql|haproxy|packed|project-copy)\.ts'/m;

describe('suites that npm test leaves to npm run test:programs', () => {
  it('suites of npm run test:programs have all that start a browser or a balancer, or compile the package', () => {
    const dear = globSync('test/*/*.test.ts').filter((file) => DEAR.test(readFileSync(file, 'utf8')));
    expect(dear.length).toBeGreaterThan(10);
    const left = new Set(PROGRAMS.flatMap((pattern) => globSync(pattern)));
    expect(dear.filter((file) => !left.has(file))).toEqual([]);
  });

  it.for([...ALONE, ...PROGRAMS])('suites of npm run test:programs are there: %s', (pattern) => {
    expect(globSync(pattern).length).toBeGreaterThan(0);
  });

  it('suites of npm run test:programs are run by what CI runs, with all others and what else is checked', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const projectsOf = (script: string) => [...script.matchAll(/--project (\w+)/g)].map(([, name]) => name);
    const all = [...readFileSync('vitest.config.ts', 'utf8').matchAll(/\bname: '(\w+)'/g)].map(
      ([, name]) => name,
    );
    expect([...projectsOf(scripts['test:programs']), ...projectsOf(scripts.test)].toSorted()).toEqual(
      all.toSorted(),
    );
    expect(scripts['test:all']).toBe('vitest run');
    const ci = readFileSync('.ci/run', 'utf8');
    const commands = scripts.check
      .replace('npm run test:all', 'npm test -- && npm run test:programs')
      .split(' && ');
    expect(commands).toHaveLength(4);
    for (const command of commands) expect(ci).toContain(command);
    for (const job of ['unit', 'programs']) expect(ci).toContain(`${job}() { DRAWS=all `);
  });
});
