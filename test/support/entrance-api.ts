import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parseSync } from 'vite';

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  // biome-ignore lint/suspicious/noExplicitAny: the tree's fields differ by type
  readonly [field: string]: any;
}

interface Declared {
  /** Without comments. */
  readonly text: string;
  readonly comment: string;
  /** Names that the text uses, and where each is from: a file, and a name there. */
  readonly uses: readonly Named[];
}

interface Named {
  readonly file: string;
  readonly name: string;
}

export interface EntranceApi {
  /** Exported names without a docstring. */
  readonly undocumented: readonly string[];
  readonly names: readonly string[];
  /** Declarations of the names, then of all types of ours that those lead to. */
  readonly text: string;
}

const ENTRANCE = 'plugin/index.d.ts';

/** The declarations that a compiler writes for the entrance of plugins, as far as its names lead. */
export async function entranceApi(): Promise<EntranceApi> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'country-graph-entrance-'));
  const out = join(folder.path, 'lib');
  const compilerOptions = { outDir: out, rootDir: resolve('src'), emitDeclarationOnly: true };
  const types = { typeRoots: [resolve('node_modules/@types')] };
  const project = join(folder.path, 'tsconfig.json');
  await writeFile(
    project,
    JSON.stringify({
      extends: resolve('tsconfig.build.json'),
      compilerOptions: { ...compilerOptions, ...types },
      include: [],
      files: [resolve('src/plugin/index.ts')],
    }),
  );
  await promisify(execFile)('tsc', ['-p', project], { env: process.env });
  return await reportOf(out);
}

async function reportOf(out: string): Promise<EntranceApi> {
  const files = new Map<string, ReturnType<typeof readDeclarations>>();
  const fileOf = (file: string) => {
    const read = files.get(file) ?? readDeclarations(file);
    files.set(file, read);
    return read;
  };
  /** Follows re-exports to the declaration. */
  async function find({ file, name }: Named): Promise<(Declared & Named) | null> {
    const { declared, passedOn } = await fileOf(file);
    const here = declared.get(name);
    if (here !== undefined) return { ...here, file, name };
    const from = passedOn.get(name);
    return from === undefined ? null : find(from);
  }

  const entrance = join(out, ENTRANCE);
  const { declared, passedOn } = await fileOf(entrance);
  const names = [...declared.keys(), ...passedOn.keys()].toSorted();
  const own = await Promise.all(names.map((name) => find({ file: entrance, name })));
  const shown = own.map((one, i) => {
    if (one === null) throw new Error(`The entrance has no declaration of ${names[i]}.`);
    return one;
  });
  const seen = new Set(shown.map(({ file, name }) => `${file} ${name}`));
  const reached: (Declared & Named)[] = [];
  const open = shown.flatMap(({ uses }) => uses);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const found = await find(next);
    if (found === null || seen.has(`${found.file} ${found.name}`)) continue;
    seen.add(`${found.file} ${found.name}`);
    reached.push(found);
    open.push(...found.uses);
  }
  const place = ({ file }: Named) => relative(out, file).replace('.d.ts', '');
  const sections = reached
    .map((one) => ({ at: `${place(one)} ${one.name}`, text: `// ${place(one)}\n${one.text}` }))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1));
  return {
    names,
    undocumented: shown.filter(({ comment }) => comment === '').map(({ name }) => name),
    text: [
      `// The ${names.length} names of country-graph/plugin.`,
      ...shown.map(({ text }) => text),
      `// The ${sections.length} types that they lead to.`,
      ...sections.map(({ text }) => text),
    ].join('\n\n'),
  };
}

async function readDeclarations(file: string) {
  const text = await readFile(file, 'utf8');
  const { program, comments } = parseSync(file, text);
  /** Declared here, by name. */
  const declared = new Map<string, Declared>();
  /** Imported or passed on, by the name here. */
  const passedOn = new Map<string, Named>();
  const fileAt = (specifier: string) => resolve(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts'));

  for (const node of program.body as unknown as readonly Node[]) {
    const specifier: string | undefined = node.source?.value;
    for (const { local, imported, exported } of node.specifiers ?? []) {
      const name = (imported ?? local).name ?? '';
      if (specifier?.startsWith('.'))
        passedOn.set((exported ?? local).name, { file: fileAt(specifier), name });
    }
  }
  for (const node of program.body as unknown as readonly Node[]) {
    const declaration: Node = node.declaration ?? node;
    const names: readonly string[] = declaration.declarations
      ? declaration.declarations.map(({ id }: Node) => id.name)
      : [declaration.id?.name];
    for (const name of names) if (name !== undefined) declared.set(name, declaredBy(node, name));
  }

  function declaredBy(node: Node, name: string): Declared {
    const inside = comments.filter(({ start, end }) => start >= node.start && end <= node.end);
    let bare = text.slice(node.start, node.end);
    for (const { start, end } of inside.toReversed())
      bare = bare.slice(0, start - node.start) + bare.slice(end - node.start);
    const before = comments.findLast(({ end }) => end <= node.start);
    const isOwn = before !== undefined && text.slice(before.end, node.start).trim() === '';
    const uses: Named[] = [];
    for (const [word] of bare.matchAll(/\b[A-Za-z_$]\w*\b/g))
      if (word !== name) uses.push({ file, name: word });
    for (const [, specifier = '', word = ''] of bare.matchAll(/import\("(\.[^"]+)"\)\.(\w+)/g))
      uses.push({ file: fileAt(specifier), name: word });
    // Overloads are one declaration.
    const former = declared.get(name);
    const words = bare.replaceAll(/^\s*\n/gm, '');
    return {
      text: former === undefined ? words : `${former.text}\n${words}`,
      comment: isOwn ? before.value : (former?.comment ?? ''),
      uses: [...(former?.uses ?? []), ...uses],
    };
  }

  return { declared, passedOn };
}
