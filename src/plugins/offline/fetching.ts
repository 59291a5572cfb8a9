import type { ComposedGateway } from '../../gateway/plugin.ts';
import { type OwnReply, ownRequest, replyOf } from '../../graphql/request/own-requests.ts';
import { wholeBody } from '../../graphql/request/responses.ts';
import type { ObservationEntry } from '../../observations/entry-reader.ts';
import { changedAt, type Demand, latestOf, pairKey } from '../../observations/planner/demand.ts';
import { estimate } from '../../observations/planner/modes.ts';
import { areUnchanged, namedIn, sourcesIn } from '../../observations/revalidation.ts';
import { Failure, itemsOf, openBill } from '../../plugin/index.ts';
import type { Bill } from '../../service/bill.ts';
import { etlStatus, indicators } from '../../service/endpoints.ts';
import { payerOf } from '../../service/payer.ts';
import type { Sending } from '../../service/sending.ts';
import type { Pace } from './pace.ts';
import { type Block, callsOf, nextBlocks } from './packing.ts';
import { SOURCES } from './uncached.ts';
import {
  DOCUMENTED_NAMES,
  demandsOf,
  LISTS,
  type Names,
  needsLists,
  type Question,
  recordsOf,
  type Selection,
  titleOf,
} from './wanted.ts';

/** Attempts at anything whose error is retryable. */
const TRIES = 3;

const MAX_REMARKS = 20;

/** Demands whose cached rows are in memory at once. */
const DEMANDS_AT_ONCE = 2_000;

