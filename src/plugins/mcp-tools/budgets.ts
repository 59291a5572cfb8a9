import { LRUCache } from 'lru-cache';
import { Failure, type KeptStore, type PluginServices, unreachable } from '../../plugin/index.ts';

type OpenBudget = PluginServices['openBudget'];
type BudgetTerms = Parameters<OpenBudget>[0];
type Count = ReturnType<BudgetTerms['countsAt']>[number];

const HOUR_MS = 3_600_000;
const YEAR_MS = 366 * 24 * HOUR_MS;

const MAX_KEYS = 10_000;

interface BudgetUsage {
  readonly limit: number;
  readonly spent: number;
  /** Null for the budget of a session. */
  readonly resetsAt: string | null;
}

/** Names the caller that a header stands for, in whichever way it is written. */
type NameCaller = (authorization: string | undefined) => Promise<string>;

/**
 * Budgets of the calls that tools may send: per caller and hour over HTTP, which has no sessions, or else one for the
 * session of a process. Each call is taken before it leaves, so gateways that share the store never send one too many.
 * @param nameOf null for the budget of a session
 */
export function createToolBudgets(
  limit: number,
  store: KeptStore,
  openBudget: OpenBudget,
  nameOf: NameCaller | null,
) {
  const budgets = new LRUCache<string, ToolBudget>({ max: MAX_KEYS });
  return {
    limit,
    /** @throws Failure if there is no such caller */
    async budgetOf(authorization: string | undefined): Promise<ToolBudget> {
      const name = nameOf === null ? 'session' : await nameOf(authorization);
      const budget = budgets.get(name) ?? new ToolBudget(name, limit, store, openBudget, nameOf === null);
      budgets.set(name, budget);
      return budget;
    },
  };
}

export type ToolBudgets = ReturnType<typeof createToolBudgets>;

class ToolBudget implements BudgetTerms {
  readonly name: string;
  readonly now = Date.now;
  readonly calls: ReturnType<OpenBudget>;
  readonly #limit: number;
  readonly #store: KeptStore;
  readonly #isSession: boolean;

  constructor(name: string, limit: number, store: KeptStore, openBudget: OpenBudget, isSession: boolean) {
    this.name = `tools of ${name}`;
    this.calls = openBudget(this, store);
    this.#limit = limit;
    this.#store = store;
    this.#isSession = isSession;
  }

  /** @throws Failure if the store can't be reached */
  async usage(): Promise<BudgetUsage> {
    const nowMs = Date.now();
    const [spent = 0] = await this.#store.read(this.countsAt(nowMs).map(({ name }) => name)).catch(() => {
      throw unreachable();
    });
    return { limit: this.#limit, spent, resetsAt: this.#resetsAt(nowMs) };
  }

  refusalOf(usage: BudgetUsage, calls: number): Failure | null {
    return usage.spent + calls > usage.limit ? beyondBudget(usage, calls) : null;
  }

  countsAt(nowMs: number): readonly Count[] {
    const hour = this.#isSession ? 0 : Math.floor(nowMs / HOUR_MS);
    return [
      {
        name: `${this.name}:${hour}`,
        most: this.#limit,
        retentionMs: this.#isSession ? YEAR_MS : 2 * HOUR_MS,
      },
    ];
  }

  spent(_count: Count, nowMs: number): Failure {
    return beyondBudget({ limit: this.#limit, spent: this.#limit, resetsAt: this.#resetsAt(nowMs) }, 1);
  }

  #resetsAt(nowMs: number): string | null {
    return this.#isSession ? null : new Date((Math.floor(nowMs / HOUR_MS) + 1) * HOUR_MS).toISOString();
  }
}

function beyondBudget({ limit, spent, resetsAt }: BudgetUsage, planned: number): Failure {
  const left = Math.max(0, limit - spent);
  const message = `This takes ${planned} more call(s), and ${left} are left of the ${limit} that tools may send (MCP_BUDGET); nothing was sent for it.`;
  // An operation dearer than the whole budget never fits, so asking again is no use.
  const reset = resetsAt === null ? {} : { resetsAt, retryable: planned <= limit };
  return new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit: left, ...reset });
}
