import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { SourceNames } from '../../../../src/shared/source-names.ts';
import type { Exchange } from '../exchange.ts';
import { onSourceNames, sourceNames } from '../source-names.ts';
import { inOneTurn, inTurns } from '../turns.ts';
import { askedIn } from './asked.ts';
import { figureSteps } from './figures.ts';
import { type Picture, pictureSteps } from './picture.ts';

interface Finding {
  /** Those of sources that its pictures are labelled by. */
  readonly names: SourceNames;
  /** Null while they are still looked for. */
  pictures: readonly Picture[] | null;
  readonly steps: Iterator<void, Picture[]>;
  rest: Promise<readonly Picture[]> | null;
}

/** Keyed by the drawn answer: several look at one. */
const findings = new WeakMap<Exchange['drawn'], Finding>();

/** Finds the pictures of an answer. A short one is looked through at once, a long one turn by turn. */
function findingOf({ operation: { variables, operationName }, drawn }: Exchange): Finding {
  let finding = findings.get(drawn);
  if (finding?.names !== sourceNames()) {
    const steps = stepsOf(drawn, variables ?? {}, operationName);
    finding = { names: sourceNames(), pictures: inOneTurn(steps) ?? null, steps, rest: null };
    findings.set(drawn, finding);
  }
  return finding;
}

function* stepsOf(
  { query, data }: Exchange['drawn'],
  variables: Readonly<Record<string, unknown>>,
  operationName: string | undefined,
): Generator<void, Picture[]> {
  const figures = yield* figureSteps(query, variables, operationName, data);
  return yield* pictureSteps(figures, askedIn(query, variables, operationName));
}

/** Resolves to the pictures of an answer, once all of it has been looked through. */
export function picturesIn(exchange: Exchange): Promise<readonly Picture[]> {
  const finding = findingOf(exchange);
  if (finding.pictures !== null) return Promise.resolve(finding.pictures);
  finding.rest ??= inTurns(finding.steps).then((pictures) => {
    finding.pictures = pictures;
    return pictures;
  });
  return finding.rest;
}

/** Does the same for a page that shows it; null until then. */
export function usePictures(exchange: Exchange | null): readonly Picture[] | null {
  const names = useSyncExternalStore(onSourceNames, sourceNames);
  // biome-ignore lint/correctness/useExhaustiveDependencies: pictures are labelled by the names
  const finding = useMemo(() => (exchange === null ? null : findingOf(exchange)), [exchange, names]);
  const [, setReady] = useState<Finding | null>(null);
  useEffect(() => {
    if (exchange === null || finding === null || finding.pictures !== null) return;
    let isCurrent = true;
    void picturesIn(exchange).then(() => isCurrent && setReady(finding));
    return () => {
      isCurrent = false;
    };
  }, [exchange, finding]);
  return finding === null ? [] : finding.pictures;
}
