import { createDice, type Dice } from './dice.ts';
import { drawHabits, type Habits } from './habits.ts';
import { UNKNOWN_COUNTRIES, UNKNOWN_METRICS } from './names.ts';
import { drawOperation, type Operation } from './operations.ts';
import { drawPageOperation } from './page-operations.ts';
import { KEYS, type Scenario, type Step } from './session.ts';
import { drawWorld, type World } from './world.ts';

export const MODES = [
  'cold',
  'warm',
  'pages',
  'keys',
  'revisions',
  'priced',
  'offline',
  'held',
  'snapshot',
] as const;
export type Mode = (typeof MODES)[number];
/** Modes that a campaign may have nothing but. */
export type OwnMode = 'offline' | 'held' | 'snapshot';

export interface NamedScenario extends Scenario {
  readonly mode: Mode;
}

const [ONE, TWO] = KEYS;

/** A fill takes as long as all else together: one service of so many has one, unless nothing else is asked for. */
const OFFLINE_SERVICES = 4;

/**
 * All scenarios of one service of a seed, with so many operations together.
 * @param mode for that alone
 */
export function drawScenarios(
  seed: number,
  service: number,
  operations: number,
  habits: Partial<Habits> = {},
  mode?: OwnMode,
): NamedScenario[] {
  const of = { seed, service, habits: { ...drawHabits(seed, service), ...habits } };
  if (mode === 'offline') return [drawOffline(of, operations, KILLS)];
  if (mode === 'held') return [drawHeld(of, operations)];
  if (mode === 'snapshot') return [drawSnapshot(of, operations)];
  const share = (part: number) => Math.max(1, Math.round(operations * part));
  return [
    ...drawCold(of, share(0.3)),
    drawWarm(of, share(0.25)),
    drawPages(of, share(0.2)),
    drawKeys(of, share(0.1)),
    drawRevisions(of, share(0.15)),
    ...(isForeseeable(of.habits) ? [drawPriced(of, share(0.1))] : []),
    drawHeld(of, share(0.1)),
    drawSnapshot(of, share(0.1)),
    ...(service % OFFLINE_SERVICES === OFFLINE_SERVICES - 1 ? [drawOffline(of, share(0.15))] : []),
  ];
}

/** A service of a seed, with its habits. */
type Drawn = Required<Pick<Scenario, 'seed' | 'service'>> & { readonly habits: Habits };

function toolsFor({ seed, service, habits }: Drawn, mode: Mode) {
  const world = drawWorld(seed, service, habits, 0);
  const dice = createDice(seed, service, mode);
  const isTight = createDice(seed, service, 'tight').chance(0.3);
  const env: Record<string, string> = {
    MAX_UPSTREAM_CALLS: isTight ? '60' : '400',
    BATCH_WINDOW_MS: dice.chance(0.8) ? '0' : '2',
    UPSTREAM_RETRIES: '0',
    // However busy the machine is, nothing is late.
    UPSTREAM_TIMEOUT_MS: '120000',
    OPERATION_TIMEOUT_MS: '240000',
    // Makes an error of anything that a service fails to say, and never an older answer.
    ...(isFaulty(habits) ? { STALE_IF_ERROR_SECONDS: '0' } : {}),
  };
  const draw = (nth: number) =>
    drawOne(createDice(seed, service, mode, nth), createDice(seed, service, mode, nth, 'more'), {
      world,
      habits,
      isTight,
    });
  return { dice, env, draw, world };
}

function isFaulty({ failing, strays, strayRecords, absence, oddNumbers }: Habits): boolean {
  const isSilent = failing === 'never' && strays === 'none' && absence === 'named' && !strayRecords;
  return !isSilent || oddNumbers !== 'none';
}

interface Circle {
  readonly world: World;
  readonly habits: Habits;
  readonly isTight: boolean;
}

function drawOne(dice: Dice, more: Dice, { world, habits, isTight }: Circle): Operation {
  const rows = habits.limit === 'taken' && dice.chance(0.2) ? 1500 : 400;
  const width = isTight && dice.chance(0.05) ? 200 : 8;
  return drawOperation({ dice, more, world, habits, rows, width });
}

