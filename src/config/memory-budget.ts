import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** A megabyte, as budgets count them. */
export const MB = 1_000_000;

type Machine = ReturnType<typeof thisMachine>;

/** Measures the memory of the machine, and of the container: the latter is null if it has no limit. */
function thisMachine() {
  const totalBytes = totalmem();
  const limit = process.constrainedMemory();
  // If there is no limit, systems tell 0, or more than there is.
  return { limitBytes: limit > 0 && limit < totalBytes ? limit : null, totalBytes };
}

/** Processes beyond which a program has no use for more. */
export const MAX_WORKERS = 64;

/** Counts the workers of `auto`. */
export function autoWorkers(processors = availableParallelism()): number {
  return Math.min(processors, MAX_WORKERS);
}

/** Megabytes without which a process can't do: one that answers, and the one that supervises others. */
const LEAST_MB = { answering: 192, supervising: 96 };

/** Megabytes that each takes before it holds anything, as `npm run soak` shows it. */
const IDLE_MB = { answering: 170, supervising: 90 };

/** The share of a container's memory that is the program's: the rest is the system's, for files and sockets. */
const CONTAINER_SHARE = 0.9;

/** Megabytes of a machine, and the share of its memory, that a process takes at the most unless set. */
const USUAL_MB = 1_024;
const MACHINE_SHARE = 0.25;

/** Megabytes beyond which a process has no use for more: the engine bounds its heap. */
const MOST_MB = 4_096;

/**
 * Shares of the memory that an idle process leaves of its budget. They come to half of it, since memory in use is
 * followed by as much garbage, and by the memory that the system's allocator keeps.
 */
const SHARES = {
  /** Figures and lists, of all workers together. */
  cache: 0.25,
  answers: 0.06,
  operations: 0.08,
  names: 0.025,
  askedLately: 0.03,
  /** Answers on their way to slow readers. */
  waiting: 0.16,
  answer: 0.08,
};

/** The longest answers that may wait for slow readers, by their bytes. */
const ANSWERS_WAITING = 4;

/** Bounds beyond which these have no use for more in a larger budget: in bytes, and in numbers. */
const MOST = {
  answer: 67_108_864,
  operations: 64 * MB,
  names: 60_000,
  askedLately: 40_000,
};
/** Bytes that one of the counted things takes. */
const ITEM_BYTES = { name: 150, askedLately: 250 };
const LEAST = { cache: 4 * MB, answers: MB, operations: 2 * MB, answer: 4 * MB };

const LARGEST_SEMI_MB = 64;
const SEMI_FLAG = /^--max[-_]semi[-_]space[-_]size=(\d+)$/;

interface Division {
  readonly memoryMb: number;
  readonly workers: number;
  /** Plugins that take some of it in each process that answers. */
  readonly memoryOwners?: readonly MemoryOwner[];
}

