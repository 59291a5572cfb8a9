import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { entranceApi } from '../support/entrance-api.ts';

/** Changed with the contract's version, or by what only adds to it. `UPDATE_GOLDEN=1` writes it. */
const REPORT = 'test/plugin/entrance.api.txt';

/** Of values that plugins of ours use, and their types. */
const MOST_NAMES = 130;

describe('the entrance of plugins', async () => {
  const { names, undocumented, text } = await entranceApi();

  it('the entrance of plugins has the declarations that are written down, and those that they lead to', () => {
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(REPORT, `${text}\n`);
    expect(`${text}\n`).toBe(existsSync(REPORT) ? readFileSync(REPORT, 'utf8') : '');
  });

  it('the entrance of plugins documents each of its few names', () => {
    // The names by which GraphQL Code Generator's files know types.
    expect(undocumented).toEqual(['InputMaybe', 'Maybe', 'Resolver', 'ResolverTypeWrapper']);
    expect(names.length).toBeLessThanOrEqual(MOST_NAMES);
  });
});
