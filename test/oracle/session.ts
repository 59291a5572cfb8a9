import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fillApart, fillHere } from '../plugins/offline/filling.ts';
import { openProgram, type Program } from '../support/program.ts';
import { semanticNulls } from '../support/semantic-nulls.ts';
import { absentQuestion, wrongAbsences } from './absences.ts';
import { availabilityOf, wrongAvailability } from './availability.ts';
import { createIds, type Difference, differences, type Ids } from './compare.ts';
import { createDice } from './dice.ts';
import {
  type Circumstances,
  type GivenError,
  isLegitimate,
  isOfCutList,
  isWarranted,
  untold,
} from './excuses.ts';
import { drawHabits, type Habits } from './habits.ts';
import { type Holding, openHolding } from './holding.ts';
import { areNumbersBad } from './odd-numbers.ts';
import type { Operation } from './operations.ts';
import { answer, ID_MARK, type Truth } from './reference.ts';
import { revise } from './revise.ts';
import { openService, type Request, type Service } from './service.ts';
import { drawWorld, type Json, type World } from './world.ts';

export const KEYS = ['key-one', 'key-two'] as const;

/** A step of a client, or the platform. */
export type Step =
  | {
      readonly kind: 'ask';
      /** More than one are asked at once, each under the key of this position. */
      readonly operations: readonly Operation[];
      readonly keys: readonly string[];
      readonly explains?: boolean;
      /** True to ask again, which should cost nothing. */
      readonly again?: boolean;
      /** True to keep a snapshot, and to ask for it once the platform has published. */
      readonly keepsSnapshot?: boolean;
    }
  | { readonly kind: 'revise'; readonly nth: number }
  /** Fills the store of the first key, and has the service go. It is killed before, after so many waits for a minute each time. */
  | { readonly kind: 'fill'; readonly kills?: readonly number[] }
  | { readonly kind: 'wait'; readonly seconds: number };

/** One gateway over one service, and the steps to take: all that is needed to see a fault again. */
export interface Scenario {
  readonly seed: number;
  readonly service: number;
  readonly habits?: Partial<Habits>;
  readonly env: Readonly<Record<string, string>>;
  /** True to ask through a page that holds figures. */
  readonly isHeld?: boolean;
  readonly steps: readonly Step[];
}

export interface Finding {
  readonly kind: string;
  readonly step: number;
  readonly operation: number;
  readonly detail: string;
}

/** One operation that was asked. */
export interface Outcome {
  readonly step: number;
  readonly operation: number;
  readonly findings: readonly Finding[];
  /** Codes of the errors that excused a short answer, or were legitimate anyway. */
  readonly excuses: readonly string[];
  /** `faulty`: beside the bounds for a failed answer, or a refusal of the operation, which no price can know. */
  readonly explain: 'exact' | 'within' | 'outside' | 'faulty' | 'unknown' | 'none';
  readonly sent: number;
  /** Figures of the answer that a page held. */
  readonly held: number;
  /** True if the answer was given again after a revision. */
  readonly isSnapshot: boolean;
  readonly requests: readonly Request[];
  readonly expected: unknown;
  readonly actual: unknown;
  readonly errors: readonly GivenError[];
}

export function habitsOf({ seed, service, habits }: Pick<Scenario, 'seed' | 'service' | 'habits'>): Habits {
  return { ...drawHabits(seed, service), ...habits };
}

/** Takes all steps, and tells the findings in each. */
export async function play(scenario: Scenario): Promise<Outcome[]> {
  const stage = await Stage.open(scenario);
  try {
    const outcomes: Outcome[] = [];
    for (const [at, step] of scenario.steps.entries()) {
      if (step.kind === 'wait') stage.wait(step.seconds);
      else if (step.kind === 'revise') stage.revise(step.nth);
      else if (step.kind === 'fill') await stage.fill(step.kills);
      else outcomes.push(...(await stage.ask(step, at)));
    }
    return outcomes;
  } finally {
    await stage.close();
  }
}

