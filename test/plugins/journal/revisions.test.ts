import { expect, it } from 'vitest';
import { asOf, LATEST, openFolder, openRecording, revisionsOf, row, SERIES } from './recording.ts';

const code = (errors: readonly { readonly extensions: { readonly code: string } }[]) =>
  errors.map(({ extensions }) => extensions.code);

it('a revision has the figure before and after, to the last digit, and when it was seen', async () => {
  const exact = (digits: string) => JSON.rawJSON(digits);
  await using program = await openRecording({
    rows: [row(2020, 1), row(2021, exact('1234567890.123456789'), { dataset_version: 'a' })],
  });
  await program.look();
  const recorded = { retrieved_at: '2026-03-01T00:00:00Z', dataset_version: 'b' };
  program.service.revise([row(2020, 1, recorded), row(2021, exact('1234567890.123456788'), recorded)]);
  expect((await program.read(revisionsOf())).data.revisions).toEqual([]);
  await program.look();
  const { data, errors, warnings } = await program.read(revisionsOf());
  expect([errors, warnings]).toEqual([[], undefined]);
  const value = 1234567890.1234567;
  expect(data.revisions).toEqual([
    {
      country: { code: 'KE' },
      indicator: { key: 'one' },
      seenAt: program.ago(0),
      before: {
        year: 2021,
        value,
        digits: '1234567890.123456789',
        datasetVersion: 'a',
        retrievedAt: '2026-01-02T03:04:05.678901Z',
        seenAt: program.ago(60),
      },
      after: {
        year: 2021,
        value,
        digits: '1234567890.123456788',
        datasetVersion: 'b',
        retrievedAt: '2026-03-01T00:00:00Z',
        seenAt: program.ago(0),
      },
    },
    expect.objectContaining({ before: expect.objectContaining({ year: 2020, datasetVersion: '2025-10' }) }),
  ]);
  expect(program.service.requests).toHaveLength(2);
});

it('a figure that is retrieved again without a change is no revision, nor is one that is seen first', async () => {
  await using program = await openRecording({ rows: [row(2020, 1), row(2021, 2)] });
  await program.look(LATEST);
  program.service.revise([row(2020, 1), row(2021, 2, { retrieved_at: '2026-03-09T00:00:00Z' })]);
  await program.look(LATEST);
  await program.look();
  expect((await program.read(revisionsOf())).data.revisions).toEqual([]);
});

it('a figure that is new, or withdrawn, has nothing on one side, if an answer has proved that', async () => {
  await using program = await openRecording({ rows: [row(2020, 1), row(2021, 2)] });
  await program.look();
  program.service.revise([row(2021, 2), row(2022, 3)]);
  // The latest figure proves that 2022 is new, and says nothing of 2020.
  await program.look(LATEST);
  const sides = async () =>
    (await program.read(revisionsOf())).data.revisions.map(
      ({ before, after }: Record<string, { readonly year: number } | null>) => [before?.year, after?.year],
    );
  expect(await sides()).toEqual([[undefined, 2022]]);
  await program.look();
  expect(await sides()).toEqual([
    [2020, undefined],
    [undefined, 2022],
  ]);
  program.service.revise([row(2021, 2)]);
  await program.look(LATEST);
  expect((await sides())[0]).toEqual([2022, undefined]);
});

it('a figure as of a time is the one that was known then', async () => {
  await using program = await openRecording({
    rows: [row(2020, 1), row(2021, 2), row(2021, 9, { location_name: 'Nairobi' })],
  });
  await program.look();
  program.service.revise([row(2020, 5), row(2021, 2), row(2022, 3)]);
  await program.look();
  const figure = async (time: string, year?: number) => {
    const { data, errors } = await program.read(asOf(time, year));
    expect(errors).toEqual([]);
    return data.country.figureAsOf && [data.country.figureAsOf.year, data.country.figureAsOf.value];
  };
  expect(await figure(program.ago(60))).toEqual([2021, 2]);
  expect(await figure(program.ago(1))).toEqual([2021, 2]);
  expect(await figure(program.ago(0))).toEqual([2022, 3]);
  expect(await figure(program.ago(1), 2020)).toEqual([2020, 1]);
  expect(await figure(program.ago(0), 2020)).toEqual([2020, 5]);
  expect(await figure(program.ago(1), 2022)).toBeNull();
  const text = `{ country(code: "KE") { figuresAsOf(metricKey: "one", asOf: "${program.ago(1)}") { year value locationName } } }`;
  expect((await program.read(text)).data.country.figuresAsOf).toEqual([
    { year: 2020, value: 1, locationName: null },
    { year: 2021, value: 9, locationName: 'Nairobi' },
    { year: 2021, value: 2, locationName: null },
  ]);
});

