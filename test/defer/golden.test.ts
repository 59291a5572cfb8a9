import { type DirectiveNode, Kind, parse, print, type SelectionSetNode, visit } from 'graphql';
import { describe, expect, test } from 'vitest';
import { drawn } from '../support/draws.ts';
import { goldenNames, goldenOperation, openGolden } from '../support/golden-queries.ts';
import { askInParts, canonical, type Json, type Spec } from './parts.ts';

/*
 * The golden queries once more, with parts of them deferred: put together, the parts are the answer that the query has
 * without, at the same bill.
 */
/** Ways in which each query is deferred, by the formats in turn. `DEFERRED_ROUNDS=20 vitest run test/defer/golden.test.ts` takes minutes. */
const ROUNDS = Number(process.env.DEFERRED_ROUNDS ?? 1);

const DEFER: DirectiveNode = { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: 'defer' } };

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function drawer(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A query in which fragments and fields are deferred, as the draws fall. */
function deferring(query: string, draw: () => number): string {
  const document = visit(parse(query), {
    InlineFragment: (node) => (draw() > 0.6 ? undefined : { ...node, directives: [DEFER] }),
    FragmentSpread: (node) => (draw() > 0.6 ? undefined : { ...node, directives: [DEFER] }),
    SelectionSet: {
      leave({ selections }): SelectionSetNode | undefined {
        if (draw() > 0.5) return undefined;
        const isApart = selections.map(() => draw() < 0.6);
        // Some fields stand on both sides, as the fragments of components have them.
        const isTwice = selections.map(() => draw() < 0.2);
        const apart = selections.filter((_, index) => isApart[index]);
        const here = selections.filter((_, index) => !isApart[index] || isTwice[index]);
        if (apart.length === 0) return undefined;
        const fragment = {
          kind: Kind.INLINE_FRAGMENT,
          directives: [DEFER],
          selectionSet: { kind: Kind.SELECTION_SET, selections: apart },
        } as const;
        return { kind: Kind.SELECTION_SET, selections: [...here, fragment] };
      },
    },
  });
  return print(document);
}

async function outcomeOf(query: string, variables: Json, spec: Spec | null) {
  await using program = await openGolden({ MAX_DEPTH: '40', MAX_ALIASES: '200' });
  const { whole, parts } = await askInParts(program, query, {
    variables,
    ...(spec === null ? { accept: 'application/json' } : { spec }),
  });
  const faults = whole.errors.map(({ path, extensions }) => canonical({ path, extensions })).sort();
  return {
    parts: parts.length,
    outcome: {
      data: canonical(whole.data),
      faults,
      upstream: canonical(whole.extensions.upstream),
      // Sorts warnings: they come in the order of the parts that tell them, which may change.
      warnings: (whole.extensions.warnings ?? []).map(canonical).sort(),
      requests: program.requests().sort(),
      problems: program.problems,
    },
  };
}

describe('golden queries in parts', () => {
  test.for(drawn(goldenNames, 5))('%s', async (name) => {
    const { query, variables } = goldenOperation(name);
    const plain = await outcomeOf(query, variables, null);
    const place = goldenNames.indexOf(name);
    const draw = drawer(name.length * 7919 + place);
    for (let round = 0; round < ROUNDS; round += 1) {
      const spec = (place + round) % 2 === 0 ? 'v02' : 'draft2022';
      const deferred = deferring(query, draw);
      const { outcome } = await outcomeOf(deferred, variables, spec);
      expect(outcome, deferred).toEqual(plain.outcome);
    }
    if (place % 4 > 0 && ROUNDS === 1) return;
    // A client that doesn't ask for parts gets the whole.
    const { outcome, parts } = await outcomeOf(deferring(query, draw), variables, null);
    expect(parts).toBe(1);
    expect(outcome).toEqual(plain.outcome);
  });
});
