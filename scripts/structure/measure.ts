/**
 * Measures the house: a pure function of its files. "Core" is `src` without the islands `graphiql` and
 * `sandbox` and without generated files; the kernel is the core without wings and commands. {@link MEASURES}
 * says how each number is counted.
 */
import { dirname } from 'node:path';
import { proseOf } from '../prose.ts';
import type { KeyTable } from './key-tables.ts';
import { type Import, type Looked, look, type Passing, type Sized, type SourceFile } from './look.ts';

export interface Measured {
  readonly value: number;
  /** Places that it counts. */
  readonly places: readonly string[];
}

export interface House {
  /** Measures by their names in `scripts/structure/bounds.json`. */
  readonly measures: Readonly<Record<MeasureName, Measured>>;
  readonly functions: readonly Sized[];
  readonly files: readonly Sized[];
  readonly castsByFolder: ReadonlyMap<string, number>;
}

const ISLANDS = /^src\/(graphiql|sandbox)\//;
const GENERATED = /(^|\/)generated\.ts$/;
const WINGS = 'src/wings/';
const COMMANDS = 'src/cli/';
/** Folders in which a key's digest may be a parameter. */
const OF_TENANTS = /^src\/(tenants|store)\//;
const HELPERS = 'src/async/';
const SLICERS = /^(inSlice|timeSliced|yieldToEventLoop|mayBeginAtOnce|Steps|taken|InGroups)$/;
const PROMISES = /^(PromiseOrValue|mapValue|promiseTry)$/;
/** A file that one other imports has to have this many lines, or be listed. */
const LEAST_LINES = 80;
const ROWS = 3;

