import fc from 'fast-check';
import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { csvOf } from '../../clients/graphiql/src/chart/csv.ts';
import { servicesOf } from '../../src/gateway/adapted-plugin.ts';
import type { Kernel } from '../../src/gateway/plugin.ts';
import { createPersisted } from '../../src/graphql/request/persisted.ts';
import type { GatewayRequest } from '../../src/graphql/request/requests.ts';
import { type GatewayResponse, WrittenBody } from '../../src/graphql/request/responses.ts';
import { parsedInSteps, tableFormatFor } from '../../src/plugins/csv-tables/table-answers.ts';
import { tabled } from '../../src/plugins/csv-tables/tabled.ts';
import { Flow } from '../../src/shared/async/turns.ts';
import { csvLine } from '../../src/shared/cells.ts';
import { parseExactly } from '../../src/shared/exact-json.ts';
import { draws } from '../support/draws.ts';
import { threadMs } from '../support/thread-ms.ts';

/** Takes all steps at once, and counts them. */
function parsed(text: string): { value: unknown; steps: number } {
  const steps = parsedInSteps(text);
  for (let count = 0; ; count += 1) {
    const step = steps.next();
    if (step.done) return { value: step.value, steps: count };
  }
}

describe('JSON in steps', () => {
  it('JSON in steps is what JSON is', () => {
    // Some 300 KB, which take many steps.
    const long = fc.array(fc.jsonValue(), { minLength: 0, maxLength: 5 }).map((values) => ({
      'a "b"\\': Array.from({ length: 300_000 / (JSON.stringify(values).length + 10) }, (_, i) => [
        values,
        `"]}${i}\\`,
      ]),
      [`${'x'.repeat(40_000)}"`]: { values, [`y\\"${values.length}`]: `\\"${'z'.repeat(40_000)}` },
    }));
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), long), (value) => {
        const text = JSON.stringify(value);
        expect(parsed(text).value).toEqual(JSON.parse(text));
      }),
      { numRuns: draws(60, 20) },
    );
  });

  it('JSON in steps keeps all digits, and takes steps of no more than a fraction of it', () => {
    const text = `{"rows":[${Array.from({ length: 20_000 }, () => '{"value":12345678901234567890.5}').join()}]}`;
    const { value, steps } = parsed(text);
    expect(JSON.stringify(value)).toBe(text);
    expect(value).toEqual(parseExactly(text));
    expect(steps).toBeGreaterThan(text.length / 40_000);
  });

  it.for(['', '{', '[1', `[${'1,'.repeat(200_000)}`, '{} {}', `{"a":[${'1,'.repeat(200_000)}1]`, '"a'])(
    'JSON in steps that is none is refused: %#',
    (text) => {
      expect(() => parsed(text)).toThrow(SyntaxError);
    },
  );
});

describe('a line of CSV', () => {
  it.for([
    [['a', 'b c', null], 'a,b c,'],
    [['a,b', 'say "hi"', 'two\nlines', 'cr\r'], '"a,b","say ""hi""","two\nlines","cr\r"'],
    [['=1+1', '+1', '-1', '@x', '\tx', '\rx'], "'=1+1,'+1,'-1,'@x,'\tx,\"'\rx\""],
    [['=A1,"x"', "it's", ' =1'], '"\'=A1,""x""",it\'s,\' =1'],
    [[-1, 0, 1.5, true, false], '-1,0,1.5,true,false'],
  ] as const)('a line of CSV is as GraphiQL writes it: %j', ([values, expected]) => {
    expect(csvLine(values)).toBe(`${expected}\r\n`);
    expect(csvOf({ columns: ['x'], rows: [[...values]] })).toBe(`\ufeffx\r\n${expected}\r\n`);
  });

  it('a line of CSV holds what has parts as JSON', () => {
    expect(csvLine([{ a: '=1' }, [1, 2]])).toBe('"{""a"":""=1""}","[1,2]"\r\n');
  });
});

