import { parseArgs } from 'node:util';
import { minimised } from './minimise.ts';
import { drawScenarios, MODES, type Mode, type NamedScenario } from './modes.ts';
import { type Finding, habitsOf, type Outcome, play } from './session.ts';

export interface Tally {
  operations: number;
  equal: number;
  readonly excused: Map<string, number>;
  readonly mismatches: Map<string, number>;
  readonly explain: Record<Outcome['explain'], number>;
  readonly modes: Map<Mode, { operations: number; failed: number }>;
}

export interface Failure {
  readonly scenario: NamedScenario;
  readonly finding: Finding;
  readonly outcome: Outcome | null;
}

export function createTally(): Tally {
  return {
    operations: 0,
    equal: 0,
    excused: new Map(),
    mismatches: new Map(),
    explain: { exact: 0, within: 0, outside: 0, unknown: 0, none: 0 },
    modes: new Map(MODES.map((mode) => [mode, { operations: 0, failed: 0 }])),
  };
}

/** All scenarios of one service; what is found is counted, and the first finding of each operation handed back. */
export async function runService(
  seed: number,
  service: number,
  operations: number,
  tally: Tally,
): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (const scenario of drawScenarios(seed, service, operations)) {
    try {
      for (const outcome of await play(scenario)) {
        count(tally, scenario.mode, outcome);
        const [finding] = outcome.findings;
        if (finding !== undefined) failures.push({ scenario, finding, outcome });
      }
    } catch (error) {
      const detail = String((error as Error).stack);
      add(tally.mismatches, 'thrown');
      failures.push({ scenario, finding: { kind: 'thrown', step: 0, operation: 0, detail }, outcome: null });
    }
  }
  return failures;
}

function count(tally: Tally, mode: Mode, outcome: Outcome): void {
  const inMode = tally.modes.get(mode);
  tally.operations += 1;
  tally.explain[outcome.explain] += 1;
  if (inMode !== undefined) inMode.operations += 1;
  for (const kind of new Set(outcome.findings.map((finding) => finding.kind))) add(tally.mismatches, kind);
  if (outcome.findings.length > 0) {
    if (inMode !== undefined) inMode.failed += 1;
  } else if (outcome.excuses.length > 0) {
    for (const code of new Set(outcome.excuses)) add(tally.excused, code);
  } else {
    tally.equal += 1;
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

export function summary(tally: Tally): string {
  const lines = (counts: Map<string, number>) =>
    [...counts]
      .sort(([, a], [, b]) => b - a)
      .map(([name, number]) => `  ${String(number).padStart(6)}  ${name}`);
  const { exact, within, outside, unknown } = tally.explain;
  const explained = exact + within + outside + unknown;
  const percent = explained === 0 ? 0 : (100 * exact) / explained;
  return [
    `operations ${tally.operations}, equal ${tally.equal}`,
    'excused',
    ...lines(tally.excused),
    'mismatches',
    ...lines(tally.mismatches),
    `explain: exact ${percent.toFixed(1)} %, within ${within}, out of bounds ${outside}, without bounds ${unknown}`,
    ...[...tally.modes].map(([mode, { operations, failed }]) => `${mode}: ${failed} of ${operations} failed`),
  ].join('\n');
}

async function report(
  { scenario, finding, outcome }: Failure,
  isVerbose: boolean,
  minimises: boolean,
): Promise<string> {
  const head = `service ${scenario.service} ${scenario.mode} step ${finding.step}: ${finding.kind}`;
  if (!minimises || outcome === null) return `${head}: ${finding.detail.slice(0, 600)}`;
  const small = await minimised(scenario, finding);
  const parts = [`${head}: ${small.finding.detail.slice(0, 600)}`, `  ${JSON.stringify(small.scenario.env)}`];
  for (const step of small.scenario.steps) {
    if (step.kind !== 'ask') parts.push(`  ${JSON.stringify(step)}`);
    else {
      for (const [i, { text, variables }] of step.operations.entries()) {
        parts.push(`  ${step.keys[i]}: ${text.replace(/\s+/g, ' ')} ${JSON.stringify(variables)}`);
      }
    }
  }
  for (const request of small.outcome.requests.slice(0, isVerbose ? 200 : 12)) {
    parts.push(`    ${request.status} ${request.rows ?? ''} ${request.target.slice(0, 200)}`);
  }
  if (isVerbose) {
    parts.push(`  habits ${JSON.stringify(habitsOf(scenario))}`);
    parts.push(`  expected ${JSON.stringify(small.outcome.expected)?.slice(0, 3000)}`);
    parts.push(`  actual ${JSON.stringify(small.outcome.actual)?.slice(0, 3000)}`);
    parts.push(`  errors ${JSON.stringify(small.outcome.errors)?.slice(0, 2000)}`);
  }
  return parts.join('\n');
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      services: { type: 'string', default: '20' },
      operations: { type: 'string', default: '140' },
      seed: { type: 'string', default: '1' },
      service: { type: 'string' },
      from: { type: 'string', default: '0' },
      verbose: { type: 'boolean', default: false },
      show: { type: 'string', default: '3' },
      kind: { type: 'string' },
    },
  });
  const seed = Number(values.seed);
  const operations = Number(values.operations);
  const first = Number(values.service ?? values.from);
  const last = values.service === undefined ? first + Number(values.services) : first + 1;
  const tally = createTally();
  for (let service = first; service < last; service += 1) {
    const failures = await runService(seed, service, operations, tally);
    const kinds = new Map<string, number>();
    for (const failure of failures) {
      const { kind } = failure.finding;
      add(kinds, kind);
      if (values.kind !== undefined && !kind.includes(values.kind)) continue;
      // One of each kind is told in full.
      const isTold = (kinds.get(kind) ?? 0) === 1 && kinds.size <= Number(values.show);
      if (isTold) console.log(await report(failure, values.verbose, true));
    }
    if (failures.length > 0) {
      const text = [...kinds].map(([kind, number]) => `${number} ${kind}`).join(', ');
      console.log(`service ${service}: ${failures.length} failed (${text})`);
    }
  }
  console.log(summary(tally));
  if (tally.mismatches.size > 0) process.exitCode = 1;
}

if (import.meta.main) await main();
