/**
 * `npm run structure`: how large the functions and files of the gateway are, whether imports go in circles, which names of
 * types mean two things, which generators and closures the engine keeps alive for longer than what made them, and how many
 * casts each folder has. Ends with exit code 1 where a bound is exceeded. Generated files count for circles alone; `--all`
 * prints more than the largest ten.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'vite';

const MOST = { functionLines: 120, fileLines: 700, circles: 0, namesOfTwo: 0, longLived: 0 };

/** Islands, that have rules of their own. */
const LEFT_OUT = /^src\/(graphiql|sandbox)\//;
const GENERATED = 'src/graph/generated.ts';

interface Sized {
  readonly name: string;
  readonly lines: number;
}

interface Import {
  readonly target: string;
  readonly isTypeOnly: boolean;
}

interface Looked {
  readonly path: string;
  readonly lines: number;
  readonly functions: readonly Sized[];
  readonly imports: readonly Import[];
  readonly types: readonly string[];
  /**
   * What the engine keeps alive until the next full collection, with all that it closes over:
   * - Generators that stand in a function: with the first run of each that it makes, the engine makes a hidden class in the
   *   old generation.
   * - Functions that are written as what a property of `this` is set to: V8 takes each for a method, and puts it into the old
   *   generation at once (its parser's CheckAssigningFunctionLiteralToProperty). One that stands in a variable first, or in
   *   the field's own initializer, is as young as its object.
   */
  readonly longLived: readonly string[];
  readonly casts: number;
}

