/**
 * Tables that are keyed by who asks: the names of a file that stand for a map or a cache, and that are asked by a digest of
 * the caller's key, or by a text that has one in it.
 *
 * A table is a name that is given a `Map`, an `LRUCache` or a keeper of our own, and that a function within the one that
 * declares it looks into, so that it outlives a call. Digests are followed through names, texts, conditions and functions of
 * the file; a function of another file that is handed one is taken to make a text of it. Names hold for all of a file. A
 * digest that goes into another file under another name is lost from sight.
 */
import { childrenOf, FUNCTIONS, isNode, lastNameOf, type Node, nameOf, nodesOf } from './syntax.ts';

/** Keepers that a file may have of another. Their own maps are not counted, but each use of them. */
export const KEEPERS = ['createLru', 'BoundedCache', 'TextCache', 'TransientMap'];
const TABLES = new Set(['Map', 'LRUCache', ...KEEPERS]);
const ASKED = /^(get|set|has|peek|of|add|delete)$/;
/** Names of digests: `account` is one if counters are shared; a flow is one, too, if the key is proven. */
const DIGEST = /^(keyDigest|digest|account|flow|authorization)$/;

/** Key of the table: the digest alone, or a text that has it in it. */
export interface KeyTable {
  readonly name: string;
  readonly by: Made;
}

type Made = 'key' | 'part';

interface Kept {
  readonly name: string;
  /** The function that it was declared in; null for a file's own and for a class's. */
  readonly within: Node | null;
}

export function keyTablesIn(program: Node): KeyTable[] {
  const { kept, calls, functions, values } = walk(program);
  const made = digestsIn(values, functions, calls);
  const tables = new Map<string, Made>();
  for (const { callee, args, path } of calls) {
    if (callee.type !== 'MemberExpression' || !ASKED.test(nameOf(callee.property))) continue;
    const name = lastNameOf(callee.object);
    const by = args[0] === undefined ? null : made(args[0]);
    if (by === null || tables.get(name) === 'key') continue;
    const isOutlived = ({ within }: Kept) => within === null || path.slice(0, -1).includes(within);
    if (kept.some((one) => one.name === name && isOutlived(one))) tables.set(name, by);
  }
  return [...tables].map(([name, by]) => ({ name, by }));
}

interface Call {
  readonly callee: Node;
  readonly args: readonly Node[];
  /** Functions that it stands in, the outermost first. */
  readonly path: readonly Node[];
}

interface Walked {
  readonly kept: readonly Kept[];
  readonly calls: readonly Call[];
  readonly functions: ReadonlyMap<string, Node>;
  /** Names, each with an expression that it is given. */
  readonly values: readonly (readonly [name: string, value: Node])[];
}

function walk(program: Node): Walked {
  const kept: Kept[] = [];
  const calls: Call[] = [];
  const functions = new Map<string, Node>();
  const values: [name: string, value: Node][] = [];

  function note(name: string, value: unknown, path: readonly Node[], isField: boolean): void {
    if (name === '' || !isNode(value)) return;
    if (FUNCTIONS.test(value.type)) functions.set(name, value);
    else values.push([name, value]);
    const isKeeper = path.some((within) => KEEPERS.includes(nameOf(within.id)));
    if (isTable(value) && !isKeeper) kept.push({ name, within: isField ? null : (path.at(-1) ?? null) });
  }

  function visit(node: Node, path: readonly Node[]): void {
    if (node.type === 'FunctionDeclaration') functions.set(nameOf(node.id), node);
    if (node.type === 'VariableDeclarator') note(nameOf(node.id), node.init, path, false);
    if (node.type === 'PropertyDefinition') note(nameOf(node.key), node.value, path, true);
    if (node.type === 'Property') note(nameOf(node.key), node.value, path, true);
    if (node.type === 'MethodDefinition') note(nameOf(node.key), node.value, path, true);
    if (node.type === 'AssignmentExpression') note(lastNameOf(node.left), node.right, path, true);
    if (node.type === 'CallExpression' && isNode(node.callee))
      calls.push({ callee: node.callee, args: nodesOf(node.arguments), path });
    if (node.type === 'ClassDeclaration' && KEEPERS.includes(nameOf(node.id))) return;
    const inner = FUNCTIONS.test(node.type) ? [...path, node] : path;
    for (const child of childrenOf(node)) visit(child, inner);
  }

  visit(program, []);
  return { kept, calls, functions, values };
}

