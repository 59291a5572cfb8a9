import { presentKind } from '../../../../src/shared/drawings.ts';
import { type Look, PLAIN, type TabLook } from '../chart/plain-look.ts';
import type { Side } from '../side.ts';

/** The view that somebody has of an answer, as a link carries it. It has no room for a key. */
export interface Seen {
  readonly side: Side;
  readonly isWide: boolean;
  readonly look: TabLook;
}

const SIDES: readonly Side[] = ['answer', 'picture', 'cost', 'errors'];
const MEASURES: readonly Look['measure'][] = ['value', 'index', 'difference', 'percent'];

/** Pictures of a link that are heeded, and members or lines of each. */
const MAX_PICTURES = 20;
const MAX_NAMES = 100;

/** Writes a view as text, without defaults. */
export function seenAsText(seen: Seen): string {
  const { isTable, pictures } = seen.look;
  const changed = Object.entries(pictures).flatMap(([key, look]) => {
    const changes = Object.entries(look).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(PLAIN[name as keyof Look]),
    );
    return changes.length === 0 ? [] : [[key, Object.fromEntries(changes)] as const];
  });
  const parts = {
    side: seen.side,
    ...(seen.isWide && { wide: true }),
    ...(isTable && { table: true }),
    ...(changed.length > 0 && { pictures: Object.fromEntries(changed) }),
  };
  return JSON.stringify(parts);
}

/** Reads the view of a link; null if it can't be read. Others wrote it: nothing of it is taken on trust. */
export function seenOf(text: string): Seen | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(value)) return null;
  const side = SIDES.find((one) => one === value.side);
  if (side === undefined) return null;
  const pictures = isRecord(value.pictures) ? Object.entries(value.pictures).slice(0, MAX_PICTURES) : [];
  return {
    side,
    isWide: value.wide === true,
    look: {
      isTable: value.table === true,
      pictures: Object.fromEntries(pictures.map(([key, look]) => [key, lookOf(look)])),
    },
  };
}

function lookOf(value: unknown): Partial<Look> {
  if (!isRecord(value)) return {};
  const { highlight, focus, removed, kind, isLog, isShared, axis, measure, base, year, scope } = value;
  const isScope = scope === 'NATIONAL' || scope === 'PLACES';
  const knownMeasure = MEASURES.find((one) => one === measure);
  return {
    ...(isNames(highlight) && { highlight }),
    ...(typeof focus === 'string' && { focus }),
    ...(isNames(removed) && { removed }),
    ...(typeof kind === 'string' && { kind: presentKind(kind) }),
    ...(isLog === true && { isLog }),
    ...(isShared === true && { isShared }),
    ...((axis === 'zero' || axis === 'data') && { axis }),
    ...(knownMeasure !== undefined && { measure: knownMeasure }),
    ...(Number.isInteger(base) && { base: base as number }),
    ...(Number.isInteger(year) && { year: year as number }),
    ...(isScope && { scope }),
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= MAX_NAMES && value.every((one) => typeof one === 'string');