interface Seen {
  /** All files of `src`: the core, the islands, and generated files. */
  readonly all: readonly Looked[];
  readonly core: readonly Looked[];
  readonly kernel: readonly Looked[];
  /** A document; empty if there is none. */
  readonly textOf: (path: string) => string;
  /** Small files that may be, with why. */
  readonly small: Readonly<Record<string, string>>;
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
const listed = (places: readonly string[]): Measured => ({ value: places.length, places });
const files = (found: readonly Looked[]): Measured => listed(found.map(({ path }) => path));
const largest = (sized: readonly Sized[]): Measured => {
  const [first] = bySize(sized);
  return { value: first?.lines ?? 0, places: first === undefined ? [] : [first.name] };
};
const rounded = (value: number) => Math.round(value * 100) / 100;
const share = (part: number, whole: number) => rounded((100 * part) / Math.max(1, whole));

const MEASURES = {
  'core files': ({ core }: Seen) => ({ value: core.length, places: [] }),
  /** Files that stand in it, without those of its folders. */
  'files in the largest folder': ({ core }: Seen) => {
    const folders = [...Map.groupBy(core, ({ path }) => dirname(path))];
    return largest(folders.map(([name, inIt]) => ({ name, lines: inIt.length })));
  },
  'core lines': ({ core }: Seen) => ({ value: sum(core.map(({ lines }) => lines)), places: [] }),
  'kernel lines': ({ kernel }: Seen) => ({ value: sum(kernel.map(({ lines }) => lines)), places: [] }),
  /** Names, once for each file that exports them. */
  exports: ({ core }: Seen) => ({ value: sum(core.map(({ exports }) => exports.length)), places: [] }),
  'exports used by one other file alone': (seen: Seen) => listed(exportsUsedBy(seen, 1)),
  'exports used by no other file': (seen: Seen) => listed(exportsUsedBy(seen, 0)),
  'Parts types': ({ core }: Seen) =>
    listed(
      core.flatMap(({ path, types }) =>
        types.filter((name) => /.Parts$/.test(name)).map((name) => `${name} in ${path}`),
      ),
    ),
  'Pick and Omit': ({ core }: Seen) => ({
    value: sum(core.map(({ narrowings }) => narrowings)),
    places: core
      .filter(({ narrowings }) => narrowings > 0)
      .map(({ path, narrowings }) => `${narrowings} in ${path}`),
  }),
  /** Files that take the type, or a helper for possible promises, without those that have them. */
  'files with PromiseOrValue': ({ core }: Seen) => files(core.filter((file) => takesHelper(file, PROMISES))),
  /** Files that cut work into slices or steps: not those that hand their items to `eachInTurns` or `sortedInTurns`. */
  'files that slice themselves': ({ core }: Seen) => files(core.filter((file) => takesHelper(file, SLICERS))),
  /** Tables whose key is a digest of the caller's key: see `scripts/structure/key-tables.ts`. */
  'tables by key': ({ core }: Seen) => listed(tablesIn(core, 'key')),
  /** Tables whose key is a text that has such a digest in it. */
  'tables by key and more': ({ core }: Seen) => listed(tablesIn(core, 'part')),
  /** Weak maps, caches and the keepers of our own as they are made, calls of `once`, and maps of a file that begin empty. */
  'memo sites': ({ core }: Seen) => listed(core.flatMap(({ memos }) => memos)),
  /** Names in the three rows of ARCHITECTURE.md, however they are nested or joined. */
  'stages in the rows': ({ textOf }: Seen) => {
    const rows = rowsIn(textOf('ARCHITECTURE.md'));
    if (rows.length === ROWS) return listed(rows.flat());
    return {
      value: Number.POSITIVE_INFINITY,
      places: ['ARCHITECTURE.md has no rows Handle, Fetch and Send'],
    };
  },
  /**
   * Functions of a file, and methods that an interface promises, that are handed a function which may come back later (by an
   * alias of its type) and give back one; or that are handed one as `next`.
   */
  'functions that wrap the next stage': ({ core }: Seen) => {
    const aliases = new Set(core.flatMap(({ functionTypes }) => functionTypes));
    const wraps = ({ takes, isNext, gives }: Passing) =>
      gives !== 'void' &&
      ((isNext && takes === '()') || (aliases.has(takes) && (isNext || aliases.has(gives))));
    return listed(
      core.flatMap(({ path, passings }) => passings.filter(wraps).map(({ name }) => `${name} in ${path}`)),
    );
  },
  'comments that begin with a relative clause, %': ({ core }: Seen) => {
    const { relative, comments } = proseOf(core.flatMap((file) => file.comments));
    return { value: share(relative.length, comments), places: relative };
  },
  'hedges in 100 words of comments': ({ core }: Seen) => {
    const { hedges, words } = proseOf(core.flatMap((file) => file.comments));
    return { value: share(hedges.length, words), places: [] };
  },
  /** Files that exactly one other imports, not lazily, with fewer lines than {@link LEAST_LINES}, and that nobody has listed. */
  'small files that one other imports': (seen: Seen) => {
    const importers = importersOf(seen.all);
    return listed(
      seen.core
        .filter(
          ({ path, lines }) => lines < LEAST_LINES && !(path in seen.small) && isForOne(importers.get(path)),
        )
        .map(({ path }) => path),
    );
  },
  /** Entries of the list of small files that have no need to stand there. */
  'small files that are listed for nothing': (seen: Seen) => {
    const importers = importersOf(seen.all);
    const found = new Map(seen.core.map((file) => [file.path, file]));
    return listed(
      Object.keys(seen.small).filter((path) => {
        const file = found.get(path);
        return file === undefined || file.lines >= LEAST_LINES || !isForOne(importers.get(path));
      }),
    );
  },
  /** Files outside the tenants and the store that have a parameter called `digest` or `keyDigest`, taken apart or not. */
  'files that take a digest': ({ core }: Seen) =>
    files(core.filter(({ path, takesDigest }) => takesDigest && !OF_TENANTS.test(path))),
  /** Imports of a wing by a file of the kernel, but for types and those that load it once it is needed. */
  'wings that the kernel imports': ({ kernel }: Seen) =>
    listed(
      kernel.flatMap(({ path, imports }) =>
        imports
          .filter(({ target, isTypeOnly, isLazy }) => target.startsWith(WINGS) && !isTypeOnly && !isLazy)
          .map(({ target }) => `${target} by ${path}`),
      ),
    ),
  'lines of the largest file': ({ core }: Seen) => largest(core.map(sizeOf)),
  'lines of the largest function': ({ core }: Seen) => largest(core.flatMap(({ functions }) => functions)),
  /**
   * Sets of files each of which leads to each other one, by the files that they load at once, or with types
   * too.
   */
  'circles of imports': ({ all }: Seen) => {
    const ours = all.filter(({ path }) => !ISLANDS.test(path));
    const ways = [({ isTypeOnly }: Import) => !isTypeOnly, () => true];
    const circles = ways.flatMap((follows) => circlesIn(ours, (from) => !from.isLazy && follows(from)));
    return listed([...new Set(circles.map((circle) => circle.join(' ')))]);
  },
  'names of types that mean two things': ({ core }: Seen) => {
    const named = core.flatMap(({ path, types }) => types.map((name) => ({ name, path })));
    const twice = [...Map.groupBy(named, ({ name }) => name)].filter(([, places]) => places.length > 1);
    return listed(twice.map(([name, places]) => `${name}: ${places.map(({ path }) => path).join(' ')}`));
  },
  'generators and closures that outlive what made them': ({ core }: Seen) =>
    listed(core.flatMap(({ longLived }) => longLived)),
  'bytes of ARCHITECTURE.md': ({ textOf }: Seen) => ({
    value: Buffer.byteLength(textOf('ARCHITECTURE.md')),
    places: [],
  }),
  'bytes of README.md': ({ textOf }: Seen) => ({ value: Buffer.byteLength(textOf('README.md')), places: [] }),
} satisfies Record<string, (seen: Seen) => Measured>;

export type MeasureName = keyof typeof MEASURES;

/** @param given files of `src`, and documents of the root; others are not looked at */
export function measure(given: readonly SourceFile[], small: Readonly<Record<string, string>> = {}): House {
  const all = given.filter(({ path }) => /^src\/.*\.tsx?$/.test(path)).map(look);
  const core = all.filter(({ path }) => !ISLANDS.test(path) && !GENERATED.test(path));
  const kernel = core.filter(({ path }) => !path.startsWith(WINGS) && !path.startsWith(COMMANDS));
  const texts = new Map(given.map(({ path, text }) => [path, text]));
  const seen: Seen = { all, core, kernel, textOf: (path) => texts.get(path) ?? '', small };
  const castsByFolder = new Map<string, number>();
  for (const { path, casts } of core)
    castsByFolder.set(dirname(path), (castsByFolder.get(dirname(path)) ?? 0) + casts);
  return {
    measures: Object.fromEntries(
      Object.entries(MEASURES).map(([name, count]) => [name, count(seen)]),
    ) as unknown as House['measures'],
    functions: bySize(core.flatMap(({ functions }) => functions)),
    files: bySize(core.map(sizeOf)),
    castsByFolder,
  };
}

function tablesIn(core: readonly Looked[], by: KeyTable['by']): string[] {
  return core.flatMap(({ path, keyTables }) =>
    keyTables.filter((table) => table.by === by).map(({ name }) => `${name} in ${path}`),
  );
}

/** Stages of each row, such as `Send  coalesced( retried( http ))  src/…` or `Send  coalesced → retried → http`. */
function rowsIn(architecture: string): string[][] {
  const [, block] = /^```\n(Handle [\s\S]*?)^```/m.exec(architecture) ?? [];
  if (block === undefined) return [];
  return block.split(/^(?=\w)/m).map((row) =>
    row
      .replace(/^\w+/, '')
      .replaceAll(/\bsrc\/[\w./-]+,?|[)\n]/g, ' ')
      .split(/[(→|]/)
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  );
}

function sizeOf({ path, lines }: Looked): Sized {
  return { name: path, lines };
}

function bySize(sized: readonly Sized[]): Sized[] {
  return sized.toSorted((a, b) => b.lines - a.lines);
}

function takesHelper({ path, imports }: Looked, helpers: RegExp): boolean {
  if (path.startsWith(HELPERS)) return false;
  return imports.some(
    ({ target, names }) =>
      target.startsWith(HELPERS) && (names === null || names.some((name) => helpers.test(name))),
  );
}

function importersOf(
  all: readonly Looked[],
): Map<string, { readonly path: string; readonly isLazy: boolean }[]> {
  const importers = new Map<string, { path: string; isLazy: boolean }[]>();
  for (const { path, imports } of all)
    for (const [target, ways] of Map.groupBy(imports, (one) => one.target)) {
      const isLazy = ways.every((one) => one.isLazy || one.isTypeOnly) && ways.some((one) => one.isLazy);
      importers.set(target, [...(importers.get(target) ?? []), { path, isLazy }]);
    }
  return importers;
}

function isForOne(importers: readonly { readonly isLazy: boolean }[] | undefined): boolean {
  return importers?.length === 1 && importers[0]?.isLazy === false;
}

/** Exports of the core that as many other files of `src` use. */
function exportsUsedBy({ all, core }: Seen, count: 0 | 1): string[] {
  const users = new Map<string, Set<string>>();
  const note = (path: string, target: string, name: string) => {
    const key = `${name} of ${target}`;
    users.set(key, (users.get(key) ?? new Set()).add(path));
  };
  const exportsOf = new Map(all.map(({ path, exports }) => [path, exports]));
  for (const { path, imports } of all)
    for (const { target, names } of imports)
      for (const name of names ?? exportsOf.get(target) ?? []) note(path, target, name);
  return core.flatMap(({ path, exports }) =>
    exports.map((name) => `${name} of ${path}`).filter((key) => (users.get(key)?.size ?? 0) === count),
  );
}

/** Sets of files each of which leads to each other one by its imports. */
function circlesIn(all: readonly Looked[], follows: (from: Import) => boolean): string[][] {
  const targets = new Map(
    all.map(({ path, imports }) => [path, imports.filter(follows).map(({ target }) => target)]),
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
