import { describe, expect, it } from 'vitest';
import { StoreOutage } from '../../src/cache/outage.ts';
import { createLog } from '../../src/server/log.ts';

function open(level: Parameters<typeof createLog>[0] = 'info') {
  const lines: string[] = [];
  return { lines, log: createLog(level, { write: (line) => void lines.push(line) }) };
}

const KEY = 'cds_live_0123.456-789~abc+/=';
const operation = {
  name: 'Figures',
  type: 'query',
  durationMs: 12.7,
  calls: 1,
  shared: 2,
  cached: 3,
  stale: 4,
  repeated: false,
  errorCodes: ['FORBIDDEN'],
} as const;

describe('the log', () => {
  it('the log has one line per operation', () => {
    const { log, lines } = open();
    log.operation(operation);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 30, msg: 'operation', ...operation, durationMs: 13, errorCodes: { FORBIDDEN: 1 } },
    ]);
  });

  it('the log stays short however long the name and however many the errors', () => {
    const { log, lines } = open();
    const errorCodes = Array.from({ length: 25_000 }, () => 'UPSTREAM_TIMEOUT');
    log.operation({ ...operation, name: 'N'.repeat(1_000_000), errorCodes });
    expect(lines[0]?.length).toBeLessThan(1_000);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ errorCodes: { UPSTREAM_TIMEOUT: 25_000 } });
  });

  it('the log has a problem whole: stack, cause and fields', () => {
    const { log, lines } = open();
    const cause = new Error('the socket broke');
    log.problem(Object.assign(new Error('no answer', { cause }), { route: '/v1/data' }), 'upstream');
    const [line] = lines.map((text) => JSON.parse(text));
    expect(line).toMatchObject({ level: 50, where: 'upstream', err: { route: '/v1/data' } });
    expect(line.err.stack).toContain('log.test.ts');
    expect(line.err.stack).toContain('the socket broke');
  });

  it('the log has a line for the begin of an outage of the store, and one for its end, which are no problems', () => {
    const { log, lines } = open();
    log.outage?.(new StoreOutage('The store (CACHE_URL) fails.', false, { cause: new Error('offline') }));
    log.outage?.(new StoreOutage('The store (CACHE_URL) is there again.', true));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, setting: 'CACHE_URL', isOver: false, msg: 'The store (CACHE_URL) fails.' },
      { level: 30, setting: 'CACHE_URL', isOver: true, msg: 'The store (CACHE_URL) is there again.' },
    ]);
  });

  it('the log has the beginning of a fault that is too long to be whole, and says what it leaves out', () => {
    const { log, lines } = open();
    const many = Array.from({ length: 25_000 }, (_, i) => new Error(`fault ${i}`));
    const odd = Object.assign(new AggregateError(many, 'x'.repeat(5_000_000)), {
      body: 'y'.repeat(5_000_000),
      rows: Array.from({ length: 25_000 }, () => 'a row'),
    });
    log.problem(odd, 'upstream');
    log.fatal(odd, 'uncaughtException');
    log.fatal({ message: 'z'.repeat(5_000_000) }, 'unhandledRejection');
    for (const line of lines) expect(line.length).toBeLessThan(300_000);
    const [problem, , thrown] = lines.map((line) => JSON.parse(line));
    expect(problem.err.rows.at(-1)).toBe('… (24980 more)');
    expect(problem.err.message).toMatch(/^x{1000,}… \(\d+ characters more\)$/);
    expect(problem.err.aggregateErrors[0].stack).toContain('fault 0');
    expect([problem.err.aggregateErrors.length, problem.err.errorsLeftOut]).toEqual([20, 24_980]);
    expect(thrown.err.message).toMatch(/^z+… \(\d+ characters more\)$/);
  });

  it('the log has attempts at debug alone', () => {
    const attempt = { route: '/v1/data', outcome: 'ok', durationMs: 5 };
    const quiet = open('info');
    quiet.log.attempt(attempt);
    expect(quiet.lines).toEqual([]);
    const loud = open('debug');
    loud.log.attempt(attempt);
    expect(JSON.parse(loud.lines[0] ?? '')).toMatchObject(attempt);
  });

  it.for<[string, unknown]>([
    ['a message', new Error(`refused: Authorization: Bearer ${KEY}`)],
    ['a cause', new Error('refused', { cause: new Error(`bearer ${KEY}`) })],
    ['headers', Object.assign(new Error('refused'), { headers: { authorization: KEY } })],
    [
      'headers however deep',
      Object.assign(new Error('x'), { a: { b: { c: { Authorization: `Token ${KEY}` } } } }),
    ],
    ['headers in a list', Object.assign(new Error('x'), { rawHeaders: ['authorization', `Bearer ${KEY}`] })],
    ['many values', Object.assign(new Error('x'), { headers: { authorization: [`Basic ${KEY}`, KEY] } })],
    ['a value with quotes', Object.assign(new Error('x'), { authorization: `"${KEY}" "${KEY}"` })],
    ['JSON in a text', new Error(JSON.stringify({ authorization: `Bearer ${KEY}` }))],
    ['no error at all', { authorization: KEY }],
  ])('the log has no key: %s', ([, problem]) => {
    const { log, lines } = open('trace');
    log.problem(problem, 'test');
    expect(lines).toHaveLength(1);
    expect(() => JSON.parse(lines[0] ?? '')).not.toThrow();
    expect(lines[0]).toContain('[redacted]');
    expect(lines[0]).not.toContain('0123.456');
  });
});
