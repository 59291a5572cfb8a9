/**
 * `npm run codegen`: writes the files that `codegen.ts` configures, with the core and the plugins of GraphQL Code Generator.
 * Its command line has two hundred packages, and would repeat the kernel's helper types in the file of each plugin, which
 * imports them here. With `--check`, nothing is written; outdated files are listed, with exit code 1.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import {
  type CodegenPlugin,
  getCachedDocumentNodeFromSchema,
  normalizeOutputParam,
  type Types,
} from '@graphql-codegen/plugin-helpers';
import {
  buildASTSchema,
  concatAST,
  type DocumentNode,
  type GraphQLSchema,
  lexicographicSortSchema,
  parse,
} from 'graphql';
import config, { KERNEL_TYPES } from '../codegen.ts';
import { ENTRANCE } from './structure/layers.ts';

const PLUGINS: Readonly<Record<string, () => Promise<CodegenPlugin>>> = {
  add: () => import('@graphql-codegen/add'),
  typescript: () => import('@graphql-codegen/typescript'),
  'typescript-resolvers': () => import('@graphql-codegen/typescript-resolvers'),
};

/** Members of the configuration that this script supports. It would ignore any other one that the command line supports. */
const SUPPORTED = new Set(['schema', 'generates', 'plugins', 'config']);

function refuseUnknown(part: object, where: string): void {
  const unknown = Object.keys(part).filter((key) => !SUPPORTED.has(key));
  if (unknown.length > 0)
    throw new Error(`codegen.ts, ${where}: scripts/codegen.ts doesn't support ${unknown.join(', ')}.`);
}

function readSchema(pattern: string): GraphQLSchema {
  const files = globSync(pattern).sort();
  if (files.length === 0) throw new Error(`codegen.ts: no file matches ${pattern}.`);
  const document = concatAST(files.map((file) => parse(readFileSync(file, 'utf8'), { noLocation: true })));
  return schemaOf(document);
}

/** Not validated: only the plugins declare Federation's directives. */
function schemaOf(document: DocumentNode): GraphQLSchema {
  return lexicographicSortSchema(buildASTSchema(document, { assumeValidSDL: true }));
}

async function write(
  filename: string,
  output: Types.ConfiguredOutput,
  schemaAst: GraphQLSchema,
): Promise<string> {
  refuseUnknown(output, filename);
  const plugins = (output.plugins ?? []).map((plugin) =>
    typeof plugin === 'string' ? { [plugin]: {} } : plugin,
  );
  const pluginMap: Record<string, CodegenPlugin> = {};
  for (const name of plugins.flatMap(Object.keys)) {
    const load = PLUGINS[name];
    if (load === undefined)
      throw new Error(`codegen.ts, ${filename}: scripts/codegen.ts has no plugin ${name}.`);
    pluginMap[name] = await load();
  }
  const schema = getCachedDocumentNodeFromSchema(schemaAst);
  return codegen({
    filename,
    schema,
    schemaAst,
    documents: [],
    config: output.config ?? {},
    plugins,
    pluginMap,
  });
}

/** The types in a generated file, each with its comment. */
function typesIn(text: string): { readonly name: string; readonly text: string; readonly body: string }[] {
  const types = text.matchAll(
    /^(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?(export (?:type|interface) (\w+)(?:(?!^export |^\/\*\*)[\s\S])*)/gm,
  );
  return Array.from(types, ([whole, body = '', name = '']) => ({ name, text: whole, body: body.trim() }));
}

/** Has a plugin's file import the types that are equal in the kernel's file. */
function withoutRepeated(text: string, filename: string, kernel: string): string {
  const kernels = new Map(typesIn(kernel).map(({ name, body }) => [name, body]));
  // `Scalars` differs, but the kernel's has all that a plugin needs.
  const isRepeated = ({ name, body }: ReturnType<typeof typesIn>[number]) =>
    name === 'Scalars' || kernels.get(name) === body;
  const offered = readText(ENTRANCE);
  const repeated = typesIn(text).filter(isRepeated);
  const without = (types: typeof repeated) =>
    types.reduce((left, { text: one }) => left.replace(one, ''), text).replace(/\n{3,}/g, '\n\n');
  const isIn = (name: string, some: string) => new RegExp(`\\b${name}\\b`).test(some);
  // The entrance lacks most of them: those that are used stay, with those that they use.
  let left = repeated;
  let rest = without(left);
  for (let before = left.length + 1; left.length < before; ) {
    before = left.length;
    left = left.filter(({ name }) => isIn(name, offered) || !isIn(name, rest));
    rest = without(left);
  }
  const used = left.map(({ name }) => name).filter((name) => isIn(name, rest));
  const from = relative(dirname(filename), ENTRANCE);
  return `import type { ${used.sort().join(', ')} } from '${from}';\n${rest}`;
}

async function main(): Promise<void> {
  const isCheck = process.argv.includes('--check');
  const { schema: pattern, generates } = config;
  refuseUnknown(config, 'at its top');
  if (typeof pattern !== 'string') throw new Error('codegen.ts: `schema` must be one glob pattern.');
  const schema = readSchema(pattern);
  const stale: string[] = [];
  for (const [filename, given] of Object.entries(generates)) {
    const output = normalizeOutputParam(given);
    if (!('plugins' in output)) throw new Error(`codegen.ts, ${filename}: no plugins.`);
    const sdl = output.schema;
    if (sdl !== undefined && typeof sdl !== 'string')
      throw new Error(`codegen.ts, ${filename}: its schema must be a string.`);
    const generated = await write(filename, output, sdl === undefined ? schema : schemaOf(parse(sdl)));
    const isOfPlugin = filename.startsWith('src/plugins/');
    const text = isOfPlugin ? withoutRepeated(generated, filename, readText(KERNEL_TYPES)) : generated;
    if (readText(filename) === text) continue;
    stale.push(filename);
    if (!isCheck) writeFileSync(filename, text);
  }
  for (const filename of stale) console.error(isCheck ? `Outdated: ${filename}` : `Written: ${filename}`);
  if (isCheck && stale.length > 0) {
    console.error('`npm run codegen` writes them.');
    process.exitCode = 1;
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

await main();
