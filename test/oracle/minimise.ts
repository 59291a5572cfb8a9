import { type ASTNode, Kind, parse, print, validate, visit } from 'graphql';
import { type Habits, USUAL } from './habits.ts';
import type { NamedScenario } from './modes.ts';
import type { Operation } from './operations.ts';
import { schema } from './reference.ts';
import { type Finding, habitsOf, type Outcome, play, type Step } from './session.ts';
import type { Json } from './world.ts';

export interface Minimised {
  readonly scenario: NamedScenario;
  readonly finding: Finding;
  readonly outcome: Outcome;
}

/** Times that a scenario may be played to find a smaller one. */
const MOST_TRIALS = 80;

/** The least that still ends in a finding of the same kind: first of the steps, then of the operations, then of odd habits. */
export async function minimised(scenario: NamedScenario, finding: Finding): Promise<Minimised> {
  const search = new Search(scenario, finding);
  await search.start();
  await search.dropSteps();
  await search.shrinkOperations();
  await search.dropHabits();
  return search.best;
}

class Search {
  best: Minimised;
  #trials = 0;
  /** True if the finding didn't come a second time. */
  #isUnseen = false;
  readonly #kind: string;

  constructor(scenario: NamedScenario, finding: Finding) {
    const steps = scenario.steps.slice(0, finding.step + 1);
    const outcome = {} as Outcome;
    this.#kind = finding.kind;
    this.best = { scenario: { ...scenario, steps }, finding, outcome };
  }

