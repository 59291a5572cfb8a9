/**
 * `npm run codegen`: writes the files that `codegen.ts` names, by GraphQL Code Generator's own core and
 * plugins. Its command line would do the same with the same file, but for the helpers of the kernel that plugins import here
 * in place of their own, and is two hundred packages. With `--check` nothing is written, and files that are not up to date are named with exit code 1.
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

const PLUGINS: Readonly<Record<string, () => Promise<CodegenPlugin>>> = {
  add: () => import('@graphql-codegen/add'),
  typescript: () => import('@graphql-codegen/typescript'),
  'typescript-resolvers': () => import('@graphql-codegen/typescript-resolvers'),
};

/**
 * Members of a configuration that this script knows: another one would be passed over, and means something to
 * the command line.
 */
const KNOWN = new Set(['schema', 'generates', 'plugins', 'config']);

function refuseUnknown(part: object, where: string): void {
  const unknown = Object.keys(part).filter((key) => !KNOWN.has(key));
  if (unknown.length > 0)
    throw new Error(`codegen.ts, ${where}: scripts/codegen.ts has no ${unknown.join(', ')}.`);
}

function readSchema(pattern: string): GraphQLSchema {
  const files = globSync(pattern).sort();
  if (files.length === 0) throw new Error(`codegen.ts: there is no file ${pattern}.`);
  const document = concatAST(files.map((file) => parse(readFileSync(file, 'utf8'), { noLocation: true })));
  return schemaOf(document);
}

/** Federation's directives are declared by the plugins. */
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

/** Types of a generated file by their names, each with its comment. */
function typesIn(text: string): { readonly name: string; readonly text: string; readonly body: string }[] {
  const types = text.matchAll(
    /^(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?(export (?:type|interface) (\w+)(?:(?!^export |^\/\*\*)[\s\S])*)/gm,
  );
  return Array.from(types, ([whole, body = '', name = '']) => ({ name, text: whole, body: body.trim() }));
}

/** Has a plugin's file import the types that the kernel's has just so. */
function withoutRepeated(text: string, filename: string, kernel: string): string {
  const kernels = new Map(typesIn(kernel).map(({ name, body }) => [name, body]));
  // The kernel has some scalars more.
  const isRepeated = ({ name, body }: ReturnType<typeof typesIn>[number]) =>
    name === 'Scalars' || kernels.get(name) === body;
  const repeated = typesIn(text).filter(isRepeated);
  const rest = repeated
    .reduce((left, { text: one }) => left.replace(one, ''), text)
    .replace(/\n{3,}/g, '\n\n');
  const used = repeated.map(({ name }) => name).filter((name) => new RegExp(`\\b${name}\\b`).test(rest));
  const from = relative(dirname(filename), KERNEL_TYPES);
  return `import type { ${used.sort().join(', ')} } from '${from}';\n${rest}`;
}

async function main(): Promise<void> {
  const isCheck = process.argv.includes('--check');
  const { schema: pattern, generates } = config;
  refuseUnknown(config, 'at its top');
  if (typeof pattern !== 'string') throw new Error('codegen.ts: `schema` is one pattern of files.');
  const schema = readSchema(pattern);
  const stale: string[] = [];
  for (const [filename, given] of Object.entries(generates)) {
    const output = normalizeOutputParam(given);
    if (!('plugins' in output)) throw new Error(`codegen.ts, ${filename}: it has no plugins.`);
    const own = output.schema;
    if (own !== undefined && typeof own !== 'string')
      throw new Error(`codegen.ts, ${filename}: its schema is one text.`);
    const generated = await write(filename, output, own === undefined ? schema : schemaOf(parse(own)));
    const isOfPlugin = filename.startsWith('src/plugins/');
    const text = isOfPlugin ? withoutRepeated(generated, filename, readText(KERNEL_TYPES)) : generated;
    if (readText(filename) === text) continue;
    stale.push(filename);
    if (!isCheck) writeFileSync(filename, text);
  }
  for (const filename of stale)
    console.error(isCheck ? `Not up to date: ${filename}` : `Written: ${filename}`);
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
