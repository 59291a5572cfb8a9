import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** Decimal megabytes, in all budgets. */
export const MB = 1_000_000;

type Machine = ReturnType<typeof thisMachine>;

/** `limitBytes` of the container; null if it has no limit. */
function thisMachine() {
  const totalBytes = totalmem();
  const limit = process.constrainedMemory();
  // Without a limit, systems report 0, or more than there is.
  return { limitBytes: limit > 0 && limit < totalBytes ? limit : null, totalBytes };
}

/** A program has no use for more. */
export const MAX_WORKERS = 64;

export function autoWorkers(processors = availableParallelism()): number {
  return Math.min(processors, MAX_WORKERS);
}

/** The least megabytes of a process that answers, and of one that supervises others. */
const LEAST_MB = { answering: 192, supervising: 96 };

/** Megabytes that each takes with nothing cached, as `npm run soak` shows. */
const IDLE_MB = { answering: 170, supervising: 90 };

/** The rest of a container's memory is for the system's files and sockets. */
const CONTAINER_SHARE = 0.9;

/** Defaults on a machine without a limit: the most megabytes of a process, and the most of all memory. */
const USUAL_MB = 1_024;
const MACHINE_SHARE = 0.25;

/** A process has no use for more: the engine bounds its heap. */
const MOST_MB = 4_096;

/**
 * Shares of the memory that an idle process leaves of its budget. They add up to half of it, since the rest goes to
 * garbage, and to memory that the system's allocator keeps.
 */
const SHARES = {
  /** Of all workers together. */
  cache: 0.25,
  answers: 0.06,
  operations: 0.08,
  names: 0.025,
  /** In bytes as they came: parsed, they take about as much again. */
  bodies: 0.02,
  askedLately: 0.03,
  waiting: 0.16,
  answer: 0.08,
};

/** Slow readers may hold so many answers of the greatest length. */
const ANSWERS_WAITING = 4;

/** A larger budget doesn't raise them further. Bytes, and numbers of entries. */
const MOST = {
  answer: 67_108_864,
  operations: 64 * MB,
  names: 60_000,
  bodies: 32 * MB,
  askedLately: 40_000,
};
/** Bytes of one entry. */
const ITEM_BYTES = { name: 150, askedLately: 250 };
const LEAST = { cache: 4 * MB, answers: MB, operations: 2 * MB, bodies: 4 * MB, answer: 4 * MB };

const LARGEST_SEMI_MB = 64;
const LARGEST_OLD_SPACE = 256;
const SEMI_FLAG = /^--max[-_]semi[-_]space[-_]size=(\d+)$/;

interface Division {
  readonly memoryMb: number;
  readonly workers: number;
  /** Plugins that take memory in each process that answers. */
  readonly memoryOwners?: readonly MemoryOwner[];
}

export interface MemoryOwner {
  /** The setting that makes the plugin take memory. */
  readonly because: string;
  /** Its megabytes in a process that may take so many. */
  mb(processMb: number): number;
}

function defaultBudgetMb({ limitBytes, totalBytes }: Machine, workers: number): number {
  if (limitBytes !== null)
    return Math.floor(Math.min((limitBytes / MB) * CONTAINER_SHARE, workers * MOST_MB));
  return Math.max(
    leastBudgetMb({ workers }),
    Math.floor(Math.min(workers * USUAL_MB, (totalBytes / MB) * MACHINE_SHARE)),
  );
}

function leastBudgetMb({ workers, memoryOwners = [] }: Omit<Division, 'memoryMb'>): number {
  return workers * (LEAST_MB.answering + sumOf(memoryOwners, 0)) + (workers > 1 ? LEAST_MB.supervising : 0);
}

/** Bytes that are left for caches, in all processes of a program together. */
export function spareBytes({ memoryMb, workers, memoryOwners = [] }: Division): number {
  const answeringMb = IDLE_MB.answering + sumOf(memoryOwners, memoryMb / workers);
  const idleMb = workers * answeringMb + (workers > 1 ? IDLE_MB.supervising : 0);
  const heapMb = (workers * getHeapStatistics().heap_size_limit) / MB;
  return Math.max(0, Math.min(memoryMb, heapMb) - idleMb) * MB;
}

function sumOf(owners: readonly MemoryOwner[], processMb: number): number {
  return owners.reduce((sum, { mb }) => sum + mb(processMb), 0);
}