  async start(): Promise<void> {
    if (!(await this.#try(this.best.scenario.steps))) {
      const nothing = { requests: [], errors: [], expected: null, actual: null } as unknown as Outcome;
      const detail = `not seen again: ${this.best.finding.detail}`;
      this.best = { ...this.best, finding: { ...this.best.finding, detail }, outcome: nothing };
      this.#trials = MOST_TRIALS;
      this.#isUnseen = true;
    }
  }

  /** True if these steps end in such a finding too; then they are the best so far. */
  async #try(steps: readonly Step[], habits: Partial<Habits> | null = null): Promise<boolean> {
    if (this.#trials >= MOST_TRIALS) return false;
    this.#trials += 1;
    const scenario = { ...this.best.scenario, steps, ...(habits === null ? {} : { habits }) };
    const outcomes = await play(scenario).catch(() => []);
    for (const outcome of outcomes) {
      const finding = outcome.findings.find(({ kind }) => kind === this.#kind);
      if (finding === undefined) continue;
      this.best = { scenario: { ...scenario, steps: steps.slice(0, finding.step + 1) }, finding, outcome };
      return true;
    }
    return false;
  }

  async dropSteps(): Promise<void> {
    for (let size = Math.ceil(this.best.scenario.steps.length / 2); size >= 1; size = Math.floor(size / 2)) {
      for (let at = 0; at < this.best.scenario.steps.length - 1; ) {
        const { steps } = this.best.scenario;
        // Keeps the waits, without which held figures would be fresh, and rightly differ from revised ones; and a fill,
        // without which nothing is held.
        const isKept = (step: Step, i: number) =>
          i < at || i >= at + size || i === steps.length - 1 || ['wait', 'fill'].includes(step.kind);
        const without = steps.filter(isKept);
        if (without.length === steps.length || !(await this.#try(without))) at += size;
      }
    }
  }

  async shrinkOperations(): Promise<void> {
    for (let hasShrunk = true; hasShrunk && this.#trials < MOST_TRIALS; ) {
      hasShrunk = false;
      for (const steps of smallerSteps(this.best.scenario.steps)) {
        if (!(await this.#try(steps))) continue;
        hasShrunk = true;
        break;
      }
    }
  }

  /** Leaves odd habits only if they have to do with the finding. */
  async dropHabits(): Promise<void> {
    if (this.#isUnseen) return;
    this.#trials = MOST_TRIALS - ODD.length;
    for (const name of ODD) {
      const habits = habitsOf(this.best.scenario);
      if (habits[name] === USUAL[name]) continue;
      await this.#try(this.best.scenario.steps, { ...habits, [name]: USUAL[name] });
    }
  }
}

const ODD = Object.keys(USUAL) as (keyof typeof USUAL)[];

function* smallerSteps(steps: readonly Step[]): Generator<readonly Step[]> {
  const replaced = (at: number, step: Step) => steps.map((one, i) => (i === at ? step : one));
  for (const [at, step] of [...steps.entries()].reverse()) {
    if (step.kind !== 'ask') continue;
    for (const i of step.operations.keys()) {
      if (step.operations.length === 1) break;
      const without = <T>(all: readonly T[]) => all.filter((_, nth) => nth !== i);
      yield replaced(at, { ...step, operations: without(step.operations), keys: without(step.keys) });
    }
    for (const [i, operation] of step.operations.entries()) {
      for (const smaller of smallerOperations(operation)) {
        const operations = step.operations.map((one, nth) => (nth === i ? smaller : one));
        yield replaced(at, { ...step, operations });
      }
    }
  }
}

/** Each with one thing less: a selection, an argument, an item of a list; the largest first. */
function* smallerOperations({ text, variables }: Operation): Generator<Operation> {
  const document = parse(text);
  const candidates: ASTNode[] = [];
  visit(document, {
    enter(node) {
      if (REMOVABLE.has(node.kind)) candidates.push(node);
      if (node.kind === Kind.LIST) candidates.push(...node.values);
    },
  });
  const size = (node: ASTNode) => (node.loc?.end ?? 0) - (node.loc?.start ?? 0);
  for (const removed of candidates.sort((a, b) => size(b) - size(a))) {
    const smaller = without(text, variables, removed);
    if (smaller !== null) yield smaller;
  }
  for (const [name, value] of Object.entries(variables)) {
    if (!Array.isArray(value) || value.length < 2) continue;
    for (const i of value.keys()) {
      yield { text, variables: { ...variables, [name]: value.filter((_, nth) => nth !== i) } };
    }
  }
}

const REMOVABLE = new Set<string>([
  Kind.FIELD,
  Kind.INLINE_FRAGMENT,
  Kind.FRAGMENT_SPREAD,
  Kind.ARGUMENT,
  Kind.DIRECTIVE,
]);

function without(text: string, variables: Json, removed: ASTNode): Operation | null {
  const cut = visit(parse(text), {
    enter(node) {
      return isAt(node, removed) ? null : undefined;
    },
    leave(node) {
      // A selection of nothing goes with its field.
      if (node.kind === Kind.FIELD && node.selectionSet?.selections.length === 0) return null;
      if (node.kind === Kind.INLINE_FRAGMENT && node.selectionSet.selections.length === 0) return null;
      return undefined;
    },
  });
  const tidy = withoutUnused(cut);
  if (tidy === null || validate(schema, tidy).length > 0) return null;
  const used = new Set<string>();
  visit(tidy, {
    Variable(node) {
      used.add(node.name.value);
    },
  });
  const left = Object.fromEntries(Object.entries(variables).filter(([name]) => used.has(name)));
  return { text: print(tidy), variables: left };
}

function isAt(node: ASTNode, other: ASTNode): boolean {
  return node.kind === other.kind && node.loc?.start === other.loc?.start && node.loc?.end === other.loc?.end;
}

/** Drops fragments that nothing spreads, variables that nothing uses, and operations of nothing. */
function withoutUnused(document: ReturnType<typeof parse>): ReturnType<typeof parse> | null {
  const spread = new Set<string>();
  const used = new Map<string, number>();
  visit(document, {
    FragmentSpread(node) {
      spread.add(node.name.value);
    },
    Variable(node) {
      used.set(node.name.value, (used.get(node.name.value) ?? 0) + 1);
    },
  });
  const definitions = document.definitions
    .filter((one) => one.kind !== Kind.FRAGMENT_DEFINITION || spread.has(one.name.value))
    .map((one) => {
      if (one.kind !== Kind.OPERATION_DEFINITION) return one;
      // The declaration is one use itself.
      const declared = one.variableDefinitions?.filter(
        ({ variable }) => (used.get(variable.name.value) ?? 0) > 1,
      );
      return { ...one, variableDefinitions: declared ?? [] };
    });
  const isEmpty = definitions.some((one) => {
    return 'selectionSet' in one && one.selectionSet?.selections.length === 0;
  });
  return isEmpty ? null : { ...document, definitions };
}
