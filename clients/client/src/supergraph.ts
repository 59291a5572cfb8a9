/**
 * A bill across a supergraph, for routers in JavaScript: sums what subgraphs over metered services have spent on an operation
 * (`extensions.upstream`), and holds it to the number of calls that its client allows (`x-max-calls`).
 */
import type { UpstreamBill } from './answers.ts';

/** `extensions.upstream` of a router's answer: the sum of its subgraphs' bills, in the same shape. */
export interface SupergraphBill extends Omit<UpstreamBill, 'stale'> {
  /** By name of the subgraph; null for one that is metered and sent no bill, so that the sum is a lower bound. */
  readonly supergraph: Readonly<Record<string, BillSum | null>>;
}

type BillSum = Omit<UpstreamBill, 'stale'>;

type Extensions = Readonly<Record<string, unknown>> | undefined;

/** A refusal, as a GraphQL error. */
export interface SupergraphRefusal {
  readonly message: string;
  readonly extensions: {
    readonly code: 'BAD_USER_INPUT' | 'OPERATION_TOO_EXPENSIVE';
    readonly retryable: false;
    /** Calls that the operation would have taken by now, those that are already spent included. */
    readonly planned?: number;
    readonly limit?: number;
  };
}

const NOTHING: BillSum = { calls: 0, byRoute: {}, shared: 0, cached: 0, naive: 0 };

/** The calls of one operation, over all requests to its subgraphs. */
export class SupergraphBudget {
  readonly #bills = new Map<string, BillSum | null>();
  readonly #limit: number | null;
  /** Calls of requests that are on their way, by their price. */
  #reserved = 0;

  /** @param maxCalls the client's `x-max-calls`; null or undefined for no limit */
  constructor(maxCalls: string | null | undefined) {
    this.#limit = maxCalls == null ? null : Number(maxCalls);
  }

  /** @returns null if the header is a whole number of calls, or absent */
  static refusalOf(maxCalls: string | null | undefined): SupergraphRefusal | null {
    if (maxCalls == null || /^\d{1,9}$/.test(maxCalls)) return null;
    const message =
      '`x-max-calls` has to be the number of upstream calls that the operation may take, such as 5.';
    return { message, extensions: { code: 'BAD_USER_INPUT', retryable: false } };
  }

  get isLimited(): boolean {
    return this.#limit !== null;
  }

  /** Adds the bill of an answer. @param extensions those of the subgraph's answer */
  add(subgraph: string, extensions: Extensions): void {
    const bill = billIn(extensions);
    const before = this.#bills.get(subgraph);
    this.#bills.set(subgraph, bill === null || before === null ? null : sumOf([before ?? NOTHING, bill]));
  }

  /** Sets calls aside for a request, by its price. @returns the refusal if that is beyond the client's limit */
  reserve(subgraph: string, calls: number): SupergraphRefusal | null {
    const planned = this.#sum().calls + this.#reserved + calls;
    if (this.#limit === null || planned <= this.#limit) {
      this.#reserved += calls;
      return null;
    }
    const message = `\`${subgraph}\` would take ${calls} more upstream call(s), ${planned} in all, and the client allows ${this.#limit} (\`x-max-calls\`).`;
    const extensions = {
      code: 'OPERATION_TOO_EXPENSIVE',
      retryable: false,
      planned,
      limit: this.#limit,
    } as const;
    return { message, extensions };
  }

  /** Gives back what was set aside for a request that has been answered. */
  release(calls: number): void {
    this.#reserved -= calls;
  }