/** What a plugin takes of the memory in each process that answers. */
export interface MemoryOwner {
  /** The setting that it is for. */
  readonly because: string;
  /** Counts its megabytes where a process may take so many. */
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

/** Counts the megabytes without which a program of so many workers can't do. */
function leastBudgetMb({ workers, memoryOwners = [] }: Omit<Division, 'memoryMb'>): number {
  return workers * (LEAST_MB.answering + sumOf(memoryOwners, 0)) + (workers > 1 ? LEAST_MB.supervising : 0);
}

/** Counts the bytes that are left for cached entries, of all processes of a program together. */
export function spareBytes({ memoryMb, workers, memoryOwners = [] }: Division): number {
  const answeringMb = IDLE_MB.answering + sumOf(memoryOwners, memoryMb / workers);
  const idleMb = workers * answeringMb + (workers > 1 ? IDLE_MB.supervising : 0);
  const heapMb = (workers * getHeapStatistics().heap_size_limit) / MB;
  return Math.max(0, Math.min(memoryMb, heapMb) - idleMb) * MB;
}

function sumOf(owners: readonly MemoryOwner[], processMb: number): number {
  return owners.reduce((sum, { mb }) => sum + mb(processMb), 0);
}

/** Derives the other bounds from the budget, in each worker. */
export function cacheBounds(division: Division) {
  const each = spareBytes(division) / division.workers;
  return {
    /** Names in the store that are at hand. */
    names: Math.round(Math.min(MOST.names, (each * SHARES.names) / ITEM_BYTES.name)),
    /** Figures of all keys cached as asked for lately. */
    askedLately: Math.round(Math.min(MOST.askedLately, (each * SHARES.askedLately) / ITEM_BYTES.askedLately)),
    operationBytes: Math.round(
      Math.min(MOST.operations, Math.max(LEAST.operations, each * SHARES.operations)),
    ),
  };
}

/** Bounds the bytes that may wait for slow readers in a worker: by the longest answer, and by the memory for all. */
export function waitingBounds({
  maxAnswerBytes,
  ...division
}: Division & { readonly maxAnswerBytes: number }) {
  const each = spareBytes(division) / division.workers;
  const most = Math.min(ANSWERS_WAITING * maxAnswerBytes, each * SHARES.waiting);
  return { maxPerConnection: maxAnswerBytes, maxInAll: Math.max(maxAnswerBytes, most) };
}

/** Counts the megabytes that one process may take: a supervisor holds half of the memory that all share. */
export function processBudgetMb(
  { memoryMb, workers, cacheMaxBytes }: Division & { readonly cacheMaxBytes: number },
  role: 'answering' | 'supervising' = 'answering',
): number {
  if (workers === 1) return memoryMb;
  // Texts that are in use, and as much again that is not any more.
  const supervising = Math.min(memoryMb / 2, IDLE_MB.supervising + cacheMaxBytes / MB);
  return role === 'supervising' ? supervising : (memoryMb - supervising) / workers;
}

/** Settings as they are given, by their names in the environment. */
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

/** Makes the budget: the given figures, others derived from it, and the errors of a budget that is given. */
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

/** Words a remark to the operator on a budget that nobody has given; null if there is none. */
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

/** Counts the MiB of the young generation's halves: larger ones save processor time in answers of many rows. */
function semiSpaceMb(budgetMb: number): number {
  if (budgetMb <= 300) return 4;
  if (budgetMb <= 400) return 8;
  return budgetMb <= 800 ? 16 : LARGEST_SEMI_MB;
}

/**
 * Variables that have the system's allocator give memory back: otherwise each thread has a pool of its own, and memory that
 * has once been freed in large pieces is kept. Systems without it have no use for them.
 */
export const ALLOCATOR = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };

/** Returns the engine's flags and the allocator's variables to begin anew with; null if they are set. */
export function startOf(
  env: Readonly<Record<string, string | undefined>>,
  flags: readonly string[],
  machine: Machine = thisMachine(),
): { readonly flags: readonly string[]; readonly env: Readonly<Record<string, string>> } | null {
  const workers = env.WORKERS === 'auto' ? autoWorkers() : Number(env.WORKERS) || 1;
  // Errors of the settings are told once they are read.
  const budgetMb = Number(env.MEMORY_MB) || defaultBudgetMb(machine, workers);
  const wantedMb = semiSpaceMb(budgetMb / workers);
  const given = [...(env.NODE_OPTIONS ?? '').split(' '), ...flags].map((flag) => SEMI_FLAG.exec(flag)?.[1]);
  const givenMb = Number(given.findLast((size) => size !== undefined) ?? Number.POSITIVE_INFINITY);
  // To begin anew takes some 30 ms, which a large budget has no need of.
  return givenMb <= wantedMb || wantedMb === LARGEST_SEMI_MB
    ? null
    : { flags: [semiSpaceFlag(budgetMb / workers)], env: ALLOCATOR };
}

/** Returns the flag that sets them to what fits a process's budget. */
export function semiSpaceFlag(budgetMb: number): string {
  return `--max-semi-space-size=${semiSpaceMb(budgetMb)}`;
}