it('before the first sight of a figure, as of is an error, and never the figure of today', async () => {
  await using program = await openRecording({ rows: [row(2020, 1), row(2021, 2)] });
  await program.ask('{ country(code: "KE") { observation(metricKey: "other") { value } } }');
  const of = async (time: string, year?: number) => {
    const { data, errors } = await program.read(asOf(time, year));
    expect(data.country.figureAsOf).toBeNull();
    return errors;
  };
  expect((await of(program.ago(0)))[0]).toMatchObject({
    message: expect.stringContaining('has recorded nothing of it under this key yet'),
    extensions: { code: 'NOT_RECORDED', retryable: false, recordedSince: null },
  });
  await program.look(LATEST);
  const seenAt = program.ago(0);
  for (const year of [undefined, 2021]) {
    const [error] = await of(program.ago(1), year);
    expect(error?.message).toContain(`knows it since ${seenAt}`);
    expect(error?.extensions.recordedSince).toBe(seenAt);
    expect((await program.read(asOf(seenAt, year))).data.country.figureAsOf).toMatchObject({ value: 2 });
  }
  // The latest figure proves nothing of an earlier year.
  const [unproved] = await of(program.ago(0), 2020);
  expect(unproved?.extensions).toMatchObject({ code: 'NOT_RECORDED', recordedSince: null });
  expect(code(await of(program.ago(-1)))).toEqual(['BAD_USER_INPUT']);
  const series = `{ country(code: "KE") { figuresAsOf(metricKey: "one", asOf: "${program.ago(0)}") { value } } }`;
  expect(code((await program.read(series)).errors)).toEqual(['NOT_RECORDED']);
});

it('another key reads nothing of what a key has seen, and one that is not accepted is refused', async () => {
  await using program = await openRecording({ rows: [row(2020, 1)] });
  const { free } = program.sandbox.keys;
  await program.look();
  program.service.revise([row(2020, 2)]);
  await program.look();
  expect((await program.read(revisionsOf())).data.revisions).toHaveLength(1);
  expect(code((await program.read(revisionsOf(), free)).errors)).toEqual(['UNAUTHENTICATED']);
  await program.ask('{ countries { name } }', { key: free });
  expect((await program.read(revisionsOf(), free)).data.revisions).toEqual([]);
  expect(code((await program.read(asOf(program.ago(0)), free)).errors)).toEqual(['NOT_RECORDED']);
  // An accepted key counts as accepted for five minutes.
  program.pass(301);
  expect(code((await program.read(revisionsOf())).errors)).toEqual(['UNAUTHENTICATED']);
});

it('more revisions than were asked for are warned of, and a number of them that is none is refused', async () => {
  await using program = await openRecording({ rows: [row(2020, 1), row(2021, 1)] });
  await program.look();
  program.service.revise([row(2020, 2), row(2021, 2)]);
  await program.look();
  const one = await program.read(revisionsOf(', first: 1'));
  expect(one.data.revisions).toHaveLength(1);
  expect(one.warnings).toEqual([
    expect.objectContaining({
      code: 'ROWS_LEFT_OUT',
      path: ['revisions'],
      message: expect.stringContaining('`first`'),
    }),
  ]);
  expect((await program.read(revisionsOf(', first: 2'))).warnings).toBeUndefined();
  expect(code((await program.read(revisionsOf(', first: 0'))).errors)).toEqual(['BAD_USER_INPUT']);
  expect((await program.read(revisionsOf(`, since: "${program.ago(-1)}"`))).data.revisions).toEqual([]);
});

it('gateways that share a file read what each has seen, and so does one that starts again', async () => {
  using folder = openFolder();
  const key = { KEY_PEPPER: 'the same for both of the gateways' };
  await using program = await openRecording({ rows: [row(2020, 1)], file: folder.file, env: key });
  await program.look();
  program.service.revise([row(2020, 2)]);
  program.pass(60);
  await using other = await program.open();
  expect((await other.ask(SERIES)).upstream.calls).toBe(1);
  const { data, upstream } = await other.ask(revisionsOf());
  expect([data.revisions.length, upstream.calls]).toEqual([1, 0]);
  expect((await program.read(revisionsOf())).data).toEqual(data);
  await program.look();
  expect((await program.read(revisionsOf())).data).toEqual(data);
  const before = await program.read(asOf(program.ago(100), 2020));
  expect(before.data.country.figureAsOf).toMatchObject({ value: 1 });
});
