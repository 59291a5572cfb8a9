import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lineOf } from './child.ts';
import { WARM_UP_SECONDS } from './heats.ts';
import { type LoadOrder, measure, type Sample } from './load.ts';
import { ROWS, type Row } from './rows.ts';
import type { CpuProfile } from './self-times.ts';
import { OURS_COLD_KEYS, type Server, startServer } from './servers.ts';
import { startUpstream } from './service.ts';
import { stageTimes } from './stages.ts';
import { short, table } from './table.ts';

export interface ProfileOptions {
  readonly seconds: number;
  /** Seconds of load before the profile begins. */
  readonly warmUpSeconds: number;
  readonly connections: number;
}

export interface Profiled {
  readonly row: Row;
  /** Measured during the profile. */
  readonly sample: Sample;
  readonly profile: CpuProfile;
  /** Path of the profile. */
  readonly file: string;
}

/** Takes a CPU profile of ours in one row, under load. */
export async function profileRow(
  row: Row,
  server: Server,
  { seconds, warmUpSeconds, connections }: ProfileOptions,
): Promise<Profiled> {
  const file = join(mkdtempSync(join(tmpdir(), 'country-graph-')), `${row.name}-${server.mode}.cpuprofile`);
  await using upstream = await startUpstream(undefined, server.sameBytes ? 'same' : 'changing');
  const running = await startServer({ ...server, args: server.args.map(asSource) }, upstream.url, {
    nodeArgs: ['--import', './bench/race/profiler.ts'],
    env: { PROFILE_FILE: file },
  });
  await using child = running.child;
  const signalled = async (word: string) => {
    const line = lineOf(child, new RegExp(`^profile ${word}$`));
    child.process.kill('SIGUSR2');
    await line;
  };
  const order: Pick<LoadOrder, 'connections' | 'leadSeconds'> = { connections, leadSeconds: 0.3 };
  await measure(running, upstream, row, { ...order, seconds: warmUpSeconds });
  await signalled('begun');
  const sample = await measure(running, upstream, row, { ...order, seconds });
  await signalled('written');
  return { row, sample, profile: JSON.parse(readFileSync(file, 'utf8')), file };
}

/** Runs the sources instead of the built program, whose few files don't show which stage a function belongs to. */
const asSource = (arg: string) => (arg === 'bin/country-graph.cjs' ? 'src/cli/main.ts' : arg);

/** CPU time of each stage per operation, in microseconds; the longest first. */
export function stagesOf({ profile, sample }: Profiled): { readonly name: string; readonly us: number }[] {
  return stageTimes(profile).map(({ name, share }) => ({ name, us: share * sample.cpuMs * 1000 }));
}

/** Profiles all rows, cold, a key each. */
export async function profileCold(): Promise<Profiled[]> {
  const profiled: Profiled[] = [];
  for (const row of ROWS) {
    console.error(`Row ${row.letter}, profiled`);
    profiled.push(
      await profileRow(row, OURS_COLD_KEYS, {
        seconds: 5,
        warmUpSeconds: WARM_UP_SECONDS,
        connections: 32,
      }),
    );
  }
  return profiled;
}

export function profileSection(profiled: readonly Profiled[]): string {
  const columns = profiled.map((each) => new Map(stagesOf(each).map(({ name, us }) => [name, us])));
  const names = [...new Set(columns.flatMap((column) => [...column.keys()]))];
  const most = (name: string) => Math.max(...columns.map((column) => column.get(name) ?? 0));
  const shown = (us: number) => (us < 0.5 ? '0' : us.toFixed(0));
  return [
    '## CPU time by stage',
    'Country Graph, cold, a key each, 32 connections: CPU time per operation in microseconds, attributed by a sampling profiler, whose overhead is included. `npm run bench:profile -- c cold-keys` shows more about one row.',
    table(
      ['stage', ...profiled.map(({ row }) => `row ${row.letter}`)],
      [
        ...names
          .toSorted((a, b) => most(b) - most(a))
          .map((name) => [name, ...columns.map((column) => shown(column.get(name) ?? 0))]),
        ['total', ...profiled.map(({ sample }) => short(sample.cpuMs * 1000))],
      ],
    ),
  ].join('\n\n');
}
