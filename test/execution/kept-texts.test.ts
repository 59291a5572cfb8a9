import type { GraphQLObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { KeptTexts } from '../../src/execution/columns.ts';
import { createArchive } from './archive.ts';
import { createCase, planOf, runOurs } from './cases.ts';

const MAX_BYTES = 1_000_000;

interface People {
  /** The share of what they may take that texts are made to keep to after each run. */
  readonly share?: number;
  readonly count?: number;
  readonly isImmutable?: boolean;
  readonly maxBytes?: number;
}

/** Asks for people as often as there are texts, and tells how often the age of one is read for each. */
async function readsOf(
  texts: readonly string[],
  { count = 20, isImmutable = true, maxBytes = MAX_BYTES, share = 1 }: People,
) {
  const schema = createArchive();
  (schema.getType('Person') as GraphQLObjectType).extensions = { isImmutable };
  let reads = 0;
  const people = Array.from({ length: count }, (_, number) => ({
    name: `Person ${number}`,
    get age() {
      reads += 1;
      return number;
    },
  }));
  Object.assign(schema.getQueryType()?.getFields().people ?? {}, { resolve: () => people });
  const kept = new KeptTexts(maxBytes);
  const plans = new Map(texts.map((text) => [text, planOf(createCase(schema, text))]));
  const readsByRun: number[] = [];
  for (const text of texts) {
    reads = 0;
    const { data } = await runOurs(createCase(schema, text), plans.get(text), undefined, undefined, kept);
    expect(JSON.parse(data).people.at(-1)).toMatchObject({ age: count - 1 });
    readsByRun.push(reads);
    kept.shrink(share);
  }
  return readsByRun;
}

describe('texts of objects', () => {
  const ages = '{ people { age } }';
  const names = '{ people { name age } }';

  it.each<[string, readonly string[], People, readonly number[]]>([
    ['are kept from the second time on', [ages, ages, ages, ages], {}, [20, 20, 0, 0]],
    ['are those of one selection', [ages, ages, names, names, names, ages], {}, [20, 20, 20, 20, 0, 0]],
    ['are not kept of objects that may change', [ages, ages, ages], { isImmutable: false }, [20, 20, 20]],
    ['are not kept of short lists', [ages, ages, ages], { count: 8 }, [8, 8, 8]],
    ['are dropped where they are given back', [ages, ages, ages], { share: 0 }, [20, 20, 20]],
    ['are dropped where they come to too much', [ages, ages, ages], { maxBytes: 2_000 }, [20, 20, 20]],
  ])('%s', async (_, texts, people, reads) => {
    expect(await readsOf(texts, people)).toEqual(reads);
  });
});