  /** `extensions` of the router's answer. */
  get extensions(): { readonly upstream: SupergraphBill } {
    return { upstream: { ...this.#sum(), supergraph: Object.fromEntries(this.#bills) } };
  }

  #sum(): BillSum {
    return sumOf([...this.#bills.values()].filter((bill) => bill !== null));
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const countIn = (value: unknown) => (typeof value === 'number' && value > 0 ? value : 0);

function billIn(extensions: Extensions): BillSum | null {
  const bill = extensions?.upstream;
  if (!isObject(bill) || typeof bill.calls !== 'number') return null;
  const byRoute = Object.entries(isObject(bill.byRoute) ? bill.byRoute : {});
  return {
    calls: countIn(bill.calls),
    byRoute: Object.fromEntries(byRoute.map(([route, calls]) => [route, countIn(calls)])),
    shared: countIn(bill.shared),
    cached: countIn(bill.cached),
    naive: countIn(bill.naive),
  };
}

function sumOf(bills: readonly BillSum[]): BillSum {
  const byRoute: Record<string, number> = {};
  const sum = { calls: 0, shared: 0, cached: 0, naive: 0 };
  for (const bill of bills) {
    for (const [route, calls] of Object.entries(bill.byRoute)) byRoute[route] = (byRoute[route] ?? 0) + calls;
    for (const name of ['calls', 'shared', 'cached', 'naive'] as const) sum[name] += bill[name];
  }
  return { ...sum, byRoute };
}

/** An answer, as routers hand it from stage to stage. */
interface Result {
  readonly extensions?: Extensions;
  readonly errors?: readonly { readonly extensions?: Extensions }[];
}

/**
 * The price in an answer. A price has neither data nor errors, which Hive's HTTP executor takes for a failure: then the answer is
 * in its error.
 */
function priceIn({ extensions, errors }: Result): Record<string, unknown> | null {
  const response = errors?.[0]?.extensions?.response;
  const body = isObject(response) ? response.body : undefined;
  const kept = isObject(body) && isObject(body.extensions) ? body.extensions : undefined;
  const price = extensions?.explain ?? kept?.explain;
  return isObject(price) ? price : null;
}

interface Context {
  readonly request: { readonly headers: { get(name: string): string | null } };
}

interface ExecutionRequest {
  readonly context?: Context | undefined;
  readonly extensions?: Extensions;
}

type Executor = (request: ExecutionRequest) => unknown;

/**
 * Bills operations of Hive Gateway: a plugin for its `plugins`. Answers have {@link SupergraphBill}. If a client sends
 * `x-max-calls`, each request to a metered subgraph is priced before it is sent (`x-explain: 1`, at no call), and refused with
 * `OPERATION_TOO_EXPENSIVE` if it would take more than the client allows.
 * @param metered names of the subgraphs that send bills and prices
 */
export function billSupergraph({ metered }: { readonly metered: readonly string[] }) {
  const budgets = new WeakMap<object, SupergraphBudget>();
  const budgetOf = (context: Context): SupergraphBudget => {
    let budget = budgets.get(context);
    if (budget === undefined) {
      budget = new SupergraphBudget(context.request.headers.get('x-max-calls'));
      budgets.set(context, budget);
    }
    return budget;
  };

  /** Sends a request if it is within the budget. A subgraph that knows no prices has answered already. */
  async function within(budget: SupergraphBudget, name: string, request: ExecutionRequest, send: Executor) {
    const headers = { ...(request.extensions?.headers as object | undefined), 'x-explain': '1' };
    const priced = (await send({ ...request, extensions: { ...request.extensions, headers } })) as Result;
    const price = priceIn(priced);
    if (price === null) return priced;
    const calls = countIn(price.calls);
    const refusal = budget.reserve(name, calls);
    if (refusal !== null) return { data: null, errors: [refusal], extensions: { upstream: NOTHING } };
    try {
      return await send(request);
    } finally {
      budget.release(calls);
    }
  }

  return {
    onParams({
      request,
      setResult,
    }: {
      readonly request: Context['request'];
      setResult(result: never): void;
    }) {
      const refusal = SupergraphBudget.refusalOf(request.headers.get('x-max-calls'));
      if (refusal !== null) setResult({ errors: [refusal] } as never);
    },

    onSubgraphExecute(payload: {
      readonly subgraphName: string;
      readonly executionRequest: ExecutionRequest;
      readonly executor: unknown;
      setExecutor(executor: never): void;
    }) {
      const { subgraphName: name, executionRequest, executor, setExecutor } = payload;
      const { context } = executionRequest;
      if (context === undefined || !metered.includes(name)) return undefined;
      const budget = budgetOf(context);
      if (budget.isLimited)
        setExecutor(((request: ExecutionRequest) =>
          within(budget, name, request, executor as Executor)) as never);
      const add = ({ result }: { readonly result: unknown }) =>
        budget.add(name, (result as Result).extensions);
      return (done: { readonly result: unknown }) =>
        isObject(done.result) && Symbol.asyncIterator in done.result ? { onNext: add } : add(done);
    },

    onExecutionResult(payload: {
      readonly context: unknown;
      readonly result: unknown;
      setResult(result: never): void;
    }) {
      const { context, result, setResult } = payload;
      const budget = budgets.get(context as Context);
      if (budget === undefined || !isObject(result) || Symbol.asyncIterator in result) return;
      const extensions = { ...(result.extensions as object | undefined), ...budget.extensions };
      setResult({ ...result, extensions } as never);
    },
  };
}