const asking = (operation: Operation, further: Partial<Extract<Step, { kind: 'ask' }>> = {}): Step => ({
  kind: 'ask',
  operations: [operation],
  keys: [ONE],
  explains: true,
  ...further,
});

/** Nothing is held: the first operations each under a gateway of their own, which knows nothing of the service yet. */
function drawCold(of: Drawn, count: number): NamedScenario[] {
  const { env, draw } = toolsFor(of, 'cold');
  const all = Array.from({ length: count }, (_, i) => asking(draw(i)));
  const fresh = Math.ceil(count / 3);
  const common = { mode: 'cold', ...of, env: { ...env, CACHE_URL: 'none' } } as const;
  return [
    ...all.slice(0, fresh).map((step) => ({ ...common, steps: [step] })),
    { ...common, steps: all.slice(fresh) },
  ];
}

function drawWarm(of: Drawn, count: number): NamedScenario {
  const { env, draw } = toolsFor(of, 'warm');
  const steps = Array.from({ length: count }, (_, i) => asking(draw(i), { again: true }));
  return { mode: 'warm', ...of, env: { ...env, CACHE_URL: 'memory:' }, steps };
}

/**
 * True if a service counts its rows and takes a limit, so that the calls of an operation can be told before.
 */
function isForeseeable({ total, totalOf, limit, tickerLimit, tickerTotal }: Habits): boolean {
  return total && totalOf === 'all' && limit === 'taken' && (tickerTotal || tickerLimit === 'taken');
}

/** Operations of a service that has given its lists: then a price should be right. */
function drawPriced(of: Drawn, count: number): NamedScenario {
  const { env, draw } = toolsFor(of, 'priced');
  const text = '{ countries { code } indicators { key } sources { key } tickers { symbol } }';
  const steps = Array.from({ length: count }, (_, i) => asking(draw(i)));
  const lists: Step = { kind: 'ask', operations: [{ text, variables: {} }], keys: [ONE] };
  return { mode: 'priced', ...of, env: { ...env, CACHE_URL: 'none' }, steps: [lists, ...steps] };
}

/** Three to six operations at once, as the parts of a page ask. */
function drawPages(of: Drawn, count: number): NamedScenario {
  const { dice, env, draw } = toolsFor(of, 'pages');
  const steps: Step[] = [];
  for (let i = 0; i < count; ) {
    const operations = Array.from({ length: dice.between(3, 6) }, () => draw(i++));
    steps.push({ kind: 'ask', operations, keys: operations.map(() => ONE) });
  }
  const holds = dice.chance(0.5) ? 'memory:' : 'none';
  return { mode: 'pages', ...of, env: { ...env, CACHE_URL: holds }, steps };
}

/** The same under two keys at once, whose figures differ. */
function drawKeys(of: Drawn, count: number): NamedScenario {
  const { dice, env, draw } = toolsFor(of, 'keys');
  const steps: Step[] = [];
  for (let i = 0; i < count; i += 2) {
    const operation = draw(i);
    const operations = [operation, dice.chance(0.7) ? operation : draw(i + 1)];
    steps.push({ kind: 'ask', operations, keys: dice.chance(0.5) ? [ONE, TWO] : [TWO, ONE] });
  }
  return { mode: 'keys', ...of, env: { ...env, CACHE_URL: 'memory:' }, steps };
}

/** Times that a fill is killed, if it is most of what is asked for. */
const KILLS = 3;

/** Operations without the service, over a store that a fill has filled before. */
function drawOffline(of: Drawn, count: number, kills = 0): NamedScenario {
  const { dice, env, draw } = toolsFor(of, 'offline');
  const steps = Array.from({ length: count }, (_, i) => asking(draw(i), { explains: false }));
  const fill: Step = { kind: 'fill', kills: Array.from({ length: kills }, () => dice.between(1, 12)) };
  return { mode: 'offline', ...of, env: { ...env, OFFLINE: 'on' }, steps: [fill, ...steps] };
}

const PAST_TTL_SECONDS = 301;

/** Selections of a page, each of other figures again and again. */
const CHARTS = 4;

