/**
 * Measures the source: a pure function of its files. "Core" is `src` without `sandbox` and
 * generated files; the kernel is the core without plugins, their list and commands.
 */
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'vite';
import { ENTRANCE, mayImport, OF_GRAPHIQL } from './layers.ts';
import { pictureOf } from './picture.ts';

export interface SourceFile {
  /** Relative to the project, with `/`. */
  readonly path: string;
  readonly text: string;
}

export interface Sized {
  readonly name: string;
  readonly lines: number;
}

export interface Measured {
  readonly value: number;
  /** The places that it counts. */
  readonly places: readonly string[];
}

export interface Structure {
  /** By their names in `scripts/structure/bounds.json`. */
  readonly measures: Readonly<Record<string, Measured>>;
  /** Largest first. */
  readonly functions: readonly Sized[];
  readonly files: readonly Sized[];
  /** The layers, with the plugins beside them, as text. */
  readonly picture: string;
}

interface Import {
  /** Path of a file of the project, or the name of a package. */
  readonly target: string;
  readonly isTypeOnly: boolean;
  /** True for an `import()`. */
  readonly isLazy: boolean;
}

interface ParsedFile extends Sized {
  readonly functions: readonly Sized[];
  readonly imports: readonly Import[];
  /** Generator functions that are created by each call of the function around them. */
  readonly madeGenerators: readonly string[];
}

/** The part of a syntax tree's node that is used. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const ISLAND = /^src\/sandbox\//;
const GENERATED = /(^|\/)generated\.ts$/;
const PLUGINS = /^src\/plugins(\.ts$|\/)/;
const OUTSIDE_KERNEL = /^src\/(cli|plugins)\/|^src\/plugins\.ts$/;
const LIST = 'src/plugins.ts';
const TAKES_LIST = /^src\/(cli\/|server\/library\.ts$)/;
const FUNCTIONS = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

/** @param given other files than those of the core are ignored */
export function measure(given: readonly SourceFile[]): Structure {
  const everything = given.filter(({ path }) => /^(src|clients\/graphiql)\/.*\.tsx?$/.test(path)).map(parse);
  const all = everything.filter(({ name }) => !ISLAND.test(name) && !OF_GRAPHIQL.test(name));
  const core = all.filter(({ name }) => !GENERATED.test(name));
  const kernel = core.filter(({ name }) => !OUTSIDE_KERNEL.test(name));
  const functions = bySize(core.flatMap((file) => file.functions));
  const loaded = circlesIn(all, ({ isLazy, isTypeOnly }) => !isLazy && !isTypeOnly);
  const any = circlesIn(all, () => true);
  return {
    measures: {
      'core lines': { value: linesOf(core), places: [] },
      'kernel lines': { value: linesOf(kernel), places: [] },
      'lines of the largest function': {
        value: functions[0]?.lines ?? 0,
        places: functions.slice(0, 1).map(({ name }) => name),
      },
      'imports against the layers': listed(
        everything.flatMap(({ name, imports }) =>
          imports
            .filter(({ target }) => !mayImport(name, target))
            .map(({ target }) => `${target} by ${name}`),
        ),
      ),
      /** Includes lazy imports and types. The command line and the library import only the list. */
      'imports of plugins by others': listed(
        all
          .filter(({ name }) => !PLUGINS.test(name))
          .flatMap(({ name, imports }) =>
            imports
              .filter(({ target }) => PLUGINS.test(target) && !(TAKES_LIST.test(name) && target === LIST))
              .map(({ target }) => `${target} by ${name}`),
          ),
      ),
      'imports of one plugin by another': listed(
        core.flatMap(({ name, imports }) =>
          imports
            .filter(
              ({ target }) =>
                folderOf(name) !== '' && folderOf(target) !== '' && folderOf(name) !== folderOf(target),
            )
            .map(({ target }) => `${target} by ${name}`),
        ),
      ),
      /** Those of each other are counted above. */
      'imports of plugins into the kernel but by the entrance': listed(
        core.flatMap(({ name, imports }) =>
          imports
            .filter(
              ({ target }) =>
                folderOf(name) !== '' && /^src\/(?!plugins\/)/.test(target) && target !== ENTRANCE,
            )
            .map(({ target }) => `${target} by ${name}`),
        ),
      ),
      /** Import cycles, as sets of files each of which reaches all the others. Without lazy imports and types. */
      'circles of imports': listed(loaded),
      /** The same with lazy imports and types. Counts files, since one cycle can grow to nearly all of them. */
      'files in circles of any imports': listed(any.flatMap((circle) => circle.split(' '))),
      /**
       * V8 creates a hidden class for each of them, in the old generation, which retains everything that the generator
       * refers to until the next full collection.
       */
      'generator functions made by calls': listed(kernel.flatMap((file) => file.madeGenerators)),
    },
    functions,
    files: bySize(core),
    picture: pictureOf(all),
  };
}

