import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { FIGURE, openIssuing, openFolder as openStoreFolder } from '../../issued/issuing.ts';
import { openProgram } from '../../support/program.ts';
import { asOf, LATEST, openFolder, openRecording, revisionsOf, row, SERIES, START } from './recording.ts';

const metric = async (url: string, name: string) => {
  const text = await (await fetch(new URL('/metrics', url))).text();
  return Number(new RegExp(`^country_graph_journal_${name} (.*)$`, 'm').exec(text)?.[1]);
};

it('a journal stays within its bound, and what is dropped from it is told of, not guessed', async () => {
  const unit = 'a unit of many words '.repeat(100);
  const rows = (value: number) => Array.from({ length: 99 }, (_, i) => row(1900 + i, value, { unit }));
  await using program = await openRecording({ rows: rows(0), env: { JOURNAL_MB: '1' } });
  for (let value = 0; value < 8; value += 1) {
    program.service.revise(rows(value));
    await program.look();
  }
  await program.read(revisionsOf());
  expect(await metric(program.url, 'bytes')).toBeLessThan(1_000_000);
  expect(await metric(program.url, 'revisions_total')).toBe(693);
  expect(await metric(program.url, 'dropped_total')).toBeGreaterThan(0);
  const { warnings } = await program.read(revisionsOf(', first: 1000'));
  expect(warnings).toEqual([
    expect.objectContaining({ code: 'ROWS_LEFT_OUT', message: expect.stringContaining('JOURNAL_MB') }),
  ]);
  expect(
    (await program.read(revisionsOf(`, first: 1000, since: "${program.ago(0)}"`))).warnings,
  ).toBeUndefined();
  const [early] = (await program.read(asOf(program.ago(420)))).errors;
  expect(early?.extensions.code).toBe('NOT_RECORDED');
  const since = Date.parse(String(early?.extensions.recordedSince));
  const codesAt = async (ms: number) =>
    (await program.read(asOf(new Date(ms).toISOString()))).errors.map(({ extensions }) => extensions.code);
  expect([await codesAt(since - 1), await codesAt(since)]).toEqual([['NOT_RECORDED'], []]);
  expect((await program.read(asOf(program.ago(1)))).data.country.figureAsOf).toMatchObject({ value: 6 });
});

it('without a revision to drop, the figures that were seen longest ago are dropped', async () => {
  const unit = 'a unit of many words '.repeat(100);
  const rows = Array.from({ length: 280 }, (_, i) =>
    row(1000 + i, i, { unit, metric_key: i < 140 ? 'one' : 'two' }),
  );
  await using program = await openRecording({ rows, env: { JOURNAL_MB: '1' } });
  await program.look();
  await program.look(SERIES.replace('one', 'two'));
  const { errors } = await program.read(asOf(program.ago(0)));
  expect(errors[0]?.message).toContain('has recorded nothing of it under this key yet');
  expect((await program.read(asOf(program.ago(0)).replace('one', 'two'))).errors).toEqual([]);
});

it('a journal has no key in it, in any form, and only its owner can read it', async () => {
  using folder = openFolder();
  await using program = await openRecording({ rows: [row(2020, 1)], file: folder.file });
  const { extensions, upstream } = await program.ask(SERIES, { headers: { 'x-snapshot': 'new' } });
  expect([typeof extensions.snapshot, upstream.calls]).toEqual(['string', 1]);
  await program.read(revisionsOf());
  const { team } = program.sandbox.keys;
  const encoded = (['base64', 'base64url', 'hex'] as const).map((form) => Buffer.from(team).toString(form));
  const files = readdirSync(dirname(folder.file));
  const texts = files.map((file) => readFileSync(join(dirname(folder.file), file), 'latin1')).join('\n');
  expect(texts).toContain(String(extensions.snapshot));
  for (const form of [team, ...encoded]) expect(texts).not.toContain(form);
  const modes = files.map((file) => [file, statSync(join(dirname(folder.file), file)).mode & 0o777]);
  expect(modes).toEqual(files.map((file) => [file, 0o600]));
});

it('a journal that cannot be written fails no answer, and is logged once', async () => {
  using folder = openFolder();
  await using program = await openRecording({ rows: [row(2020, 1)], file: folder.file });
  await program.look();
  const other = new DatabaseSync(folder.file);
  other.exec('DROP TABLE states');
  other.close();
  for (const query of [SERIES, LATEST]) {
    program.pass(60);
    const { data, errors, upstream } = await program.ask(query);
    expect([data.observations?.[0] ?? data.country.observation, errors, upstream.calls]).toEqual([
      { value: 1 },
      [],
      1,
    ]);
  }
  expect(await metric(program.url, 'unrecorded_total')).toBe(2);
  expect(program.problems.map(String)).toEqual([
    "Error: An answer can't be recorded (no such table: states). It was served all the same.",
  ]);
});

it('a damaged journal is set aside, and one that was deleted begins anew', async () => {
  using folder = openFolder();
  writeFileSync(
    folder.file,
    'This is no file of SQLite, and it is longer than its header would be.'.repeat(10),
  );
  await using program = await openRecording({ rows: [row(2020, 1)], file: folder.file });
  expect(program.problems.map(String)).toEqual([expect.stringContaining('It is set aside as')]);
  expect(readdirSync(dirname(folder.file)).filter((name) => name.includes('.damaged-'))).toHaveLength(1);
  expect(statSync(folder.file).mode & 0o777).toBe(0o600);
  await program.look();
  for (const ending of ['', '-wal', '-shm']) rmSync(folder.file + ending, { force: true });
  program.service.revise([row(2020, 2)]);
  await program.look();
  expect((await program.read(revisionsOf())).data.revisions).toEqual([]);
  expect((await program.read(asOf(program.ago(0)))).data.country.figureAsOf).toMatchObject({ value: 2 });
  const words = `The file of the journal (${folder.file}) was deleted or replaced.`;
  expect(program.problems.map(String)).toEqual([expect.any(String), expect.stringContaining(words)]);
});

it('a file that can hold no journal ends the start with the setting', async () => {
  using folder = openFolder();
  const db = new DatabaseSync(folder.file);
  db.exec('PRAGMA user_version = 7');
  db.close();
  const start = (file: string) => openProgram({ env: { JOURNAL_FILE: file } });
  await expect(start(folder.file)).rejects.toThrow(/^JOURNAL_FILE: .* it is of version 7/);
  await expect(start(dirname(folder.file))).rejects.toThrow(/^JOURNAL_FILE: .* can't hold the journal/);
});

it('an issued key without the right to figures reads none of the journal', async () => {
  using folder = openFolder();
  using stored = openStoreFolder();
  await using issuing = await openIssuing({ cacheUrl: stored.cacheUrl, env: { JOURNAL_FILE: folder.file } });
  const figures = await issuing.issue({ name: 'figures', tags: ['figures'] });
  const markets = await issuing.issue({ name: 'markets', tags: ['markets'] });
  expect(await issuing.codes(FIGURE, { key: figures })).toEqual([]);
  issuing.requests();
  const recorded = asOf(new Date(START).toISOString()).replace('one', 'population_total');
  for (const query of [recorded, revisionsOf()]) {
    expect(await issuing.codes(query, { key: figures })).toEqual([]);
    expect(await issuing.codes(query, { key: markets })).toEqual(['DOCUMENT_NOT_ALLOWED']);
  }
  expect(issuing.requests()).toEqual([]);
});
