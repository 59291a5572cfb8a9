import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { batches, resolvers } from '../../src/graphql/resolvers/generated.ts';
import { entities } from '../../src/graphql/resolvers/nodes.ts';
import { createSchema } from '../../src/graphql/schema/schema.ts';
import { Dice } from '../execution/dice.ts';
import { type Answered, type Fuzzed, openFuzzed, posted } from './asking.ts';
import { CAMPAIGN, campaign, seed } from './campaign.ts';
import { drawDocument } from './documents.ts';

/**
 * Valid documents whose fragments spread one another many times over, with long lists and lists below lists: the gateway
 * runs them or says why it doesn't, and neither takes long or costs more than its limits allow.
 */
const MAX_CALLS = 60;
const PROVEN_KEY = 'demo-team';
/** Processor time that reading, refusing or running one may take, with the service's part of it. */
const MOST_CPU_MS = 400;
/**
 * Processor time under a key that the service has accepted: 250,000 items of lists are worked through before
 * one is refused.
 */
const MOST_PROVEN_CPU_MS = 1_600;
/** Long answers are written, sent and read. */
const MS_PER_MEGABYTE = 100;
const MS_PER_CALL = 15;

const schema = createSchema({ resolvers, entities, batches });

let fuzzed: Fuzzed;
beforeAll(async () => {
  fuzzed = await openFuzzed();
});
afterAll(() => fuzzed[Symbol.asyncDispose]());

const asking = fc.record({
  seed,
  size: fc.integer({ min: 1, max: 120 }),
  key: fc.constantFrom(PROVEN_KEY, PROVEN_KEY, 'made-up', 'new'),
  isExplained: fc.boolean(),
});

it('the gateway answers documents whose fragments spread one another', CAMPAIGN, async () => {
  const outcomes = new Map<string, number>();
  let slowestMs = 0;
  await campaign(
    'documents',
    asking,
    async ({ seed, size, key, isExplained }) => {
      const document = drawDocument(schema, new Dice(seed), size);
      const shown = JSON.stringify(document);
      const headers = {
        authorization: `Bearer ${key === 'new' ? `k${seed}` : key}`,
        ...(isExplained ? { 'x-explain': '1' } : {}),
      };
      const ask = async (mark = '') => {
        const { log } = fuzzed.program.sandbox;
        log.clear();
        const before = process.cpuUsage();
        const answered = await fuzzed.send(
          '',
          posted({ ...document, query: document.query + mark }, headers),
          shown,
        );
        const { user, system } = process.cpuUsage(before);
        const calls = log.length;
        const mostMs = key === PROVEN_KEY ? MOST_PROVEN_CPU_MS : MOST_CPU_MS;
        const allowedMs = mostMs + (answered.text.length / 1e6) * MS_PER_MEGABYTE + calls * MS_PER_CALL;
        return { answered, calls, cpuMs: (user + system) / 1000, allowedMs };
      };
      let asked = await ask();
      expect(asked.calls, shown).toBeLessThanOrEqual(isExplained ? 0 : MAX_CALLS);
      slowestMs = Math.max(slowestMs, asked.cpuMs);
      // Asks again, with a new text, if one took long: the machine may have had something else to do.
      for (let i = 0; i < 2 && asked.cpuMs > asked.allowedMs; i += 1) asked = await ask(`# ${i}`);
      expect(asked.cpuMs, shown).toBeLessThan(asked.allowedMs);
      expectValid(asked.answered, shown);
      const outcome = asked.answered.codes[0] ?? 'no error';
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    },
    () => `, ${JSON.stringify(Object.fromEntries(outcomes))}, at most ${Math.round(slowestMs)} ms`,
  );
});

/** Checks that only the gateway's limits refuse a drawn document: it is valid. */
function expectValid({ codes, body }: Answered, shown: string): void {
  const isInvalid = codes.some(
    (code) => code === 'GRAPHQL_PARSE_FAILED' || code === 'GRAPHQL_VALIDATION_FAILED',
  );
  if (isInvalid) expect.fail(`${JSON.stringify(body.errors)}\n${shown}`);
}