function isTable(value: Node): boolean {
  return /^(New|Call)Expression$/.test(value.type) && TABLES.has(nameOf(value.callee));
}

/** Tells how an expression was made of a digest; null if it wasn't. */
function digestsIn(
  values: Walked['values'],
  functions: Walked['functions'],
  calls: readonly Call[],
): (expression: Node) => Made | null {
  const declared = new Set(values.map(([name]) => name));
  const names = new Map<string, Made>();
  const makers = new Map<string, Made>();

  const madeOfAny = (nodes: readonly unknown[]): Made | null => {
    const all = nodes.map((node) => (isNode(node) ? made(node) : null));
    return all.find((one) => one === 'key') ?? all.find((one) => one !== null) ?? null;
  };

  function made(node: Node): Made | null {
    switch (node.type) {
      case 'Identifier': {
        const name = nameOf(node);
        // A file that makes a digest of something else may call it so.
        const isDigest = DIGEST.test(name) && !(name === 'digest' && declared.has(name));
        return names.get(name) ?? (isDigest ? 'key' : null);
      }
      case 'MemberExpression':
        return DIGEST.test(nameOf(node.property)) ? 'key' : null;
      case 'ConditionalExpression':
        return madeOfAny([node.consequent, node.alternate]);
      case 'LogicalExpression':
        return madeOfAny([node.left, node.right]);
      case 'BinaryExpression':
        return madeOfAny([node.left, node.right]) && 'part';
      case 'TemplateLiteral':
        return madeOfAny(nodesOf(node.expressions)) && 'part';
      case 'CallExpression':
        return isNode(node.callee) && node.callee.type === 'Identifier' ? madeBy(node.callee, node) : null;
      default:
        return null;
    }
  }

  function madeBy(callee: Node, call: Node): Made | null {
    const known = makers.get(nameOf(callee));
    if (known !== undefined) return known;
    return nodesOf(call.arguments).some(isHanded) ? 'part' : null;
  }

  /** A digest, or an object with one. */
  function isHanded(argument: Node): boolean {
    if (argument.type !== 'ObjectExpression') return made(argument) !== null;
    return nodesOf(argument.properties).some(
      ({ key, value }) => DIGEST.test(nameOf(key)) || madeOfAny([value]) !== null,
    );
  }

  const note = (into: Map<string, Made>, name: string, how: Made | null) => {
    if (how !== null && into.get(name) !== 'key') into.set(name, how);
  };
  const known = () => [...names, ...makers].join();
  for (let before: string | null = null; before !== known(); ) {
    before = known();
    for (const [name, value] of values) note(names, name, made(value));
    for (const [name, node] of functions) note(makers, name, madeOfAny(returnsOf(node)));
    for (const { callee, args } of calls) {
      const called = callee.type === 'Identifier' ? functions.get(nameOf(callee)) : undefined;
      for (const [i, parameter] of nodesOf(called?.params).entries())
        if (parameter.type === 'Identifier') note(names, nameOf(parameter), madeOfAny([args[i]]));
    }
  }
  return made;
}

/** Expressions that a function returns, without those of functions within it. */
function returnsOf(node: Node): Node[] {
  if (!isNode(node.body)) return [];
  if (node.body.type !== 'BlockStatement' && node.body.type !== 'FunctionBody') return [node.body];
  const returned: Node[] = [];
  const visit = (inner: Node): void => {
    if (FUNCTIONS.test(inner.type)) return;
    if (inner.type === 'ReturnStatement' && isNode(inner.argument)) returned.push(inner.argument);
    for (const child of childrenOf(inner)) visit(child);
  };
  visit(node.body);
  return returned;
}