function parse({ path, text }: SourceFile): ParsedFile {
  const functions: Sized[] = [];
  const imports: Import[] = [];
  const madeGenerators: string[] = [];

  function visit(node: Node, givenName: string, isInFunction: boolean): void {
    const isFunction = FUNCTIONS.test(node.type);
    if (isFunction) {
      const name = nameOf(node.id) || givenName || '(anonymous)';
      functions.push({ name: `${name} in ${path}`, lines: countLines(text.slice(node.start, node.end)) });
      if (isInFunction && node.generator === true) madeGenerators.push(`${name} in ${path}`);
    }
    const imported = importIn(node, path);
    if (imported !== null) imports.push(imported);
    const name = nameOf(node.type === 'VariableDeclarator' ? node.id : node.key);
    // A method is created once, with its class.
    const isInside = (isInFunction || isFunction) && node.type !== 'MethodDefinition';
    for (const child of Object.values(node).flat()) if (isNode(child)) visit(child, name, isInside);
  }

  const program: unknown = parseSync(path, text).program;
  if (isNode(program)) visit(program, '', false);
  return { name: path, lines: countLines(text) - 1, functions, imports, madeGenerators };
}

/** The import that a node is, if it is one. */
function importIn(node: Node, path: string): Import | null {
  const isType = node.importKind === 'type' || node.exportKind === 'type' || hasTypesAlone(node);
  const source = isNode(node.source) ? node.source : node.argument;
  if (!/^((Import|ExportNamed|ExportAll)Declaration|ImportExpression|TSImportType)$/.test(node.type))
    return null;
  if (!isNode(source) || typeof source.value !== 'string') return null;
  const { value } = source;
  return {
    target: value.startsWith('.') ? normalize(join(dirname(path), value)) : value,
    isTypeOnly: isType || node.type === 'TSImportType',
    isLazy: node.type === 'ImportExpression',
  };
}

/** True for `import { type A, type B }`. */
function hasTypesAlone({ specifiers }: Node): boolean {
  if (!Array.isArray(specifiers) || specifiers.length === 0) return false;
  return specifiers.every((specifier) => isNode(specifier) && specifier.importKind === 'type');
}

/** The plugin's folder that a file is in; empty for other files. */
function folderOf(name: string): string {
  return /^src\/plugins\/[^/]+\//.exec(name)?.[0] ?? '';
}

/** Sets of files each of which reaches all the others by the given imports. */
function circlesIn(all: readonly ParsedFile[], follows: (from: Import) => boolean): string[] {
  const targets = new Map(
    all.map(({ name, imports }) => [name, imports.filter(follows).map(({ target }) => target)]),
  );
  const reachedFrom = (name: string) => {
    const reached = new Set<string>();
    const open = [...(targets.get(name) ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(...(targets.get(next) ?? []));
    }
    return reached;
  };
  const reached = new Map([...targets.keys()].map((name) => [name, reachedFrom(name)]));
  const circles = [...reached]
    .filter(([name, others]) => others.has(name))
    .map(([name, others]) => [...others].filter((other) => reached.get(other)?.has(name)).sort());
  return [...new Set(circles.map((circle) => circle.join(' ')))];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function nameOf(value: unknown): string {
  return isNode(value) && typeof value.name === 'string' ? value.name : '';
}

function countLines(text: string): number {
  return text.split('\n').length;
}

function linesOf(files: readonly Sized[]): number {
  return files.reduce((sum, { lines }) => sum + lines, 0);
}

function bySize<T extends Sized>(sized: readonly T[]): T[] {
  return sized.toSorted((a, b) => b.lines - a.lines);
}

function listed(places: readonly string[]): Measured {
  return { value: places.length, places };
}
