import { isObject, itemsOf, type openBill, parseExactly } from '../../plugin/index.ts';
import type { Filling, FillQuota, Host, Reply } from './given.ts';
import { SOURCES } from './uncached.ts';
import {
  DOCUMENTED_NAMES,
  figuresOf,
  LISTS,
  type Names,
  needsLists,
  type Question,
  recordsOf,
  type Selection,
  titleOf,
} from './wanted.ts';

/** Attempts at an operation whose errors are retryable. */
const TRIES = 3;

const MAX_REMARKS = 20;

export interface Price {
  readonly calls: number;
  /** True if the number depends on the lengths of series. */
  readonly hasSeries: boolean;
  /** Figures that a series of unknown length is taken to have. */
  readonly assumedRows: number;
  /** Figures and series that are wanted, and those of them that are cached. */
  readonly figures: number;
  readonly cached: number;
  readonly operations: number;
  readonly quota: FillQuota;
}

export interface Outcome {
  readonly calls: number;
  readonly byRoute: Readonly<Record<string, number>>;
  /** Number of things that could not be fetched, by error code. */
  readonly errors: Readonly<Record<string, number>>;
  /** Errors and warnings, the first few, each with its question. */
  readonly remarks: readonly string[];
  /** Why it ended early; null if it didn't. */
  readonly stopped: string | null;
  readonly quota: FillQuota;
}

function createSpending() {
  const byRoute: Record<string, number> = {};
  const errors: Record<string, number> = {};
  const remarks = new Set<string>();

  function billed(routes: Readonly<Record<string, number>> = {}): void {
    for (const [route, calls] of Object.entries(routes)) byRoute[route] = (byRoute[route] ?? 0) + calls;
  }

  function failed(code: string, words?: string): void {
    errors[code] = (errors[code] ?? 0) + 1;
    if (words !== undefined) remark(words);
  }

  function remark(words: string): void {
    if (remarks.size < MAX_REMARKS) remarks.add(words);
  }

  return { byRoute, errors, remarks, billed, failed, remark };
}

type Spending = ReturnType<typeof createSpending>;
type Bill = ReturnType<typeof openBill>;

function createAsking(filling: Filling, { billed, failed, remark }: Spending) {
  const { gateway, key } = filling;
  const authorization = `Bearer ${key}`;

  async function ask(question: Question, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    const { file: _, ...asked } = question;
    const reply = parseExactly(await gateway.ask(asked, { headers: { authorization, ...headers } }));
    return { errors: [], extensions: {}, ...(isObject(reply) ? reply : {}) };
  }

  /** Runs an operation until none of its errors is retryable. */
  async function run(question: Question): Promise<Reply> {
    for (let tries = 1; ; tries += 1) {
      const answer = await ask(question);
      const { errors, extensions } = answer;
      billed((extensions.upstream as Bill | undefined)?.byRoute);
      await filling.stored();
      if (filling.stopped !== null) return answer;
      if (tries < TRIES && errors.some((error) => error.extensions?.retryable)) continue;
      for (const error of errors)
        failed(String(error.extensions?.code ?? 'BAD_REQUEST'), `${titleOf(question)}: ${error.message}`);
      for (const { message } of (extensions.warnings ?? []) as readonly { readonly message: string }[])
        remark(`${titleOf(question)}: ${message}`);
      return answer;
    }
  }

  async function explain({ file: _, ...asked }: Question): Promise<number> {
    const { extensions } = await gateway.explain(asked, { headers: { authorization } });
    return extensions.explain?.calls ?? 0;
  }

  return { ask, run, explain };
}

/** Of indicators, only the number is documented. */
const NAMES_TO_ASK_FOR: Names = { ...DOCUMENTED_NAMES, indicators: [] };

const namesIn = ({ data }: Reply, otherwise: Names): Names => {
  const { countries, indicators } = (data ?? {}) as {
    countries?: readonly { readonly code: string }[] | null;
    indicators?: readonly { readonly key: string }[] | null;
  };
  return {
    countries: countries?.map(({ code }) => code) ?? otherwise.countries,
    indicators: indicators?.map(({ key }) => key) ?? otherwise.indicators,
  };
};

const listsFor = (selection: Selection) => (needsLists(selection) ? [{ query: LISTS }] : []);
const recordsFor = (selection: Selection, names: Names) => (selection.records ? recordsOf(names) : []);

/** Prices and fetches what a store should hold. */
export function createFetching(filling: Filling, host: Pick<Host, 'error'>) {
  const spending = createSpending();
  const { byRoute, errors, remarks, remark } = spending;
  const { ask, run, explain } = createAsking(filling, spending);

  /** Yields after each step, so that the caller can stop between two. */
  async function* fetchInSteps(questions: readonly Question[], selection: Selection) {
    const beganAtMs = filling.now();
    let names = NAMES_TO_ASK_FOR;
    for (const question of listsFor(selection)) {
      names = namesIn(await run(question), NAMES_TO_ASK_FOR);
      yield;
    }
    for (const question of questions) yield await run(question);
    const figures = figuresOf(selection, names, host);
    yield* filling.fetch(figures, beganAtMs, { onBilled: spending.billed, onFailed: spending.failed });
    const { indicators: keys, countries: codes } = selection;
    const named = [...itemsOf(keys ?? ''), ...itemsOf(codes ?? '').map((code) => code.toUpperCase())];
    const found = await filling.namesWithFigures(figures);
    const empty = named.filter((name) => !found.has(name));
    if (empty.length > 0) remark(`The service has no figures of ${empty.join(', ')}.`);
    for (const question of recordsFor(selection, names)) yield await run(question);
  }

  return {
    /** Counts the most calls that a fill would take if nothing fails. Sends nothing. */
    async priceOf(questions: readonly Question[], selection: Selection): Promise<Price> {
      const lists = listsFor(selection);
      const names =
        lists.length === 0
          ? DOCUMENTED_NAMES
          : namesIn(await ask({ query: LISTS }, { 'x-offline': '1' }), DOCUMENTED_NAMES);
      const { mayRenew, ...price } = await filling.price(figuresOf(selection, names, host));
      const isOfLists = lists.length > 0 && (await explain({ query: SOURCES })) > 0;
      let calls = price.calls + (mayRenew && !isOfLists ? 1 : 0);
      // The catalogue names the sources of indicators.
      if (mayRenew && lists.length === 0) calls += await explain({ query: '{ indicators { key } }' });
      const operations = [...lists, ...recordsFor(selection, names), ...questions];
      for (const question of operations) calls += await explain(question);
      return { ...price, calls, operations: operations.length, quota: await filling.quota() };
    },
    async fetch(questions: readonly Question[], selection: Selection): Promise<Outcome> {
      for await (const _ of fetchInSteps(questions, selection)) if (filling.stopped !== null) break;
      await filling.stored();
      return {
        calls: Object.values(byRoute).reduce((sum, calls) => sum + calls, 0),
        byRoute,
        errors,
        remarks: [...remarks],
        stopped: filling.stopped?.message ?? null,
        quota: await filling.quota(),
      };
    },
  };
}
