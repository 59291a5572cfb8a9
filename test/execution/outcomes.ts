import type { GraphQLError } from 'graphql';

export interface Outcome {
  /** Data as JSON. */
  readonly data: string;
  readonly errors: readonly GraphQLError[];
}

/**
 * Difference between the outcomes of two executors; null if they agree.
 *
 * The order of errors is of no account. Of the errors below an object or list that was lost to one of them,
 * each executor may tell others; but each has to tell one.
 */
export function differenceOf(ours: Outcome, theirs: Outcome): string | null {
  if (ours.data !== theirs.data) {
    return `The data differ:\n${excerpt(ours.data, theirs.data)}\n${excerpt(theirs.data, ours.data)}`;
  }
  const [mine, others] = [sorted(ours), sorted(theirs)];
  for (const about of ['told', 'lost'] as const) {
    const extra = mine[about].filter((text) => !others[about].includes(text));
    const absent = others[about].filter((text) => !mine[about].includes(text));
    if (extra.length + absent.length + Math.abs(mine[about].length - others[about].length) === 0) continue;
    return `The errors differ (${about}).\nOurs alone: ${extra}\nTheirs alone: ${absent}`;
  }
  return null;
}

/** The errors whose own value is null, and the values that were lost to errors below them. */
function sorted({ data, errors }: Outcome): {
  readonly told: readonly string[];
  readonly lost: readonly string[];
} {
  const told: string[] = [];
  const lost = new Set<string>();
  const answer: unknown = errors.length === 0 ? null : JSON.parse(data);
  for (const { message, path = [], locations, extensions } of errors) {
    const nullAt = depthOfNull(answer, path);
    if (nullAt === path.length) told.push(JSON.stringify({ message, path, locations, extensions }));
    else lost.add(nullAt === null ? `${path.join('.')} is not null` : JSON.stringify(path.slice(0, nullAt)));
  }
  return { told: told.sort(), lost: [...lost].sort() };
}

/** Steps of a path that lead to null; null if all of them can be gone and more is there. */
function depthOfNull(answer: unknown, path: readonly (string | number)[]): number | null {
  let value = answer;
  for (const [depth, step] of path.entries()) {
    if (value === null) return depth;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value === null ? path.length : null;
}

/** Around the first difference. */
function excerpt(text: string, other: string): string {
  let at = 0;
  while (at < text.length && text[at] === other[at]) at += 1;
  return `${at > 60 ? '…' : ''}${text.slice(Math.max(0, at - 60), at + 200)}`;
}