/** Worlds as they were drawn last: several scenarios play in each, and revisions only touch a copy. */
const drawn = new Map<string, World>();

function worldOf(seed: number, service: number, habits: Habits, shade: number): World {
  const name = JSON.stringify([seed, service, habits, shade]);
  const world = drawn.get(name) ?? drawWorld(seed, service, habits, shade);
  if (drawn.size > 8) drawn.clear();
  drawn.set(name, world);
  const sources = world.sources.map((source) => ({ ...source }));
  const signals = new Map(world.signals);
  return { ...world, rows: [...world.rows], tickers: [...world.tickers], sources, signals };
}

interface Asked {
  readonly reply: Awaited<ReturnType<Program['ask']>>;
  /** The truth, and its variants if the description leaves something open. */
  readonly truths: readonly (() => Truth)[];
  readonly operation: Operation;
  readonly world: World;
  /** Requests that the service received while this and others were asked. */
  readonly requests: () => readonly Request[];
}

interface Checked {
  readonly findings: Finding[];
  readonly expected: unknown;
  readonly excuses: readonly string[];
}

class Stage {
  readonly #scenario: Scenario;
  readonly #habits: Habits;
  readonly #worlds: Map<string, World>;
  readonly #service: Service;
  readonly #program: Program;
  readonly #ids: Ids;
  readonly #time: { offset: number };
  /** A folder for a store that lasts; null if none is wanted. */
  readonly #folder: string | null;
  readonly #holding: Holding | null;
  /** Numbers of what a fill could not fetch, by codes of errors; null if none has run. */
  #unfilled: Readonly<Record<string, number>> | null = null;
  /** Keys under which figures have come: then a 404 without words is no reason for an error. */
  readonly #figured = new Set<string | null>();

  private constructor(
    scenario: Scenario,
    habits: Habits,
    worlds: Map<string, World>,
    service: Service,
    program: Program,
    time: { offset: number },
    folder: string | null,
    holding: Holding | null,
  ) {
    this.#scenario = scenario;
    this.#habits = habits;
    this.#worlds = worlds;
    this.#service = service;
    this.#program = program;
    this.#ids = createIds();
    this.#time = time;
    this.#folder = folder;
    this.#holding = holding;
  }

  static async open(scenario: Scenario): Promise<Stage> {
    const habits = habitsOf(scenario);
    const { seed, service: nth } = scenario;
    const worlds = new Map(KEYS.map((key, shade) => [key as string, worldOf(seed, nth, habits, shade)]));
    const service = await openService(habits, worlds);
    const time = { offset: 0 };
    const clock = {
      now: () => Date.now() + time.offset,
      sleep: (ms: number, signal?: AbortSignal) =>
        delay(ms, undefined, signal === undefined ? {} : { signal }),
    };
    const folder = scenario.steps.some(({ kind }) => kind === 'fill')
      ? await mkdtemp(join(tmpdir(), 'country-graph-oracle-'))
      : null;
    const env = folder === null ? scenario.env : { ...scenario.env, CACHE_URL: storeIn(folder) };
    const open = (upstreamUrl: string) => openProgram({ upstreamUrl, env, clock });
    const program = await open(service.url);
    const holding = scenario.isHeld
      ? await openHolding(program, clock.now, await openService(habits, worlds), open)
      : null;
    return new Stage(scenario, habits, worlds, service, program, time, folder, holding);
  }

