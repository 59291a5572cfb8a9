import { globSync, readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import type { Types } from '@graphql-codegen/plugin-helpers';
import {
  type DefinitionNode,
  isTypeDefinitionNode,
  Kind,
  parse,
  print,
  type TypeDefinitionNode,
  type TypeNode,
  visit,
} from 'graphql';
import { ENTRANCE } from './scripts/structure/layers.ts';

/** The kernel's, and the parts that plugins bring. */
const OF_KERNEL = 'schema/*.graphql';
const OF_PLUGINS = 'src/plugins/*/*.graphql';
const SDL = `{${OF_KERNEL},${OF_PLUGINS}}`;

export const KERNEL_TYPES = 'src/graphql/schema/generated.ts';

/** The parents that resolvers of plugins get. */
const PARENTS = 'src/plugin/graph.ts';

/** Plugins import nothing else of the kernel than the entrance. */
const isOfPlugin = (generated: string) => generated.startsWith('src/plugins/');

/** A path as a generated file imports it. */
const pathFrom = (generated: string, file: string) => {
  const path = posix.relative(dirname(generated), file);
  return path.startsWith('.') ? path : `./${path}`;
};

/** Files of a pattern that have an export of the name. */
function filesWith(name: string, pattern: string): string[] {
  const declared = new RegExp(`^export const ${name}\\b`, 'm');
  return globSync(pattern)
    .filter((file) => declared.test(readFileSync(file, 'utf8')))
    .sort();
}

/**
 * Objects that our resolvers hand on for each type: that of its name in `context.ts`, else the record of its
 * name. A resolver makes all others as the schema has them.
 * @param sdl has the types
 * @param files have the records, besides the kernel's
 */
function mappers(generated: string, sdl: string, files: readonly string[] = []): Record<string, string> {
  const context = 'src/graphql/schema/context.ts';
  const all = [context, 'src/keys/ledger.ts', ...globSync('src/service/records/*.ts').sort(), ...files];
  const found: Record<string, string> = {};
  const isOutside = isOfPlugin(generated);
  if (isOutside)
    for (const [, name = ''] of readFileSync(PARENTS, 'utf8').matchAll(/^export type (\w+)Parent\b/gm))
      if (new RegExp(`^type ${name}\\b`, 'm').test(sdl))
        found[name] = `${pathFrom(generated, ENTRANCE)}#${name}Parent`;
  for (const file of isOutside ? files : all) {
    for (const [, name = '', kind = ''] of readFileSync(file, 'utf8').matchAll(
      /^export (?:interface|type) (\w+)(Ref|Record)\b/gm,
    )) {
      const path = pathFrom(generated, file);
      if (new RegExp(`^type ${name}\\b`, 'm').test(sdl)) found[name] ??= `${path}#${name}${kind}`;
    }
  }
  for (const [, name = ''] of sdl.matchAll(/^type (\w+)Connection\b/gm)) {
    const row = found[name]?.split('#')[1];
    if (row !== undefined) found[`${name}Connection`] = `${pathFrom(generated, context)}#Page<${row}>`;
  }
  return found;
}

const definitionsIn = (pattern: string) =>
  globSync(pattern)
    .sort()
    .flatMap((file) => parse(readFileSync(file, 'utf8')).definitions);

/**
 * The SDL of a plugin as that of a schema of its own: with its extensions as types that have no other fields, and, of the
 * other types that it names, what has to be known of them.
 */
function sdlOfPlugin(folder: string): string {
  const types = new Map(
    [...definitionsIn(OF_KERNEL), ...definitionsIn(OF_PLUGINS)]
      .filter(isTypeDefinitionNode)
      .map((type) => [type.name.value, type] as const),
  );
  const told = new Set<string>();
  const own = definitionsIn(`${folder}/*.graphql`).map((one): DefinitionNode => {
    const isFirst = 'name' in one && one.name !== undefined && !told.has(one.name.value);
    if (isFirst && 'name' in one && one.name !== undefined) told.add(one.name.value);
    return isFirst && one.kind === Kind.OBJECT_TYPE_EXTENSION
      ? { ...one, kind: Kind.OBJECT_TYPE_DEFINITION }
      : one;
  });
  const all = [...own];
  // More come to the list while it is read.
  for (const one of all) {
    visit(one, {
      NamedType({ name }) {
        const type = types.get(name.value);
        if (type === undefined || told.has(name.value)) return;
        told.add(name.value);
        all.push(stubOf(type));
      },
    });
  }
  return all.map(print).join('\n\n');
}

/** A type as far as a record stands for it: no field of it is resolved here. */
function stubOf(type: TypeDefinitionNode): TypeDefinitionNode {
  if (type.kind !== Kind.OBJECT_TYPE_DEFINITION) return type;
  const id = type.fields?.find(({ name }) => name.value === 'id') ?? type.fields?.[0];
  return { ...type, fields: id === undefined ? [] : [id], interfaces: [] };
}

/** The types of resolvers of each plugin that brings a part of the graph. */
function ofPlugins(): Types.Config['generates'] {
  const folders = [...new Set(globSync(OF_PLUGINS).map((file) => dirname(file)))].sort();
  return Object.fromEntries(
    folders.map((folder) => {
      const generated = `${folder}/generated.ts`;
      const sdl = sdlOfPlugin(folder);
      const files = globSync(`${folder}/!(generated).ts`).sort();
      return [generated, { schema: sdl, ...resolverTypes(generated, mappers(generated, sdl, files)) }];
    }),
  );
}

function resolverTypes(generated: string, found: Record<string, string>): Types.ConfiguredOutput {
  return {
    plugins: ['typescript', 'typescript-resolvers'],
    config: {
      federation: generated === KERNEL_TYPES,
      contextType: isOfPlugin(generated)
        ? `${pathFrom(generated, ENTRANCE)}#FieldContext`
        : `${pathFrom(generated, 'src/graphql/schema/context.ts')}#GraphContext`,
      enumsAsTypes: true,
      useTypeImports: true,
      emitLegacyCommonJSImports: false,
      importExtension: '.ts',
      immutableTypes: true,
      useIndexSignature: false,
      makeResolverTypeCallable: true,
      avoidOptionals: { field: true },
      scalars: { CountryCode: 'string', DateTime: 'string', JSON: 'unknown' },
      mappers: found,
    },
  };
}

/** Lists the resolvers of every file of a folder, so that none is forgotten and all are checked by their types. */
function resolverList(): string {
  const domains = 'src/graphql/resolvers/!(generated).ts';
  const resolvers = exportsLike(/(?:resolvers|\w+Resolvers)/, domains);
  const batches = exportsLike(/batches/, domains);
  const files = [...new Set(resolvers.map(({ file }) => file))];
  const from = (found: readonly { readonly file: string; readonly name: string }[]) =>
    found.map(({ file, name }) => `${nounOf(file)}.${name}`).join(', ');
  return `// Written by \`npm run codegen\`.
import type { Unprovided } from '../schema/provided.ts';
${imports(files)}

/** The resolvers of every domain. */
export const resolvers = [${from(resolvers)}];

/** Fields that are resolved for many parents at once, by type. */
export const batches = [${from(batches)}];

/** Fields of the schema that none of them provides: there may be none. */
export const unprovided: Record<Unprovided<(typeof resolvers | typeof batches)[number]>, never> = {};
`;
}

/** Exports of the files of a pattern whose name is like another pattern. */
function exportsLike(name: RegExp, pattern: string): { file: string; name: string }[] {
  const declared = new RegExp(`^export const (${name.source})\\b`, 'gm');
  return globSync(pattern)
    .sort()
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(declared)].map(([, found = '']) => ({ file, name: found })),
    );
}