/** Bounds of each worker. */
export function cacheBounds(division: Division) {
  const each = spareBytes(division) / division.workers;
  const bytesOf = (part: 'operations' | 'bodies') =>
    Math.round(Math.min(MOST[part], Math.max(LEAST[part], each * SHARES[part])));
  return {
    /** Memoized names in the store. */
    names: Math.round(Math.min(MOST.names, (each * SHARES.names) / ITEM_BYTES.name)),
    /** Figures of all keys that are noted as asked for lately. */
    askedLately: Math.round(Math.min(MOST.askedLately, (each * SHARES.askedLately) / ITEM_BYTES.askedLately)),
    operationBytes: bytesOf('operations'),
    /** Last bodies of the service, whose unchanged rows aren't parsed again. */
    bodyBytes: bytesOf('bodies'),
  };
}

/** Bounds of the bytes that may wait for slow readers in a worker. */
export function waitingBounds({
  maxAnswerBytes,
  ...division
}: Division & { readonly maxAnswerBytes: number }) {
  const each = spareBytes(division) / division.workers;
  const most = Math.min(ANSWERS_WAITING * maxAnswerBytes, each * SHARES.waiting);
  return { maxPerConnection: maxAnswerBytes, maxInAll: Math.max(maxAnswerBytes, most) };
}

/** Megabytes of one process that answers. */
export function processBudgetMb({
  memoryMb,
  workers,
  cacheMaxBytes,
}: Division & { readonly cacheMaxBytes: number }): number {
  if (workers === 1) return memoryMb;
  // Half of the cache is in a file, which may lie in memory.
  const shared = Math.min(memoryMb / 2, IDLE_MB.supervising + cacheMaxBytes / 2 / MB);
  return (memoryMb - shared) / workers;
}

/** Settings by their names in the environment. */
interface Given {
  readonly WORKERS: number;
  readonly MEMORY_MB?: number | undefined;
  readonly CACHE_MAX_BYTES?: number | undefined;
  readonly ANSWERS_MAX_BYTES?: number | undefined;
  readonly MAX_ANSWER_BYTES?: number | undefined;
}

interface Budget extends Division {
  readonly cacheMaxBytes: number;
  readonly answersMaxBytes: number;
  readonly maxAnswerBytes: number;
}

/** Derives the settings that are not given. Only a budget that is given can have errors. */
export function budgetOf(
  given: Given,
  machine: Machine = thisMachine(),
  memoryOwners: readonly MemoryOwner[] = [],
): { readonly settings: Budget; readonly errors: readonly string[] } {
  const division = {
    memoryMb: given.MEMORY_MB ?? defaultBudgetMb(machine, given.WORKERS),
    workers: given.WORKERS,
    memoryOwners,
  };
  const spare = spareBytes(division);
  const each = spare / division.workers;
  const answerBytes = Math.min(MOST.answer, Math.max(LEAST.answer, each * SHARES.answer));
  const settings = {
    ...division,
    cacheMaxBytes: given.CACHE_MAX_BYTES ?? Math.round(Math.max(LEAST.cache, spare * SHARES.cache)),
    answersMaxBytes: given.ANSWERS_MAX_BYTES ?? Math.round(Math.max(LEAST.answers, each * SHARES.answers)),
    maxAnswerBytes: given.MAX_ANSWER_BYTES ?? Math.round(answerBytes),
  };
  const lack = given.MEMORY_MB === undefined ? null : lackOf(settings);
  return { settings, errors: lack === null ? [] : [`MEMORY_MB: ${lack} (got "${given.MEMORY_MB}")`] };
}

/** A remark to the operator on a derived budget; null if there is none. */
export function remarkOnBudget(budget: Budget): string | null {
  const lack = lackOf(budget);
  return lack && `The program may take ${budget.memoryMb} MB (MEMORY_MB), which ${lack}`;
}

function lackOf(budget: Budget): string | null {
  const { memoryMb, workers, memoryOwners = [], cacheMaxBytes, answersMaxBytes } = budget;
  const leastMb = leastBudgetMb(budget);
  const having = memoryOwners.map(({ because }) => ` and ${because}`).join('');
  if (memoryMb < leastMb) return `must be ${leastMb} or more with WORKERS=${workers}${having}`;
  const retainedBytes = cacheMaxBytes + workers * answersMaxBytes;
  const overMb = Math.ceil((retainedBytes - spareBytes(budget)) / MB);
  const isOver = overMb > 0 && retainedBytes > workers * (LEAST.cache + LEAST.answers);
  return isOver ? `lacks ${overMb} MB for CACHE_MAX_BYTES and ANSWERS_MAX_BYTES` : null;
}