/** Operations of a page that holds figures, of a few names that meet again and again; some that it holds nothing of. */
function drawHeld(of: Drawn, count: number): NamedScenario {
  const { dice, env, draw, world } = toolsFor(of, 'held');
  const names = {
    codes: dice.some(world.countries, 3).flatMap(({ code }) => [code, code, code.toLowerCase()]),
    keys: dice
      .some(
        world.indicators.filter(({ hasData }) => hasData),
        4,
      )
      .map(({ key }) => key),
    odd: {
      names: { code: dice.pick(UNKNOWN_COUNTRIES), key: dice.pick(UNKNOWN_METRICS) },
      fields: ['growthPercent', 'record', 'country { capital }'],
      args: ['maxAge: 100'],
      mayBeReversed: false,
    },
  };
  const steps: Step[] = [];
  let revisions = 0;
  const drawn: Operation[] = [];
  const drawNext = (nth: number) => {
    if (drawn.length > 0 && dice.chance(0.3)) return dice.pick(drawn);
    if (dice.chance(0.1)) return draw(nth);
    const chart = dice.below(CHARTS);
    return drawPageOperation(createDice(of.seed, of.service, 'chart', chart), names, dice);
  };
  for (let nth = 0; nth < count; nth += 1) {
    const operation = drawNext(nth);
    drawn.push(operation);
    if (dice.chance(0.08)) steps.push({ kind: 'wait', seconds: dice.between(1, 150) });
    if (dice.chance(0.03))
      steps.push({ kind: 'revise', nth: revisions++ }, { kind: 'wait', seconds: PAST_TTL_SECONDS });
    steps.push(asking(operation, { explains: false, keys: [dice.chance(0.8) ? ONE : TWO] }));
  }
  // A gateway that guesses what will be wanted next guesses from other operations without the page.
  const own = { CACHE_URL: 'memory:', BATCH_OVERFETCH_ROWS: '0', CACHE_RENEWAL: 'off' };
  return { mode: 'held', isHeld: true, ...of, env: { ...env, ...own }, steps };
}

/** Answers that are kept, each asked for again once the platform has published. */
function drawSnapshot(of: Drawn, count: number): NamedScenario {
  const { env, draw } = toolsFor(of, 'snapshot');
  const steps = Array.from({ length: count }, (_, i) =>
    asking(draw(i), { explains: false, keepsSnapshot: true }),
  );
  // The service accepts the key by it. Some operations take no call, and prove nothing.
  const proof = asking({ text: '{ indicators { key } }', variables: {} }, { explains: false });
  // Revisions are seen at once.
  const own = {
    CACHE_URL: 'memory:',
    CACHE_TTL_SECONDS: '1',
    CACHE_RENEWAL: 'off',
    JOURNAL_FILE: ':memory:',
  };
  return { mode: 'snapshot', ...of, env: { ...env, ...own }, steps: [proof, ...steps] };
}

/** The same before and after the platform published, each time once held figures have passed their time. */
function drawRevisions(of: Drawn, count: number): NamedScenario {
  const { env, draw, world, dice } = toolsFor(of, 'revisions');
  const steps: Step[] = [];
  const operations = Array.from({ length: Math.max(1, Math.floor(count / 4)) }, (_, i) => draw(i));
  for (const operation of operations) steps.push(asking(operation));
  for (let nth = 0; nth < 3; nth += 1) {
    steps.push({ kind: 'wait', seconds: PAST_TTL_SECONDS / 2 }, { kind: 'revise', nth });
    steps.push(asking(insisting(dice, world)));
    steps.push({ kind: 'wait', seconds: PAST_TTL_SECONDS });
    for (const operation of operations) steps.push(asking(operation));
  }
  return { mode: 'revisions', ...of, env: { ...env, CACHE_URL: 'memory:' }, steps };
}

/** Figures that must be new though held ones have not passed their time. */
function insisting(dice: Dice, world: World): Operation {
  const { code } = dice.pick(world.countries);
  const metricKeys = JSON.stringify(dice.some(world.indicators, 3).map(({ key }) => key));
  const text = `query { country(code: "${code}") {
    observations(metricKeys: ${metricKeys}, latest: true, maxAge: 0) { value year period source { key } } } }`;
  return { text, variables: {} };
}