function routeList(): string {
  const files = filesWith('routes', 'src/sandbox/routes/*.ts');
  return `// Written by \`npm run codegen\`.
import type { Route } from './route.ts';
${imports(files, './routes/')}

/** The routes of the service; all GET. */
export const routes: readonly Route[] = [${files.map((file) => `...${nounOf(file)}.routes`).join(', ')}];
`;
}

const nounOf = (file: string) =>
  (file.split('/').at(-1) ?? '').replace('.ts', '').replace(/-(\w)/g, (_, letter) => letter.toUpperCase());

const imports = (files: readonly string[], folder = './') =>
  files.map((file) => `import * as ${nounOf(file)} from '${folder}${file.split('/').at(-1)}';`).join('\n');

/** Types as caches of clients look at them: those with an `id`, the parts without one, and the fields that have objects. */
function typesOfSchema(): string {
  const read = (files: string) =>
    globSync(files)
      .sort()
      .flatMap((file) => parse(readFileSync(file, 'utf8')).definitions)
      .filter((one) => one.kind === Kind.OBJECT_TYPE_DEFINITION || one.kind === Kind.OBJECT_TYPE_EXTENSION);
  const definitions = read(SDL);
  const declared = definitions.filter(({ kind }) => kind === Kind.OBJECT_TYPE_DEFINITION);
  const extra = read(OF_PLUGINS).filter(({ kind }) => kind === Kind.OBJECT_TYPE_DEFINITION);
  const list = (types: readonly { readonly name: { readonly value: string } }[]) =>
    types
      .filter(({ name }) => !ROOTS.has(name.value))
      .map(({ name }) => `  '${name.value}',\n`)
      .join('');
  const isNode = ({ interfaces = [] }: (typeof declared)[number]) =>
    interfaces.some(({ name }) => name.value === 'Node');
  const objects = new Set(['Node', ...declared.map(({ name }) => name.value)]);
  const fields = declared.map(({ name }) => {
    const own = definitions
      .filter((one) => one.name.value === name.value)
      .flatMap(({ fields = [] }) => fields)
      .map((field) => ({ field: field.name.value, type: typeNameOf(field.type) }))
      .filter(({ type }) => objects.has(type))
      .map(({ field, type }) => `    ${field}: '${type}',\n`);
    return own.length === 0 ? '' : `  ${name.value}: {\n${own.join('')}  },\n`;
  });
  return `// Written by \`npm run codegen\`.

/** Types with an \`id\`. */
export const NODE_TYPES = [
${list(declared.filter(isNode))}] as const;

/** Types without one: parts of the types that they stand in. */
export const PART_TYPES = [
${list(declared.filter((type) => !isNode(type)))}] as const;

/** Types that plugins bring: a gateway may be without them. */
export const EXTRA_TYPES: readonly string[] = [
${list(extra)}];

/** Fields that have objects, or lists of them, and the types of these. */
export const OBJECT_FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
${fields.join('')}};
`;
}

function typeNameOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : typeNameOf(type.type);
}

const ROOTS: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription']);

const kernelSdl = definitionsIn(OF_KERNEL).map(print).join('\n\n');

/**
 * Resolver types, from the SDL in `schema/` and from the objects that our resolvers hand on; and the lists of
 * files.
 */
const config: Types.Config = {
  schema: SDL,
  generates: {
    [KERNEL_TYPES]: {
      schema: kernelSdl,
      ...resolverTypes(KERNEL_TYPES, mappers(KERNEL_TYPES, kernelSdl)),
    },
    ...ofPlugins(),
    'clients/client/src/schema.ts': {
      plugins: [{ add: { content: '// Written by `npm run codegen`.' } }, 'typescript'],
      config: {
        enumsAsConst: true,
        namingConvention: { enumValues: 'keep' },
        useTypeImports: true,
        immutableTypes: true,
        scalars: { CountryCode: 'string', DateTime: 'string', JSON: 'unknown' },
      },
    },
    'clients/client/src/types-of-schema.ts': { plugins: [{ add: { content: typesOfSchema() } }] },
    'src/graphql/resolvers/generated.ts': { plugins: [{ add: { content: resolverList() } }] },
    'src/sandbox/routes.ts': { plugins: [{ add: { content: routeList() } }] },
  },
};

export default config;
