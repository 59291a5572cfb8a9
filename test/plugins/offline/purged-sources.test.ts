import { expect, it } from 'vitest';
import { openTimedProgram } from '../../support/timed-program.ts';
import { openCache } from '../cache-tags/told-cache.ts';

it('a source that has run again, and was told of, takes no figures from whoever asks offline', async () => {
  const figure =
    '{ country(code: "KE") { observation(metricKey: "population_total") { value source { key } } } }';
  await using cache = await openCache();
  await using program = await openTimedProgram({
    // Behind the last runs of the sandbox's sources.
    startMs: Date.parse('2026-11-10T12:00:30Z'),
    env: { PURGE_URL: cache.url },
  });
  await program.ask('{ sources { key } }');
  const { data } = await program.ask(figure);
  program.pass(301);
  program.sandbox.refresh(data.country.observation.source.key);
  const purged = cache.purged();
  await program.ask('{ sources { key } }');
  await purged;
  const offline = await program.ask(figure, { headers: { 'x-offline': '1' } });
  expect([offline.data, offline.errors, offline.upstream.calls]).toEqual([data, [], 0]);
});
