/**
 * `node --expose-gc bench/footprint.ts`: the memory of cached operations with their compiled code, and the estimate of
 * `src/graphql/request/operation-size.ts`. Ends with exit code 1 if the estimate is lower than the measurement.
 */
import { readFileSync } from 'node:fs';
import { getOperationAST, parse } from 'graphql';
import { compiled } from '../src/graphql/execution/object-builders.ts';
import type { ObjectPlan, Shape } from '../src/graphql/execution/plan.ts';
import { footprintOf } from '../src/graphql/request/operation-size.ts';
import type { Prepared } from '../src/graphql/request/prepared-operation.ts';
import { PreparedOperations } from '../src/graphql/request/prepared-operations.ts';
import { batches, resolvers } from '../src/graphql/resolvers/generated.ts';
import { entities } from '../src/graphql/resolvers/nodes.ts';
import { createSchema } from '../src/graphql/schema/schema.ts';
import { table } from './race/table.ts';

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

const below = (levels: number): string =>
  levels === 0
    ? 'code'
    : ['profile', 'signals', 'offices', 'tickers']
        .map((field) => `${field}{country{${below(levels - 1)}}}`)
        .join(' ');
const aliases = readFileSync('bench/operations/aliases.graphql', 'utf8');

/** Kinds of operations: name, number, and the text of one. */
const KINDS: readonly [string, number, (i: number) => string][] = [
  ['tiny', 3000, (i) => `query q${i}{quota{plan}}`],
  ['ordinary', 300, (i) => `${aliases}#${i}`],
  [
    '400 operations',
    60,
    (i) => `query q${i}{quota{plan}} ${times(400, (n) => `query x${n}{quota{plan}}`).join('')}`,
  ],
  [
    'long lists',
    30,
    (i) =>
      `query q${i}{${times(7, (n) => `a${n}:observations(metricKeys:[${'"" '.repeat(900)}]){year}`).join(' ')}}`,
  ],
  [
    'deep',
    500,
    (i) => `query q${i}{country(code:"KE"){${'profile{country{'.repeat(5)}code${'}}'.repeat(5)}}}`,
  ],
  ['wide', 30, (i) => `query q${i}{country(code:"KE"){${below(4)}}}`],
  [
    'fragments',
    30,
    (i) =>
      `query q${i}{country(code:"KE"){...f0}} ${times(4, (n) => `fragment f${n} on Country{profile{country{...f${n + 1}}} signals{country{...f${n + 1}}} offices{country{...f${n + 1}}}}`).join('')} fragment f4 on Country{code}`,
  ],
  ['blanks', 300, (i) => `query q${i}{quota{plan}}${' '.repeat(20_000)}`],
];

const schema = createSchema({ resolvers, entities, batches });

function prepared(text: string, name: string): { readonly prepared: Prepared; readonly bytes: number } {
  const document = parse(text);
  const operation = getOperationAST(document, name) ?? getOperationAST(document);
  if (!operation) throw new Error(`No operation in ${text}.`);
  const operations = new PreparedOperations(schema);
  const { prepared: made } = operations.prepare({ text, operationName: name, document, operation }, true);
  const ready = made.with({});
  if (ready !== null) compile(ready.plan.root);
  return { prepared: made, bytes: footprintOf(text, made) };
}

/** Generates the code that is otherwise generated once there are objects of each selection. */
function compile(plan: ObjectPlan): void {
  const { fields } = plan;
  const builder = compiled(plan);
  builder.isPlain({});
  builder.build(
    {},
    0,
    times(fields.length, () => ({ valueAt: () => null })),
    () => null,
  );
  for (const { by, shape } of fields) if (by !== 'typename') compileShape(shape);
}

function compileShape(shape: Shape): void {
  if (shape.kind === 'object') compile(shape.plan);
  if (shape.kind === 'list') compileShape(shape.item);
}

function heapBytes(): number {
  for (let i = 0; i < 3; i += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const lines = KINDS.map(([kind, count, textOf]) => {
  prepared(textOf(-1 >>> 0), `q${-1 >>> 0}`);
  const before = heapBytes();
  const retained = times(count, (i) => prepared(textOf(i), `q${i}`));
  const measured = (heapBytes() - before) / count;
  const estimated = retained.reduce((sum, { bytes }) => sum + bytes, 0) / count;
  if (estimated < measured) process.exitCode = 1;
  return [kind, measured.toFixed(0), estimated.toFixed(0), (estimated / measured).toFixed(1)];
});
console.log(table(['operation', 'bytes', 'estimate', 'ratio'], lines));
