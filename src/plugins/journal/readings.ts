import {
  checkMetricKey,
  createObjectMemo,
  Failure,
  type FieldContext,
  type FieldPair,
  type PluginHost,
} from '../../plugin/index.ts';
import type { Journal, RecordedRevision } from './journal.ts';
import type { Recorder } from './recorder.ts';
import { figureIn, type RecordedFigureRecord, type RevisionRecord, revisionIn } from './records.ts';

/** Revisions of one field. */
const MOST_REVISIONS = 1_000;

interface Means {
  readonly journal: Journal;
  readonly recorder: Pick<Recorder, 'recorded'>;
  readonly now: PluginHost['now'];
}

interface RevisionsWanted {
  readonly countryCodes: readonly string[];
  readonly metricKeys: readonly string[];
  readonly since?: string | null;
  readonly first: number;
}

interface Revisions {
  readonly revisions: readonly RevisionRecord[];
  /** What is not among them, and why. */
  readonly leftOut: string | null;
}

/** By operation, once the key is found to be accepted. */
const owners = createObjectMemo<{ readonly name: string }>('owner of recorded figures');

type Reading = ReturnType<typeof createReading>;

/** Reads the journal for the fields of the graph, within the rights of the key. */
export function createReading({ journal, recorder, now }: Means) {
  /** @throws Failure if the key may not read what it has seen once */
  async function ownerOf(context: FieldContext): Promise<string> {
    // The next answer of the service changes this one, so it must not be cached.
    context.markPassing();
    const owner = owners.of(context)?.name ?? (await context.cached.owner());
    if (owner === null)
      throw new Failure(
        'UNAUTHENTICATED',
        "The service has not accepted this key lately (AUTH_TTL_SECONDS), so the journal is not read for it. Ask for today's figure first.",
      );
    owners.put(context, { name: owner });
    await recorder.recorded();
    return owner;
  }

  /** @throws Failure BAD_USER_INPUT for a time to come */
  function timeOf(asOf: string): number {
    const atMs = Date.parse(asOf);
    if (atMs > now())
      throw new Failure(
        'BAD_USER_INPUT',
        `\`asOf\` is ${asOf}, which is yet to come: it is a time up to now.`,
      );
    return atMs;
  }

  /**
   * @param knownMs since when the journal knows what is asked; null for never
   * @throws Failure NOT_RECORDED for an earlier time, or one from which revisions have been dropped
   */
  function checkRecorded(asOf: string, knownMs: number | null): void {
    const sinceMs = knownMs === null ? null : Math.max(knownMs, (journal.droppedMs ?? -1) + 1);
    if (sinceMs === null || Date.parse(asOf) < sinceMs) throw notRecorded(asOf, sinceMs);
  }

  async function revisions(
    { countryCodes, metricKeys, since, first }: RevisionsWanted,
    context: FieldContext,
  ): Promise<Revisions> {
    if (first < 1 || first > MOST_REVISIONS)
      throw new Failure('BAD_USER_INPUT', `\`first\` is from 1 to ${MOST_REVISIONS}; this is ${first}.`);
    for (const key of metricKeys) checkMetricKey(key);
    context.want(countryCodes.length * metricKeys.length);
    const owner = await ownerOf(context);
    const sinceMs = since == null ? 0 : Date.parse(since);
    let found: RecordedRevision[] = [];
    await context.turns.each(pairsOf(countryCodes, metricKeys), (pair) => {
      found.push(...journal.revisions(owner, pair, sinceMs, first + 1));
      if (found.length > 2 * MOST_REVISIONS) found = newestFirst(found).slice(0, first + 1);
    });
    const { droppedMs } = journal;
    const isDropped = droppedMs !== null && sinceMs <= droppedMs;
    return {
      revisions: newestFirst(found).slice(0, first).map(revisionIn),
      leftOut:
        found.length > first
          ? `There are more than the ${first} latest revisions: ask for more with \`first\`, or for fewer figures.`
          : isDropped
            ? `Revisions up to ${timeAt(droppedMs)} have been dropped, to keep within JOURNAL_MB.`
            : null,
    };
  }

  async function figureAsOf(
    pair: FieldPair,
    { asOf, year }: { readonly asOf: string; readonly year?: number | null },
    context: FieldContext,
  ): Promise<RecordedFigureRecord | null> {
    checkMetricKey(pair.metricKey);
    const owner = await ownerOf(context);
    const atMs = timeOf(asOf);
    const { latestMs, allMs } = journal.knownSince(owner, pair);
    const ofYear = () => earlier(allMs, journal.seenSince(owner, pair, year as number, atMs));
    checkRecorded(asOf, year == null ? latestMs : ofYear());
    const figures = journal
      .statesAsOf(owner, pair, atMs)
      .filter((state) => state.locationName === null && (year == null || state.year === year));
    return context.newest(figures.map((state) => figureIn(pair, state)));
  }

  async function figuresAsOf(
    pair: FieldPair,
    { asOf }: { readonly asOf: string },
    context: FieldContext,
  ): Promise<readonly RecordedFigureRecord[]> {
    checkMetricKey(pair.metricKey);
    const owner = await ownerOf(context);
    const atMs = timeOf(asOf);
    checkRecorded(asOf, journal.knownSince(owner, pair).allMs);
    const states = journal.statesAsOf(owner, pair, atMs);
    context.want(states.length);
    return states
      .map((state) => figureIn(pair, state))
      .sort((a, b) => a.year - b.year || (context.newest([a, b]) === a ? 1 : -1));
  }

  return { revisions, figureAsOf, figuresAsOf };
}

export type { Reading };

function pairsOf(countryCodes: readonly string[], metricKeys: readonly string[]): readonly FieldPair[] {
  const keys = [...new Set(metricKeys)];
  return [...new Set(countryCodes)].flatMap((countryCode) =>
    keys.map((metricKey) => ({ countryCode, metricKey })),
  );
}

function newestFirst(revisions: readonly RecordedRevision[]): RecordedRevision[] {
  return revisions.toSorted((a, b) => b.atMs - a.atMs || b.id - a.id);
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

function timeAt(ms: number): string {
  return new Date(ms).toISOString();
}

function notRecorded(asOf: string, sinceMs: number | null): Failure {
  const recordedSince = sinceMs === null ? null : timeAt(sinceMs);
  const known =
    recordedSince === null
      ? 'has recorded nothing of it under this key yet; it does as soon as the figures are asked for'
      : `knows it since ${recordedSince}`;
  const words = `What was known at ${asOf} is not recorded: the journal ${known}.`;
  return new Failure('NOT_RECORDED', words, { recordedSince });
}
