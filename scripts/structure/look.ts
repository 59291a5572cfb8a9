/** Looks at one file, and finds all that `scripts/structure/measure.ts` adds up. */
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'vite';
import { commentsIn } from '../prose.ts';
import { KEEPERS, type KeyTable, keyTablesIn } from './key-tables.ts';
import {
  boundNames,
  childrenOf,
  FUNCTIONS,
  isNode,
  type Node,
  nameOf,
  nodesOf,
  textOf,
  typeNameOf,
} from './syntax.ts';

export interface SourceFile {
  /** Path from the root of the project, with `/`. */
  readonly path: string;
  readonly text: string;
}

export interface Sized {
  readonly name: string;
  readonly lines: number;
}

export interface Import {
  readonly target: string;
  /** Gone once types are stripped, and all that stands in for it. */
  readonly isTypeOnly: boolean;
  /** True for an `import()`, which loads it once somebody needs it. */
  readonly isLazy: boolean;
  /** Names that it takes; null if it takes all. */
  readonly names: readonly string[] | null;
}

export interface Looked {
  readonly path: string;
  readonly lines: number;
  readonly functions: readonly Sized[];
  readonly imports: readonly Import[];
  readonly exports: readonly string[];
  /** Names of interfaces, aliases and classes. */
  readonly types: readonly string[];
  /** Aliases of types of functions that come back later, or may. */
  readonly functionTypes: readonly string[];
  /** Uses of `Pick` and `Omit`. */
  readonly narrowings: number;
  readonly takesDigest: boolean;
  readonly passings: readonly Passing[];
  readonly memos: readonly string[];
  readonly keyTables: readonly KeyTable[];
  readonly comments: readonly string[];
  /**
   * Things that the engine keeps alive until the next full collection, with all that they close over:
   * - Generators that stand in a function: with the first run of each that it makes, the engine makes a
   *   hidden class in the old generation.
   * - Functions that are written as the value that a property of `this` is set to: V8 takes each for a
   *   method, and puts it into the old generation at once (its parser's
   *   CheckAssigningFunctionLiteralToProperty). One that stands in a variable first, or in the field's own
   *   initializer, is as young as its object.
   */
  readonly longLived: readonly string[];
  readonly casts: number;
}

/** A function of a file, or a method that an interface promises, that is handed something with a type first. */
export interface Passing {
  readonly name: string;
  /** Type of its first parameter; `()` if it is written out. */
  readonly takes: string;
  readonly isNext: boolean;
  readonly gives: string;
}

const NAMING: Readonly<Record<string, string>> = {
  VariableDeclarator: 'id',
  Property: 'key',
  MethodDefinition: 'key',
  PropertyDefinition: 'key',
};
const TYPES = /^(TSInterface|TSTypeAlias|Class)Declaration$/;
const TAKING = /^(TSMethodSignature|TSFunctionType|TSDeclareFunction)$/;
const MEMOS = new Set(['WeakMap', 'WeakSet', 'LRUCache', 'once', 'onceEach', ...KEEPERS]);
/** An import of the `once` that waits for an event, which remembers nothing. */
const EVENT_ONCE = /^import [^;]*\bonce\b[^;]* from 'node:events'/m;
const DIGEST = /^(key)?digest$/i;

export function look({ path, text }: SourceFile): Looked {
  const program: unknown = parseSync(path, text).program;
  const functions: Sized[] = [];
  const types: string[] = [];
  const functionTypes: string[] = [];
  const longLived: string[] = [];
  const passings: Passing[] = [];
  const memos: string[] = [];
  let casts = 0;
  let narrowings = 0;
  let takesDigest = false;
  const isOfEvents = EVENT_ONCE.test(text);

  function visit(node: Node, givenName: string, depth: number): void {
    // A name of ours is none that is said of another package's types.
    if (node.type === 'TSModuleDeclaration') return;
    const isFunction = FUNCTIONS.test(node.type);
    if (isFunction) {
      const lines = text.slice(node.start, node.end).split('\n').length;
      const name = `${nameOf(node.id) || givenName || '(anonymous)'} in ${path}`;
      functions.push({ name, lines });
      if (node.generator === true && depth > 0) longLived.push(`generator ${name}`);
    }
    if (isFunction || TAKING.test(node.type)) {
      takesDigest ||= nodesOf(node.params)
        .flatMap(boundNames)
        .some((name) => DIGEST.test(name));
      const name = nameOf(node.id) || nameOf(node.key) || givenName;
      const passing = depth === 0 && name !== '' ? passingOf(node, name) : null;
      if (passing !== null && node.type !== 'TSFunctionType') passings.push(passing);
    }
    if (isSetOnThis(node))
      longLived.push(`function set to ${text.slice(node.left.start, node.left.end)} in ${path}`);
    if (TYPES.test(node.type)) types.push(nameOf(node.id));
    if (node.type === 'TSTypeAliasDeclaration' && isAsync(node.typeAnnotation))
      functionTypes.push(nameOf(node.id));
    if (node.type === 'TSTypeReference' && /^(Pick|Omit)$/.test(nameOf(node.typeName))) narrowings += 1;
    if (/^(TSInterfaceHeritage|TSClassImplements)$/.test(node.type))
      if (/^(Pick|Omit)$/.test(nameOf(node.expression))) narrowings += 1;
    if (node.type === 'TSNonNullExpression') casts += 1;
    if (node.type === 'TSAsExpression' && !isConst(node.typeAnnotation)) casts += 1;
    if (/^(New|Call)Expression$/.test(node.type) && MEMOS.has(nameOf(node.callee)))
      if (nameOf(node.callee) !== 'once' || !isOfEvents) memos.push(`${nameOf(node.callee)} in ${path}`);
    if (depth === 0 && node.type === 'VariableDeclarator' && isFilledMap(node))
      memos.push(`${nameOf(node.id)} in ${path}`);
    const naming = NAMING[node.type];
    const name = naming === undefined ? '' : nameOf(node[naming]);
    for (const child of childrenOf(node)) visit(child, name, isFunction ? depth + 1 : depth);
  }

  const root = isNode(program) ? program : null;
  if (root !== null) visit(root, '', 0);
  const imports = root === null ? [] : importsIn(root, path);
  return {
    path,
    lines: text.split('\n').length - 1,
    functions,
    imports,
    exports: root === null ? [] : exportsIn(root),
    types,
    functionTypes,
    narrowings,
    takesDigest,
    passings,
    memos,
    keyTables: root === null ? [] : keyTablesIn(root),
    comments: commentsIn(path, text),
    longLived,
    casts,
  };
}