describe('Accept', () => {
  it.for([
    ['text/csv', 'text/csv'],
    ['TEXT/CSV; charset=utf-8', 'text/csv'],
    ['application/x-ndjson, application/json;q=0.5', 'application/x-ndjson'],
    ['application/vnd.apache.arrow.stream', 'application/vnd.apache.arrow.stream'],
    ['text/csv;q=0.5, application/x-ndjson', 'application/x-ndjson'],
    ['text/csv, */*;q=0.1', 'text/csv'],
    ['application/json, text/csv', null],
    ['*/*, text/csv', null],
    ['text/csv;q=0', null],
    ['text/csv;q=x', null],
    ['application/json, text/csv;q=0.9', null],
    ['text/*', null],
    ['application/json', null],
    ['', null],
    [undefined, null],
  ] as const)('Accept %s asks for %s', ([accepts, expected]) => {
    expect(tableFormatFor(accepts)?.contentType.split(';')[0] ?? null).toBe(expected);
  });
});

const ROWS = 50_000;
/**
 * A collection of garbage now and then is no part of the writing: a stage that holds all up does so each
 * time.
 */
const TIMES = 5;
const MOST_OF_ALL = 0.12;
const schema = buildSchema(`
  type Query { rows: [Row!] }
  type Row { id: ID! year: Int value: Float unit: String of: Row }`);

/** Answer of the stages below: rows as those of figures are. */
const BODY = JSON.stringify({
  data: {
    rows: Array.from({ length: ROWS }, (_, i) => ({
      id: `observation:KE:${i}`,
      year: 1950 + (i % 75),
      value: i / 7,
      unit: i % 3 === 0 ? null : 'people, "all"',
      of: { id: `of ${i}` },
    })),
  },
  extensions: { upstream: { calls: 3 } },
});

async function tableOf(accept: string): Promise<GatewayResponse> {
  const request: GatewayRequest = {
    method: 'POST',
    headers: { accept },
    search: '',
    body: { query: '{ rows { id year value unit of { id } } }' },
    signal: new AbortController().signal,
  };
  const next = () => ({ status: 200, headers: new Map(), body: BODY });
  const attribution = { name: 'Country Data Service', url: null };
  const config = { maxTokens: 1_000, maxAnswerBytes: 1e9, attribution };
  const callerOf = () => ({ flow: new Flow() });
  const kernel = { schema, persisted: createPersisted(), config, callerOf } as unknown as Kernel;
  return tabled(request, next, servicesOf(kernel));
}

/** Turns that others had while a table was written, and the longest time between two as a share of all. */
async function turnsWhile(write: () => Promise<void>): Promise<{ turns: number; longestShare: number }> {
  let [longestMs, turns] = [0, 0];
  let isOver = false;
  const began = process.threadCpuUsage();
  let before = began;
  const turn = () => {
    longestMs = Math.max(longestMs, threadMs(before));
    turns += 1;
    before = process.threadCpuUsage();
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await write();
  isOver = true;
  return { turns, longestShare: longestMs / threadMs(began) };
}

describe('50,000 rows', () => {
  it.for(['text/csv', 'application/x-ndjson', 'application/vnd.apache.arrow.stream'])(
    '50,000 rows as %s leave others their turns',
    async (accept) => {
      // Loads and compiles everything first: that is no matter of length.
      await tableOf(accept);
      let leastShare = 1;
      for (let time = 0; time < TIMES && leastShare >= MOST_OF_ALL; time += 1) {
        const { turns, longestShare } = await turnsWhile(async () => {
          const { status, body: sent } = await tableOf(accept);
          if (!(sent instanceof WrittenBody)) throw new Error('The table came as a whole.');
          let body = '';
          let longest = 0;
          for await (const chunk of sent) {
            longest = Math.max(longest, chunk.length);
            body += Buffer.from(chunk).toString('latin1');
          }
          expect(status).toBe(200);
          expect(body.length).toBeGreaterThan(1_500_000);
          expect(longest).toBeLessThan(150_000);
          if (accept !== 'application/vnd.apache.arrow.stream')
            expect(body.trim().split('\n')).toHaveLength(accept === 'text/csv' ? ROWS + 1 : ROWS);
        });
        expect(turns).toBeGreaterThan(20);
        leastShare = Math.min(leastShare, longestShare);
      }
      expect(leastShare).toBeLessThan(MOST_OF_ALL);
    },
  );
});
