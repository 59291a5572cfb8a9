import { inspect } from 'node:util';
import { type Habits, USUAL } from './habits.ts';
import { minimised } from './minimise.ts';
import { drawScenarios, MODES, type NamedScenario, type OwnMode } from './modes.ts';
import { type Finding, habitsOf, type Outcome, play, type Scenario } from './session.ts';

type Counts = Record<string, number>;

/** Outcome of so many operations; plain, so that processes can hand it to each other. */
export interface Tally {
  operations: number;
  equal: number;
  /** Answers with figures that a page held. */
  held: number;
  /** Answers that were given again after a revision. */
  snapshots: number;
  readonly excused: Counts;
  readonly mismatches: Counts;
  readonly explain: Counts;
  /** The same for services that tell totals and have given their lists. */
  readonly priced: Counts;
  readonly asked: Counts;
  readonly failed: Counts;
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
    held: 0,
    snapshots: 0,
    excused: {},
    mismatches: {},
    explain: {},
    priced: {},
    asked: {},
    failed: {},
  };
}

export function addTally(sum: Tally, other: Tally): void {
  sum.operations += other.operations;
  sum.equal += other.equal;
  sum.held += other.held;
  sum.snapshots += other.snapshots;
  for (const name of ['excused', 'mismatches', 'explain', 'priced', 'asked', 'failed'] as const) {
    for (const [key, number] of Object.entries(other[name])) add(sum[name], key, number);
  }
}

/**
 * All scenarios of one service: findings are counted, and the first finding of each operation handed back.
 */
export async function runService(
  { seed, service, habits }: Pick<Scenario, 'seed' | 'service' | 'habits'>,
  operations: number,
  tally: Tally,
  mode?: OwnMode,
): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (const scenario of drawScenarios(seed, service, operations, habits, mode)) {
    try {
      for (const outcome of await play(scenario)) {
        count(tally, scenario.mode, outcome);
        const [finding] = outcome.findings;
        if (finding !== undefined) failures.push({ scenario, finding, outcome });
      }
    } catch (error) {
      // With its causes: that a fetch failed says nothing.
      const detail = inspect(error);
      add(tally.mismatches, 'thrown');
      failures.push({ scenario, finding: { kind: 'thrown', step: 0, operation: 0, detail }, outcome: null });
    }
  }
  return failures;
}

function count(tally: Tally, mode: string, outcome: Outcome): void {
  tally.operations += 1;
  tally.held += Number(outcome.held > 0);
  tally.snapshots += Number(outcome.isSnapshot);
  add(tally.asked, mode);
  add(tally.explain, outcome.explain);
  if (mode === 'priced') add(tally.priced, outcome.explain);
  for (const kind of new Set(outcome.findings.map((finding) => finding.kind))) add(tally.mismatches, kind);
  if (outcome.findings.length > 0) add(tally.failed, mode);
  else if (outcome.excuses.length === 0) tally.equal += 1;
  else for (const code of new Set(outcome.excuses)) add(tally.excused, code);
}

export function add(counts: Counts, name: string, number = 1): void {
  counts[name] = (counts[name] ?? 0) + number;
}

export function summary(tally: Tally): string {
  const lines = (counts: Counts) =>
    Object.entries(counts)
      .sort(([, a], [, b]) => b - a)
      .map(([name, number]) => `  ${String(number).padStart(6)}  ${name}`);
  return [
    `operations ${tally.operations}, equal ${tally.equal}, with held figures ${tally.held}, snapshots ${tally.snapshots}`,
    'excused, by code',
    ...lines(tally.excused),
    'mismatches, by kind and place',
    ...lines(tally.mismatches),
    `explain: ${exactness(tally.explain)}`,
    `explain, with totals and known lists: ${exactness(tally.priced)}`,
    ...MODES.map((mode) => `${mode}: ${tally.failed[mode] ?? 0} of ${tally.asked[mode] ?? 0} failed`),
  ].join('\n');
}

function exactness({ exact = 0, within = 0, outside = 0, faulty = 0, unknown = 0 }: Counts): string {
  const explained = exact + within + outside + faulty + unknown;
  const percent = explained === 0 ? 0 : (100 * exact) / explained;
  return `exact ${percent.toFixed(1)} % of ${explained}, within bounds ${within}, out of bounds ${outside}, below them for faults ${faulty}, without bounds ${unknown}`;
}

/** One failure in words, as small as it could be made. */
export async function report({ scenario, finding, outcome }: Failure, isVerbose: boolean): Promise<string> {
  const head = `service ${scenario.service} ${scenario.mode} step ${finding.step}: ${finding.kind}`;
  if (outcome === null) return `${head}: ${finding.detail.slice(0, 900)}`;
  const small = await minimised(scenario, finding);
  const parts = [`${head}: ${small.finding.detail.slice(0, 600)}`, `  ${JSON.stringify(scenario.env)}`];
  parts.push(`  odd: ${JSON.stringify(oddOf(small.scenario))}`);
  for (const step of small.scenario.steps) {
    if (step.kind !== 'ask') parts.push(`  ${JSON.stringify(step)}`);
    else {
      for (const [i, { text, variables }] of step.operations.entries()) {
        parts.push(`  ${step.keys[i]}: ${text.replace(/\s+/g, ' ')} ${JSON.stringify(variables)}`);
      }
    }
  }
  for (const request of small.outcome.requests.slice(0, isVerbose ? 200 : 12)) {
    parts.push(
      `    ${request.status} ${request.rows ?? ''} ${request.target.slice(0, isVerbose ? 400 : 160)}`,
    );
  }
  if (isVerbose) {
    parts.push(`  habits ${JSON.stringify(habitsOf(small.scenario))}`);
    parts.push(`  expected ${JSON.stringify(small.outcome.expected)?.slice(0, 3000)}`);
    parts.push(`  actual ${JSON.stringify(small.outcome.actual)?.slice(0, 3000)}`);
    parts.push(`  errors ${JSON.stringify(small.outcome.errors)?.slice(0, 2000)}`);
  }
  return parts.join('\n');
}

function oddOf(scenario: Scenario): Partial<Habits> {
  const odd = Object.entries(habitsOf(scenario)).filter(
    ([name, habit]) => name in USUAL && USUAL[name as keyof typeof USUAL] !== habit,
  );
  return Object.fromEntries(odd);
}