function passingOf(node: Node, name: string): Passing | null {
  const [first] = nodesOf(node.params);
  if (first === undefined) return null;
  const isWrittenOut = isNode(first.typeAnnotation) && typeOfAnnotated(first)?.type === 'TSFunctionType';
  const takes = isWrittenOut ? '()' : typeNameOf(first);
  if (takes === '') return null;
  const gives = isVoid(node.returnType) ? 'void' : typeNameOf(node.returnType);
  return { name, takes, isNext: nameOf(first) === 'next', gives };
}

function isVoid(annotation: unknown): boolean {
  return (
    isNode(annotation) &&
    isNode(annotation.typeAnnotation) &&
    annotation.typeAnnotation.type === 'TSVoidKeyword'
  );
}

function typeOfAnnotated({ typeAnnotation }: Node): Node | null {
  return isNode(typeAnnotation) && isNode(typeAnnotation.typeAnnotation)
    ? typeAnnotation.typeAnnotation
    : null;
}

function isAsync(type: unknown): boolean {
  if (!isNode(type) || type.type !== 'TSFunctionType') return false;
  return /^Promise(OrValue)?$/.test(typeNameOf(type.returnType));
}

/** A map of a file that begins empty, and by its name is no constant. */
function isFilledMap({ id, init }: Node): boolean {
  if (!isNode(init) || init.type !== 'NewExpression' || nameOf(init.callee) !== 'Map') return false;
  return nodesOf(init.arguments).length === 0 && !/^[A-Z0-9_]+$/.test(nameOf(id));
}

function isSetOnThis(node: Node): node is Node & { readonly left: Node } {
  const { left, right } = node;
  if (node.type !== 'AssignmentExpression' || !isNode(left) || !isNode(right)) return false;
  return isNode(left.object) && left.object.type === 'ThisExpression' && FUNCTIONS.test(right.type);
}

function isConst(type: unknown): boolean {
  return isNode(type) && nameOf(type.typeName) === 'const';
}

/** Names that others can import. */
function exportsIn(program: Node): string[] {
  return nodesOf(program.body).flatMap((node) => {
    if (node.type === 'ExportDefaultDeclaration') return ['default'];
    if (node.type !== 'ExportNamedDeclaration') return [];
    const { declaration } = node;
    if (!isNode(declaration)) return nodesOf(node.specifiers).map(({ exported }) => nameOf(exported));
    if (declaration.type !== 'VariableDeclaration') return [nameOf(declaration.id)];
    return nodesOf(declaration.declarations).flatMap(({ id }) => (isNode(id) ? boundNames(id) : []));
  });
}

/** Imports of the project's own files. */
function importsIn(program: Node, path: string): Import[] {
  const imports: Import[] = [];
  const note = (source: unknown, rest: Omit<Import, 'target'>): void => {
    const from = textOf(source);
    if (from?.startsWith('.')) imports.push({ target: normalize(join(dirname(path), from)), ...rest });
  };

  function visit(node: Node, taken: Node | null): void {
    if (/^(Import|ExportNamed|ExportAll)Declaration$/.test(node.type)) {
      const isTypeOnly = node.importKind === 'type' || node.exportKind === 'type';
      note(node.source, { isTypeOnly, isLazy: false, names: namesTaken(node) });
    }
    if (node.type === 'TSImportType')
      note(isNode(node.source) ? node.source : node.argument, {
        isTypeOnly: true,
        isLazy: false,
        names: isNode(node.qualifier) ? [nameOf(node.qualifier)] : null,
      });
    if (node.type === 'ImportExpression')
      note(node.source, { isTypeOnly: false, isLazy: true, names: taken === null ? null : keysOf(taken) });
    const pattern = node.type === 'VariableDeclarator' && isNode(node.id) ? node.id : null;
    const stays = node.type === 'AwaitExpression' ? taken : null;
    for (const child of childrenOf(node)) visit(child, pattern ?? stays);
  }

  visit(program, null);
  return imports;
}

function namesTaken(node: Node): string[] | null {
  if (node.type === 'ExportAllDeclaration') return null;
  const names: string[] = [];
  for (const specifier of nodesOf(node.specifiers)) {
    if (specifier.type === 'ImportNamespaceSpecifier') return null;
    if (specifier.type === 'ImportDefaultSpecifier') names.push('default');
    else names.push(nameOf(node.type === 'ImportDeclaration' ? specifier.imported : specifier.local));
  }
  return names;
}

function keysOf(pattern: Node): string[] | null {
  if (pattern.type !== 'ObjectPattern') return null;
  return nodesOf(pattern.properties).map(({ key }) => nameOf(key));
}