/** The share of a process's budget to use. The rest is room for what comes between two looks at its memory. */
export const USED_SHARE = 0.86;

/** Per cent. With less, collections take too much of the processor: caches shrink instead. */
const LEAST_GROWTH = 20;

/**
 * Growth of the heap beyond the memory in use until a full collection, in per cent: with full caches, which take half of
 * what an idle process leaves, the heap and its garbage then fit the budget. By itself, the engine takes up to three times
 * as much again.
 */
export function heapGrowthPercent(budgetMb: number): number {
  const inUseMb = IDLE_MB.answering + (budgetMb - IDLE_MB.answering) / 2;
  return Math.max(LEAST_GROWTH, Math.round(100 * ((USED_SHARE * budgetMb) / inUseMb - 1)));
}

export function heapGrowthFlag(budgetMb: number): string {
  return `--heap-growing-percent=${heapGrowthPercent(budgetMb)}`;
}

/** Share of what an idle process leaves, which the old generation may fill before its garbage is looked for at all. */
const OLD_SPACE_SHARE = 0.36;

/** In MB. A smaller one is left to the engine: it is reached while the program loads. */
const LEAST_OLD_SPACE = 64;

/**
 * MB of the old generation below which there is no full collection; 0 leaves it to the engine. Growth in per cent of what
 * is in use makes full collections of a nearly empty process frequent: at 60 MB it would collect every 30.
 */
function oldSpaceMb(budgetMb: number): number {
  const mb = Math.floor((USED_SHARE * budgetMb - IDLE_MB.answering) * OLD_SPACE_SHARE);
  return mb < LEAST_OLD_SPACE ? 0 : Math.min(mb, LARGEST_OLD_SPACE);
}

/** MiB of the semi-spaces of the young generation: larger ones save processor time in answers of many rows. */
function semiSpaceMb(budgetMb: number): number {
  if (budgetMb <= 300) return 4;
  if (budgetMb <= 400) return 8;
  return budgetMb <= 800 ? 16 : LARGEST_SEMI_MB;
}

/**
 * Has glibc's allocator give memory back: by default each thread has a pool of its own, and large pieces that were once
 * freed are kept. Other systems ignore the variables.
 */
export const ALLOCATOR = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };

type Variables = Readonly<Record<string, string | undefined>>;

/** Megabytes of one process, by the environment alone. Errors of the settings are reported later. */
function budgetMbIn(env: Variables, machine: Machine): number {
  const workers = env.WORKERS === 'auto' ? autoWorkers() : Number(env.WORKERS) || 1;
  return (Number(env.MEMORY_MB) || defaultBudgetMb(machine, workers)) / workers;
}

/** The flag to set before the program is loaded. */
export function heapGrowthFlagIn(env: Variables): string {
  return heapGrowthFlag(budgetMbIn(env, thisMachine()));
}

/** Flags and variables to restart the process with; null if there is no need. */
export function startOf(
  env: Variables,
  flags: readonly string[],
  machine: Machine = thisMachine(),
): { readonly flags: readonly string[]; readonly env: Readonly<Record<string, string>> } | null {
  const budgetMb = budgetMbIn(env, machine);
  const wantedMb = semiSpaceMb(budgetMb);
  const given = [...(env.NODE_OPTIONS ?? '').split(' '), ...flags].map((flag) => SEMI_FLAG.exec(flag)?.[1]);
  const givenMb = Number(given.findLast((size) => size !== undefined) ?? Number.POSITIVE_INFINITY);
  // A restart takes some 30 ms, for which a large budget has no need.
  return givenMb <= wantedMb || wantedMb === LARGEST_SEMI_MB
    ? null
    : { flags: heapSizeFlags(budgetMb), env: ALLOCATOR };
}

/** Flags that the engine takes only before it starts. */
export function heapSizeFlags(budgetMb: number): string[] {
  return [
    `--max-semi-space-size=${semiSpaceMb(budgetMb)}`,
    `--initial-old-space-size=${oldSpaceMb(budgetMb)}`,
  ];
}