  async close(): Promise<void> {
    await this.#holding?.close();
    await this.#program[Symbol.asyncDispose]();
    await this.#service.close();
    if (this.#folder !== null) await rm(this.#folder, { recursive: true });
  }

  async fill(kills: readonly number[] = []): Promise<void> {
    const clock = { nowMs: Date.now() + this.#time.offset };
    const env = {
      ...this.#scenario.env,
      COUNTRY_DATA_URL: this.#service.url,
      CACHE_URL: storeIn(this.#folder ?? ''),
    };
    const filling = {
      options: { all: true, records: true, yes: true, json: true, key: KEYS[0] },
      env,
      clock,
    } as const;
    for (const killAfterWaits of kills) await fillApart({ ...filling, killAfterWaits });
    this.#service.takeLog();
    this.#service.takeResets();
    const { stdout, stderr } = await fillHere(filling);
    const { bill } = JSON.parse(stdout);
    const received = this.#service.received();
    // A request that was reset may have arrived or not.
    const most = received + this.#service.takeResets().length;
    if (stderr !== '' || bill.calls < received || bill.calls > most)
      throw new Error(`the fill billed ${bill.calls} calls of ${received} to ${most}: ${stderr}`);
    this.#unfilled = bill.errors;
    this.#time.offset = clock.nowMs - Date.now();
    await this.#service.close();
    this.#service.takeLog();
  }

  wait(seconds: number): void {
    this.#time.offset += seconds * 1000;
  }

  revise(nth: number): void {
    const at = new Date(Date.now() + this.#time.offset).toISOString();
    for (const world of this.#worlds.values()) {
      revise(
        world,
        this.#habits,
        createDice(this.#scenario.seed, this.#scenario.service, 'revision', nth),
        at,
      );
    }
  }

  async ask(step: Extract<Step, { kind: 'ask' }>, at: number): Promise<Outcome[]> {
    await this.#learnIds(step);
    if (!step.operations.every((operation) => this.#hasIds(operation))) return [];
    let explain = await this.#explain(step);
    let first = await this.#askAll(step);
    if (first.asked.some(isForProof)) {
      // A large operation has to wait for a small one to be accepted.
      for (const key of new Set(step.keys)) await this.#program.ask('{ sources { key } }', { key });
      explain = await this.#explain(step);
      first = await this.#askAll(step);
    }
    const findings = first.asked.map((one, i) => this.#check(one, step.keys[i] as string, at, i));
    const bills = this.#checkBills(first.asked, first.requests, at);
    const beyond = await this.#checkHolding(step, first.requests, at);
    const snapshots = step.keepsSnapshot === true ? await this.#askSnapshots(step, first.asked, at) : [];
    const again = step.again === true ? await this.#askAgain(step, first.asked, at) : [];
    const sent = first.requests.length;
    return first.asked.map((one, i) => ({
      step: at,
      operation: i,
      findings: [
        ...(findings[i]?.findings ?? []),
        ...(i === 0
          ? [
              ...bills,
              ...beyond,
              ...snapshots,
              ...again,
              ...explain.findings.map((detail) => finding('explain', at, 0, detail)),
            ]
          : []),
        ...(i === 0 && !isRefused(one)
          ? checkExtent(explain.extent, sent, at, faultsIn(one, first.requests, this.#habits))
          : []),
      ],
      excuses: findings[i]?.excuses ?? [],
      explain: rating(
        explain.extent,
        sent,
        isRefused(one) || isFaulty(faultsIn(one, first.requests, this.#habits)),
      ),
      sent,
      isSnapshot: typeof one.reply.extensions?.snapshot === 'string',
      held: (one.reply.extensions?.client as { held: number } | undefined)?.held ?? 0,
      requests: first.requests,
      expected: findings[i]?.expected,
      actual: one.reply.data,
      errors: one.reply.errors,
    }));
  }

  /** Asks for the identifiers that the operations name, as a client has to, too. */
  async #learnIds(step: Extract<Step, { kind: 'ask' }>): Promise<void> {
    const key = step.keys[0] as string;
    const wanted = step.operations.flatMap((operation) => idsIn(operation.variables));
    for (const id of new Set(wanted)) {
      if (this.#ids.byObject.has(id)) continue;
      const query = queryFor(id);
      if (query === null) continue;
      const reply = await this.#program.ask(query, { key });
      const operation = { text: query, variables: {} };
      await this.#holding?.askPlain({ ...operation, key });
      const truth = answer(this.#worlds.get(key) as World, this.#habits, operation);
      if (reply.data != null) differences(truth, reply.data, this.#ids);
    }
    this.#service.takeLog();
  }

  #hasIds({ variables }: Operation): boolean {
    return idsIn(variables).every((id) => this.#ids.byObject.has(id));
  }

  #askOne(operation: Operation, key: string, headers: Record<string, string> = {}) {
    const variables = withIds(operation.variables, this.#ids) as Json;
    if (this.#holding !== null) return this.#holding.ask({ text: operation.text, variables, key });
    return this.#program.ask(operation.text, {
      key,
      variables,
      headers: {
        'accept-encoding': 'identity',
        ...(asksWhy(operation) ? { 'x-absences': '1' } : {}),
        ...headers,
      },
    });
  }

  async #askAll(step: Extract<Step, { kind: 'ask' }>): Promise<{ asked: Asked[]; requests: Request[] }> {
    this.#service.takeLog();
    this.#service.takeResets();
    const asked = await Promise.all(
      step.operations.map(async (operation, i): Promise<Asked> => {
        const key = step.keys[i] as string;
        const world = this.#worlds.get(key) as World;
        const reply = await this.#askOne(operation, key, step.keepsSnapshot ? { 'x-snapshot': 'new' } : {});
        const truths = [false, true].map((knows) => () => answer(world, this.#habits, operation, knows));
        return { reply, truths, operation, world, requests: () => requests };
      }),
    );
    const log = this.#service.takeLog();
    const isExcused = (request: Request) => !(this.#figured.has(request.key) && this.#isAbsence(request));
    const requests = log.map((request) => (isExcused(request) ? request : { ...request, flaw: null }));
    for (const { key, route, rows } of log)
      if (route === DATA && rows !== null && rows > 0) this.#figured.add(key);
    return { asked, requests };
  }

  /** True if another call for figures tells that a 404 without words is about the names. */
  #isAbsence({ flaw, route }: Request): boolean {
    const { failing, strays } = this.#habits;
    return flaw === 'unworded' && route === DATA && failing === 'never' && strays === 'none';
  }

  /** Checks that a page which holds figures takes no more calls than the gateway without it. */
  async #checkHolding(
    step: Extract<Step, { kind: 'ask' }>,
    requests: readonly Request[],
    at: number,
  ): Promise<Finding[]> {
    if (this.#holding === null) return [];
    const given = step.operations.map(({ text, variables }, i) => ({
      text,
      variables: withIds(variables, this.#ids) as Json,
      key: step.keys[i] as string,
    }));
    const beyond = await this.#holding.beyond(given, requests.length);
    const targets = requests.map(({ target }) => target).join(' ');
    return beyond > 0 ? [finding('more calls by holding', at, 0, `${beyond} more: ${targets}`)] : [];
  }

  /** Has the platform publish, and asks for the answers as they were: for no call. */
  async #askSnapshots(
    step: Extract<Step, { kind: 'ask' }>,
    asked: readonly Asked[],
    at: number,
  ): Promise<Finding[]> {
    this.revise(at);
    this.wait(PAST_SNAPSHOT_SECONDS);
    const findings: Finding[] = [];
    for (const [i, { reply, operation }] of asked.entries()) {
      const token = reply.extensions?.snapshot;
      const add = (kind: string, detail: string) => findings.push(finding(kind, at, i, detail));
      if (typeof token !== 'string') {
        if (reply.errors.length === 0) add('no snapshot', JSON.stringify(reply.extensions));
        continue;
      }
      const again = await this.#askOne(operation, step.keys[i] as string, { 'x-snapshot': token });
      const requests = this.#service.takeLog();
      if (JSON.stringify(again.data) !== JSON.stringify(reply.data) || again.errors.length > 0)
        add('another snapshot', JSON.stringify([again.errors, again.data, reply.data]));
      if (requests.length > 0 || again.upstream.calls > 0)
        add('snapshot not free', requests.map(({ target }) => target).join(' '));
    }
    return findings;
  }

  async #explain(step: Extract<Step, { kind: 'ask' }>) {
    if (step.explains !== true) return { findings: [], extent: null };
    this.#service.takeLog();
    const reply = await this.#askOne(step.operations[0] as Operation, step.keys[0] as string, {
      'x-explain': '1',
    });
    const sent = this.#service.takeLog().length;
    const explain = reply.extensions?.explain as Extent | undefined;
    const findings = sent === 0 ? [] : [`explaining sent ${sent} requests`];
    return { findings, extent: explain ?? null };
  }

  async #askAgain(
    step: Extract<Step, { kind: 'ask' }>,
    before: readonly Asked[],
    at: number,
  ): Promise<Finding[]> {
    const { asked, requests } = await this.#askAll(step);
    // Demands a free second time of sound answers alone: rows that break the specification aren't held.
    const isFree =
      !areNumbersBad(this.#habits) &&
      before.every(({ reply, operation }) => reply.errors.length === 0 && mayBeHeld(operation));
    const paid = isFree && requests.length > 0;
    const targets = requests.map(({ target }) => target).join(' ');
    const there = [
      ...(await this.#checkAvailability(step, asked, at)),
      ...(await this.#checkAbsences(step.keys[0] as string, at)),
    ];
    const differing = asked.flatMap((one, i) => this.#check(one, step.keys[i] as string, at, i).findings);
    return [
      ...this.#checkBills(asked, requests, at),
      ...(paid ? [finding('second time not free', at, 0, `sent ${requests.length}: ${targets}`)] : []),
      ...there,
      ...differing.map((one) => ({ ...one, kind: `${one.kind}, second time` })),
    ];
  }

  /** Checks what the gateway says that it has cached of the figures that were asked for, at no call. */
  async #checkAvailability(
    step: Extract<Step, { kind: 'ask' }>,
    [first]: readonly Asked[],
    at: number,
  ): Promise<Finding[]> {
    const lookups = first?.truths[0]?.().lookups ?? [];
    const text = first === undefined ? null : availabilityOf(first.world, lookups);
    if (first === undefined || text === null) return [];
    const { data, errors } = await this.#program.ask(text, { key: step.keys[0] as string });
    const faults = errors.filter((error) => !isOfCutList(error, this.#habits));
    const wrong = faults.length > 0 ? [JSON.stringify(faults)] : wrongAvailability(first.world, data);
    // The list tells if there is a country beside those that the description names.
    const sent = this.#service.takeLog().filter(({ route }) => route === DATA).length;
    if (sent > 0) wrong.push(`sent ${sent}`);
    return wrong.map((detail) => finding('availability', at, 0, detail));
  }

  /** Asks for figures that aren't there, twice, and checks the reasons. */
  async #checkAbsences(key: string, at: number): Promise<Finding[]> {
    const { seed, service } = this.#scenario;
    const world = this.#worlds.get(key) as World;
    const text = absentQuestion(world, createDice(seed, service, 'absent', at));
    const wrong: string[] = [];
    for (const time of ['', ', second time']) {
      const reply = await this.#program.ask(text, { key, headers: { 'x-absences': '1' } });
      const found = [false, true].map((knows) =>
        wrongAbsences(answer(world, this.#habits, { text, variables: {} }, knows), reply),
      );
      const fewest = found.find(({ length }) => length === 0) ?? found[0] ?? [];
      wrong.push(...fewest.map((detail) => `${detail}${time} (${text})`));
    }
    this.#service.takeLog();
    return wrong.map((detail) => finding('absence', at, 0, detail));
  }

  #check({ reply, truths, operation, world, requests }: Asked, key: string, at: number, nth: number) {
    let strictest: Checked | undefined;
    const nulls = untoldNulls(operation, reply).map((detail) =>
      finding('null without an error', at, nth, detail),
    );
    for (const truth of truths) {
      const checked = this.#checkAgainst(
        truth(),
        reply,
        { world, requests: requests(), isInsisting: /\bmaxAge\b/.test(operation.text) },
        at,
        nth,
      );
      checked.findings.push(...nulls);
      if (checked.findings.length === 0) return checked;
      strictest ??= checked;
    }
    if (strictest === undefined) throw new Error(`no truth for ${operation.text} under ${key}`);
    return strictest;
  }

  #checkAgainst(
    truth: Truth,
    reply: Asked['reply'],
    seen: Pick<Circumstances, 'world' | 'requests' | 'isInsisting'>,
    at: number,
    nth: number,
  ): Checked {
    const mostCalls = Number(this.#scenario.env.MAX_UPSTREAM_CALLS ?? 60);
    const { lookups, remarks } = truth;
    const circumstances: Circumstances = {
      ...seen,
      habits: this.#habits,
      lookups,
      remarks,
      errors: reply.errors,
      mostCalls,
      unfilled: this.#unfilled,
    };
    const legitimate = reply.errors.filter((error) => isLegitimate(error, circumstances));
    const findings: Finding[] = [];
    const expected = truth.data;
    const add = (kind: string, detail: string) => findings.push(finding(kind, at, nth, detail));
    for (const error of reply.errors) {
      if (legitimate.includes(error)) continue;
      const code = error.extensions?.code ?? 'no code';
      add(
        `false error ${code}`,
        `${error.path?.join('.') ?? ''}: ${error.message} ${JSON.stringify(error.extensions)}`,
      );
    }
    const warnings = (reply.extensions?.warnings ?? []) as GivenError[];
    for (const warning of warnings) {
      if (!isWarranted(warning, circumstances)) {
        add(`false warning ${(warning as { code?: string }).code}`, JSON.stringify(warning));
      }
    }
    const isWhole = reply.errors.length === 0 && warnings.length < MOST_WARNINGS;
    for (const detail of isWhole ? untold(warnings, circumstances) : []) {
      add(`no warning ${detail.split(' ')[0]}`, detail);
    }
    if (reply.extensions?.absences !== undefined)
      for (const detail of wrongAbsences(truth, reply)) add('absence', detail);
    for (const detail of untoldAbsences(truth, this.#habits, reply.errors))
      add('absence without words', detail);
    // Takes identifiers anew if some of it failed: objects may be mistaken for each other.
    const ids =
      reply.errors.length > 0
        ? createIds()
        : { byId: new Map(this.#ids.byId), byObject: new Map(this.#ids.byObject) };
    const found = differences(truth, reply.data, ids);
    for (const difference of found) {
      if (difference.kind === 'short' && isTold(difference, found, reply.errors)) continue;
      add(
        `${difference.kind} ${placeOf(difference, truth)}`,
        `${difference.path.join('.')}: expected ${difference.detail}`,
      );
    }
    if (findings.length === 0 && reply.errors.length === 0) {
      for (const [id, object] of ids.byId) this.#ids.byId.set(id, object);
      for (const [object, id] of ids.byObject) this.#ids.byObject.set(object, id);
    }
    return { findings, expected, excuses: legitimate.map((error) => String(error.extensions.code)) };
  }

  /**
   * Checks that all bills together are the requests that the service received; for one operation, by route
   * too.
   */
  #checkBills(asked: readonly Asked[], requests: readonly Request[], at: number): Finding[] {
    const resets = this.#service.takeResets();
    const billed = new Map<string, number>();
    let calls = 0;
    for (const { reply } of asked) {
      calls += reply.upstream?.calls ?? 0;
      for (const [route, count] of Object.entries(reply.upstream?.byRoute ?? {})) {
        billed.set(route, (billed.get(route) ?? 0) + count);
      }
    }
    const received = new Map<string, number>();
    const add = (counts: Map<string, number>, route: string) =>
      counts.set(route, (counts.get(route) ?? 0) + 1);
    for (const { route } of requests) add(received, route);
    // A request that was reset may be billed, since it may have arrived, or not, since it may not have.
    for (const route of resets) {
      if ((received.get(route) ?? 0) < (billed.get(route) ?? 0)) add(received, route);
    }
    const sum = [...received.values()].reduce((a, b) => a + b, 0);
    const text = (counts: Map<string, number>) =>
      [...counts]
        .filter(([, count]) => count > 0)
        .map(([route, count]) => `${route} ${count}`)
        .sort()
        .join(', ');
    const most = Number(this.#scenario.env.MAX_UPSTREAM_CALLS ?? 60);
    const findings: Finding[] = [];
    if (calls !== sum || text(billed) !== text(received)) {
      findings.push(
        finding('bill', at, 0, `billed ${calls} (${text(billed)}), sent ${sum} (${text(received)})`),
      );
    }
    if (asked.length === 1 && requests.length > most) {
      findings.push(finding('over MAX_UPSTREAM_CALLS', at, 0, `sent ${requests.length}, may send ${most}`));
    }
    return findings;
  }
}

const storeIn = (folder: string) => `sqlite:${join(folder, 'store.db')}`;

/** Half of all operations ask why figures are missing. */
const asksWhy = ({ text }: Operation) => text.length % 2 === 0;

const DATA = '/v1/data';

/** By then no cached figure is fresh any more, where answers are kept. */
const PAST_SNAPSHOT_SECONDS = 2;

/** Warnings that an answer tells at most. */
const MOST_WARNINGS = 100;

function finding(kind: string, step: number, operation: number, detail: string): Finding {
  return { kind, step, operation, detail };
}

/** Fields that are null only with an error, as the schema says, and are null without one. */
function untoldNulls({ text }: Operation, reply: Asked['reply']): string[] {
  return semanticNulls(text, reply)
    .filter(({ isTold }) => !isTold)
    .map(({ field, path }) => `${field} at ${path.join('.')}`);
}

/** True if it is refused for its price: it sends nothing then, for any number of calls. */
function isRefused({ reply }: Asked): boolean {
  return (
    reply.data == null && reply.errors.some(({ extensions }) => extensions.code === 'OPERATION_TOO_EXPENSIVE')
  );
}

/** Records of a country that no words of the service say to be absent, so that null alone would be a guess. */
function untoldAbsences({ lookups }: Truth, habits: Habits, errors: readonly GivenError[]): string[] {
  if (habits.absence === 'named') return [];
  const records = lookups.filter(({ isAbsent }) => isAbsent);
  const places = new Set(errors.map(({ path = [] }) => namesOf(path)));
  const isTold = (path: string) =>
    [...places].some((place) => path === place || path.startsWith(`${place}.`));
  return records.filter(({ path }) => !isTold(path)).map(({ path }) => path);
}

/** True if it is refused for its size, as long as the service has accepted nothing of the key. */
function isForProof({ reply }: Asked): boolean {
  return reply.errors.some(({ message }) => /not accepted lately/.test(message));
}

interface Extent {
  readonly least?: number;
  readonly calls?: number;
  readonly most?: number;
}

function isFaulty({ hasErrors, areOfService }: Faults): boolean {
  return hasErrors || areOfService;
}

function rating(extent: Extent | null, sent: number, isExcused: boolean): Outcome['explain'] {
  if (extent === null) return 'none';
  if (extent.calls === sent) return 'exact';
  if (extent.least === undefined || extent.most === undefined) return 'unknown';
  if (extent.least <= sent && sent <= extent.most) return 'within';
  return isExcused && sent < extent.least ? 'faulty' : 'outside';
}

interface Faults {
  readonly hasErrors: boolean;
  readonly areOfService: boolean;
}

function faultsIn({ reply }: Asked, requests: readonly Request[], habits: Habits): Faults {
  const isFaulty = ({ flaw }: Request) => flaw === 'stray' || flaw === 'failed';
  return {
    hasErrors: reply.errors.length > 0,
    areOfService: areNumbersBad(habits) || requests.some(isFaulty),
  };
}

/**
 * Checks the calls against the price. A failed field takes all below it along, so that nothing tells how
 * little is sent; nor how much, if the service is at fault.
 */
function checkExtent(extent: Extent | null, sent: number, at: number, faults: Faults): Finding[] {
  if (extent?.least === undefined || extent.most === undefined || faults.areOfService) return [];
  const isWithin = (faults.hasErrors || extent.least <= sent) && sent <= extent.most;
  return isWithin ? [] : [finding('explain out of bounds', at, 0, `${JSON.stringify(extent)}, sent ${sent}`)];
}

/** Look-ups at the place of a difference, or next above it: the first things to look for. */
function placeOf({ path }: Difference, { lookups, fields }: Truth): string {
  const names = path.filter((part) => typeof part === 'string');
  for (let length = names.length; length > 0; length -= 1) {
    const above = names.slice(0, length).join('.');
    const here = lookups.filter((one) => one.path === above);
    const figures = here.find(({ mode }) => mode !== undefined);
    if (figures?.mode !== undefined) return figures.mode;
    if (here[0] !== undefined) return here[0].route;
  }
  return fields.get(names.join('.')) ?? '';
}

/**
 * True if errors tell of a shortage: here, or of as many alike if the list tells nobody which item is which.
 */
function isTold(
  difference: Difference,
  found: readonly Difference[],
  errors: readonly GivenError[],
): boolean {
  if (errors.some((error) => touches(error, difference))) return true;
  const names = namesOf(difference.path);
  const alike = found.filter(({ kind, path }) => kind === 'short' && namesOf(path) === names);
  return errors.filter((error) => namesOf(error.path ?? []) === names).length >= alike.length;
}

function namesOf(path: readonly (string | number)[]): string {
  return path.filter((part) => typeof part === 'string').join('.');
}

/** True if an error stands at, above or below the place of a difference. */
function touches(error: GivenError, { path }: Difference): boolean {
  const own = error.path ?? [];
  const length = Math.min(own.length, path.length);
  for (let i = 0; i < length; i += 1) if (own[i] !== path[i]) return false;
  return true;
}

/** Health and version are asked each time, and `maxAge` insists on newer figures. */
function mayBeHeld({ text }: Operation): boolean {
  return !/\b(health|platformVersion|maxAge)\b/.test(text);
}

function idsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.startsWith(ID_MARK) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(idsIn);
}

function withIds(value: unknown, ids: Ids): unknown {
  if (typeof value === 'string') return value.startsWith(ID_MARK) ? ids.byObject.get(value) : value;
  if (Array.isArray(value)) return value.map((item) => withIds(item, ids));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withIds(item, ids)]));
}

/** A query that tells the identifier of an object, besides the fields that tell it from others. */
function queryFor(id: string): string | null {
  const [type, first = '', second = ''] = id.slice(ID_MARK.length).split('|');
  const [one, two] = [JSON.stringify(first), JSON.stringify(second)];
  switch (type) {
    case 'Country':
      return `{ country(code: ${one}) { id } }`;
    case 'Indicator':
      return `{ indicator(key: ${one}) { id } }`;
    case 'Source':
      return `{ source(key: ${one}) { id } }`;
    case 'Ticker':
      return `{ ticker(exchangeCode: ${one}, symbol: ${two}) { id } }`;
    case 'Office':
      return `{ country(code: ${one}) { offices { id name roleType } } }`;
    case 'Observation':
      return `{ observations(countryCodes: [${one}], metricKeys: [${two}]) {
        id year period asOfPeriod locationName datasetVersion valueStatus unit retrievedAt source { key } } }`;
    default:
      return null;
  }
}