export interface Price {
  readonly calls: number;
  /** True if the number depends on the lengths of series. */
  readonly hasSeries: boolean;
  /** Figures and series that are wanted, and those of them that are cached. */
  readonly figures: number;
  readonly cached: number;
  readonly operations: number;
  readonly quota: Awaited<ReturnType<ComposedGateway['service']['quota']>>;
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
  readonly quota: Price['quota'];
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

interface FillParts {
  readonly gateway: ComposedGateway;
  readonly pace: Pace;
  readonly authorization: string;
  /** Age in milliseconds from which figures may be renewed; null for never. */
  readonly everyMs: number | null;
  readonly spending: ReturnType<typeof createSpending>;
}

function createAsking({ gateway, pace, authorization, spending }: FillParts) {
  const { billed, failed, remark } = spending;

  async function ask(question: Question, headers: Readonly<Record<string, string>> = {}): Promise<OwnReply> {
    const { file: _, ...asked } = question;
    const request = ownRequest(asked, { headers: { authorization, ...headers } });
    const { body } = await gateway.handle(request);
    return replyOf(await wholeBody(body));
  }

  /** Runs an operation until none of its errors is retryable. */
  async function run(question: Question): Promise<OwnReply> {
    for (let tries = 1; ; tries += 1) {
      const answer = await ask(question);
      const { errors, extensions } = answer;
      billed((extensions.upstream as Bill | undefined)?.byRoute);
      await gateway.service.tenantCache.landed();
      if (pace.stopped !== null) return answer;
      if (tries < TRIES && errors.some((error) => error.extensions?.retryable)) continue;
      for (const error of errors)
        failed(String(error.extensions?.code ?? 'BAD_REQUEST'), `${titleOf(question)}: ${error.message}`);
      for (const { message } of (extensions.warnings ?? []) as readonly { readonly message: string }[])
        remark(`${titleOf(question)}: ${message}`);
      return answer;
    }
  }

  const explain = async (question: Question) =>
    (await ask(question, { 'x-explain': '1' })).extensions.explain?.calls ?? 0;

  return { ask, run, explain };
}

const codeOf = (error: Error) => (error instanceof Failure ? error.code : 'INTERNAL_SERVER_ERROR');

function createFigures({ gateway, pace, authorization, everyMs, spending: { billed, failed } }: FillParts) {
  const { service } = gateway;
  const caller = gateway.callerOf({ authorization });
  const { tenant } = caller;
  // The operator has given the key, so it needs no proof.
  tenant.accept();
  const { signal } = new AbortController();

  /** In portions, since memory may not have room for all rows. */
  async function* cachedOf(demands: readonly Demand[]) {
    for (let from = 0; from < demands.length; from += DEMANDS_AT_ONCE) {
      const some = demands.slice(from, from + DEMANDS_AT_ONCE);
      yield [some, await service.entries.read(tenant, some)] as const;
    }
  }

  async function missingOf(
    demands: readonly Demand[],
    isCached: (entry: ObservationEntry, demand: Demand) => boolean,
  ) {
    const missing: Demand[] = [];
    for await (const [some, entries] of cachedOf(demands))
      for (const demand of some) {
        const entry = entries.get(demand.key);
        if (entry === undefined) missing.push(demand);
        else if (!isCached(entry, demand)) missing.push(changedAt(demand, entry.atMs));
      }
    return missing;
  }

  const sendingOf = (bill: Bill): Sending => ({
    caller,
    bill,
    payer: payerOf(bill),
    signal,
    waitDeadlineMs: Number.POSITIVE_INFINITY,
  });

  /** Returns the pairs without a latest figure, which have no series either. */
  async function withoutLatest(series: readonly Demand[]): Promise<ReadonlySet<string>> {
    const empty = new Set<string>();
    for await (const [some, entries] of cachedOf(latestOf(series)))
      for (const { key, pairKey } of some) if (entries.get(key)?.rows.length === 0) empty.add(pairKey);
    return empty;
  }

  /**
   * Divides series into calls. Each yields lengths of series, by which the next ones are divided better.
   * @param empty pairs that are known to have no rows
   */
  function* blocksOf(series: readonly Demand[], empty: ReadonlySet<string>): Generator<Block, void> {
    const { seriesRows } = service.planning.learned;
    const rowsOf = (countryCode: string, metricKey: string) =>
      empty.has(pairKey(countryCode, metricKey)) ? 0 : seriesRows(countryCode, metricKey);
    let left = series;
    while (left.length > 0) {
      const blocks = nextBlocks(left, rowsOf);
      yield* blocks;
      const yielded = new Set(blocks.flatMap(({ demands }) => demands));
      left = left.filter((demand) => !yielded.has(demand));
    }
  }

  /**
   * Returns a function that is true for entries to keep: all, or those that are young or whose sources haven't changed.
   * @param beganAtMs start of the fill: sources that were asked for since are new enough
   */
  async function judge(demands: readonly Demand[], beganAtMs: number) {
    if (everyMs === null) return () => true;
    const oldMs = service.clock.now() - everyMs;
    const isYoung = ({ atMs }: ObservationEntry) => atMs > oldMs;
    const old = await missingOf(demands, isYoung);
    if (!old.some(({ changedAtMs }) => changedAtMs > Number.NEGATIVE_INFINITY)) return isYoung;
    const bill = openBill();
    try {
      const records = await service.ask(etlStatus, {}, sendingOf(bill), service.clock.now() - beganAtMs);
      const catalogue = await service.ask(indicators, {}, sendingOf(bill));
      const sources = sourcesIn(records ?? [], service.clock.now());
      const byMetric = namedIn(catalogue ?? []);
      return (entry: ObservationEntry, { metricKey }: Demand) =>
        isYoung(entry) || areUnchanged({ entry, metricKey }, byMetric, sources);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (pace.stopped === null) failed(error.code);
      return isYoung;
    } finally {
      billed(bill.byRoute);
    }
  }

  /** Fetches demands together, until none of their errors is retryable. */
  async function fetchSome(demands: readonly Demand[]): Promise<void> {
    let left = demands;
    for (let tries = 1; left.length > 0; tries += 1) {
      const bill = openBill();
      const { participant, figures } = service.observations.join(caller);
      const outcomes = await figures.fetch(left, sendingOf(bill)).finally(participant.leave);
      billed(bill.byRoute);
      await service.tenantCache.landed();
      const unmet = left.flatMap((demand) => {
        const outcome = outcomes.get(demand.name);
        return outcome instanceof Error ? [{ demand, error: outcome }] : [];
      });
      if (pace.stopped !== null) return;
      const passing = unmet.filter(({ error }) => error instanceof Failure && error.retryable);
      if (tries < TRIES && passing.length > 0) {
        left = passing.map(({ demand }) => demand);
        continue;
      }
      for (const { error } of unmet) failed(codeOf(error), error.message);
      return;
    }
  }

  return { tenant, cachedOf, missingOf, withoutLatest, blocksOf, judge, fetchSome };
}

/** Returns the countries and indicators that the selection names and of which there are no figures at all. */
async function emptyNamesIn(
  { indicators: keys, countries: codes }: Selection,
  demands: readonly Demand[],
  cachedOf: ReturnType<typeof createFigures>['cachedOf'],
) {
  const figured = new Set<string>();
  for await (const [some, entries] of cachedOf(latestOf(demands)))
    for (const { key, countryCode, metricKey } of some)
      if (entries.get(key)?.rows.length !== 0) figured.add(countryCode).add(metricKey);
  const named = [...itemsOf(keys ?? ''), ...itemsOf(codes ?? '').map((code) => code.toUpperCase())];
  return named.filter((name) => !figured.has(name));
}

/** Of indicators, only the number is documented. */
const NAMES_TO_ASK_FOR: Names = { ...DOCUMENTED_NAMES, indicators: [] };

const namesIn = ({ data }: OwnReply, otherwise: Names): Names => {
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

const partsOf = (demands: readonly Demand[]) => {
  const { latest = [], series = [] } = Object.groupBy(demands, ({ mode }) => mode);
  return { latest, series };
};

/** Prices and fetches what a store should hold. */
export function createFetching(given: Omit<FillParts, 'spending'>) {
  const { gateway, pace, everyMs } = given;
  const { service } = gateway;
  const spending = createSpending();
  const { byRoute, errors, remarks, remark } = spending;
  const { ask, run, explain } = createAsking({ ...given, spending });
  const figures = createFigures({ ...given, spending });
  const { tenant, cachedOf, missingOf, withoutLatest, blocksOf, judge, fetchSome } = figures;

  /** Yields after each step, so that the caller can stop between two. */
  async function* fetchInSteps(questions: readonly Question[], selection: Selection) {
    const beganAtMs = service.clock.now();
    let names = NAMES_TO_ASK_FOR;
    for (const question of listsFor(selection)) {
      names = namesIn(await run(question), NAMES_TO_ASK_FOR);
      yield;
    }
    for (const question of questions) yield await run(question);
    const demands = demandsOf(selection, names);
    const { latest, series } = partsOf(await missingOf(demands, await judge(demands, beganAtMs)));
    yield await fetchSome(latest);
    for (const { demands } of blocksOf(series, await withoutLatest(series))) yield await fetchSome(demands);
    const empty = await emptyNamesIn(selection, demands, cachedOf);
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
      const demands = demandsOf(selection, names);
      // Counts renewals as if all sources had changed.
      const oldMs = everyMs === null ? Number.NEGATIVE_INFINITY : service.clock.now() - everyMs;
      const missing = await missingOf(demands, ({ atMs }) => atMs > oldMs);
      const isOfLists = lists.length > 0 && (await explain({ query: SOURCES })) > 0;
      const mayRenew = missing.some(({ changedAtMs }) => changedAtMs > Number.NEGATIVE_INFINITY);
      let calls = mayRenew && !isOfLists ? 1 : 0;
      // The catalogue names the sources of indicators.
      if (mayRenew && lists.length === 0) calls += await explain({ query: '{ indicators { key } }' });
      const { latest, series } = partsOf(missing);
      if (latest.length > 0) calls += estimate(latest, service.planning).calls;
      for (const block of blocksOf(series, new Set())) calls += callsOf(block);
      const operations = [...lists, ...recordsFor(selection, names), ...questions];
      for (const question of operations) calls += await explain(question);
      return {
        calls,
        hasSeries: series.length > 0,
        figures: demands.length,
        cached: demands.length - missing.length,
        operations: operations.length,
        quota: await service.quota(tenant),
      };
    },
    async fetch(questions: readonly Question[], selection: Selection): Promise<Outcome> {
      for await (const _ of fetchInSteps(questions, selection)) if (pace.stopped !== null) break;
      await pace.idle();
      return {
        calls: Object.values(byRoute).reduce((sum, calls) => sum + calls, 0),
        byRoute,
        errors,
        remarks: [...remarks],
        stopped: pace.stopped?.message ?? null,
        quota: await service.quota(tenant),
      };
    },
  };
}