/** A node of a syntax tree, as far as it is looked at. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function childrenOf(node: Node): Node[] {
  return Object.values(node).flat().filter(isNode);
}

function nameOf(value: unknown): string {
  return isNode(value) && typeof value.name === 'string' ? value.name : '';
}

const FUNCTIONS = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;
const NAMING: Readonly<Record<string, string>> = {
  VariableDeclarator: 'id',
  Property: 'key',
  MethodDefinition: 'key',
  PropertyDefinition: 'key',
};

function look(path: string): Looked {
  const text = readFileSync(path, 'utf8');
  const functions: Sized[] = [];
  const imports: Import[] = [];
  const types: string[] = [];
  const longLived: string[] = [];
  let casts = 0;

  function visit(node: Node, givenName: string, isInFunction: boolean): void {
    // What is said of another package's types is no name of ours.
    if (node.type === 'TSModuleDeclaration') return;
    const isFunction = FUNCTIONS.test(node.type);
    if (isFunction) {
      const lines = text.slice(node.start, node.end).split('\n').length;
      const name = `${nameOf(node.id) || givenName || '(anonymous)'} in ${path}`;
      functions.push({ name, lines });
      if (node.generator === true && isInFunction) longLived.push(`generator ${name}`);
    }
    if (isSetOnThis(node))
      longLived.push(`function set to ${text.slice(node.left.start, node.left.end)} in ${path}`);
    if (/^(TSInterface|TSTypeAlias|Class)Declaration$/.test(node.type)) types.push(nameOf(node.id));
    if (node.type === 'TSNonNullExpression') casts += 1;
    if (node.type === 'TSAsExpression' && !isConst(node.typeAnnotation)) casts += 1;
    if (/^(Import|ExportNamed|ExportAll)Declaration$/.test(node.type)) noteImport(node);
    const naming = NAMING[node.type];
    const name = naming === undefined ? '' : nameOf(node[naming]);
    for (const child of childrenOf(node)) visit(child, name, isInFunction || isFunction);
  }

  function noteImport(node: Node): void {
    if (!isNode(node.source)) return;
    const { value } = node.source;
    if (typeof value !== 'string' || !value.startsWith('.')) return;
    const specifiers = Array.isArray(node.specifiers) ? node.specifiers.filter(isNode) : [];
    const isType = (from: Node) => from.importKind === 'type' || from.exportKind === 'type';
    const isTypeOnly = isType(node) || (specifiers.length > 0 && specifiers.every(isType));
    imports.push({ target: normalize(join(dirname(path), value)), isTypeOnly });
  }

  const program: unknown = parseSync(path, text).program;
  if (isNode(program)) visit(program, '', false);
  return { path, lines: text.split('\n').length - 1, functions, imports, types, longLived, casts };
}

function isSetOnThis(node: Node): node is Node & { readonly left: Node } {
  const { left, right } = node;
  if (node.type !== 'AssignmentExpression' || !isNode(left) || !isNode(right)) return false;
  return isNode(left.object) && left.object.type === 'ThisExpression' && FUNCTIONS.test(right.type);
}

function isConst(type: unknown): boolean {
  return isNode(type) && nameOf(type.typeName) === 'const';
}

/** Sets of files each of which leads to each other one by its imports. */
function circlesIn(files: readonly Looked[], follows: (from: Import) => boolean): string[][] {
  const targets = new Map(
    files.map(({ path, imports }) => [path, imports.filter(follows).map(({ target }) => target)]),
  );
  const reachedFrom = (path: string) => {
    const reached = new Set<string>();
    const open = [...(targets.get(path) ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(...(targets.get(next) ?? []));
    }
    return reached;
  };
  const reached = new Map([...targets.keys()].map((path) => [path, reachedFrom(path)]));
  const circles = new Map<string, string[]>();
  for (const [path, others] of reached) {
    if (!others.has(path)) continue;
    const circle = [...others].filter((other) => reached.get(other)?.has(path)).sort();
    circles.set(circle.join(), circle);
  }
  return [...circles.values()];
}

const paths = globSync('src/**/*.ts').map(normalize).sort();
const files = paths.filter((path) => !LEFT_OUT.test(path)).map(look);
const written = files.filter(({ path }) => path !== GENERATED);
const shown = process.argv.includes('--all') ? Number.POSITIVE_INFINITY : 10;
const bySize = (sized: readonly Sized[]) => sized.toSorted((a, b) => b.lines - a.lines);
const functions = bySize(written.flatMap((file) => file.functions));
const sizes = bySize(written.map(({ path, lines }) => ({ name: path, lines })));
const median = functions[Math.floor(functions.length / 2)]?.lines ?? 0;

console.log(
  `${functions.length} functions in ${written.length} files; the median function has ${median} lines.`,
);
for (const [what, list] of Object.entries({ functions, files: sizes })) {
  console.log(`\nLargest ${what}`);
  for (const { name, lines } of list.slice(0, shown)) console.log(`${String(lines).padStart(5)}  ${name}`);
}

const circles = { 'at run time': ({ isTypeOnly }: Import) => !isTypeOnly, 'of types too': () => true };
let circleCount = 0;
for (const [what, follows] of Object.entries(circles)) {
  const found = circlesIn(files, follows);
  circleCount += found.length;
  console.log(`\nCircles of imports, ${what}: ${found.length}`);
  for (const circle of found) console.log(`       ${circle.join(' ')}`);
}

const filesBy = Map.groupBy(
  written.flatMap(({ path, types }) => types.map((name) => ({ name, path }))),
  ({ name }) => name,
);
const namesOfTwo = [...filesBy].filter(([, places]) => places.length > 1);
console.log(`\nNames of types that mean two things: ${namesOfTwo.length}`);
for (const [name, places] of namesOfTwo)
  console.log(`       ${name}: ${places.map(({ path }) => path).join(' ')}`);

const longLived = written.flatMap((file) => file.longLived);
console.log(`\nGenerators and closures that outlive what made them: ${longLived.length}`);
for (const name of longLived) console.log(`       ${name}`);

const castsBy = new Map<string, number>();
for (const { path, casts } of written) {
  const folder = path.split('/').slice(0, -1).join('/');
  castsBy.set(folder, (castsBy.get(folder) ?? 0) + casts);
}
const castsInAll = [...castsBy.values()].reduce((sum, casts) => sum + casts, 0);
console.log(`\nCasts: ${castsInAll}`);
for (const [folder, casts] of [...castsBy].sort(([, a], [, b]) => b - a))
  if (casts > 0) console.log(`${String(casts).padStart(5)}  ${folder}`);

const tooLarge = [
  ...functions.filter(({ lines }) => lines > MOST.functionLines),
  ...sizes.filter(({ lines }) => lines > MOST.fileLines),
];
const tooMany =
  circleCount > MOST.circles || namesOfTwo.length > MOST.namesOfTwo || longLived.length > MOST.longLived;
if (tooLarge.length > 0 || tooMany) {
  const names = [...tooLarge.map(({ name }) => name), ...namesOfTwo.map(([name]) => name), ...longLived];
  console.error(`\nBeyond the bounds of scripts/structure.ts: ${names.join(', ') || 'circles'}`);
  process.exitCode = 1;
}
