import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import type { Types } from '@graphql-codegen/plugin-helpers';
import { Kind, parse, type TypeNode } from 'graphql';

/** All of it, with the additions of settings. */
const SDL = 'schema/**/*.graphql';

/** A path as the file of the schema's types imports it. */
const fromGenerated = (file: string) => {
  const path = posix.relative('src/graphql/schema', file);
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
 * Objects that our resolvers hand on for each type: that of its name in `sources.ts`, else the record of its
 * name. A resolver makes all others as the schema has them.
 */
function mappers(): Record<string, string> {
  const sdl = globSync(SDL)
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const found: Record<string, string> = {};
  const files = [
    'src/graphql/schema/context.ts',
    'src/keys/ledger.ts',
    'src/plugins/subscriptions/inbox.ts',
    ...globSync('src/{service/records,plugins/extra-routes}/*.ts').sort(),
  ];
  for (const file of files) {
    for (const [, name = '', kind = ''] of readFileSync(file, 'utf8').matchAll(
      /^export (?:interface|type) (\w+)(Ref|Record)\b/gm,
    )) {
      const path = fromGenerated(file);
      if (new RegExp(`^type ${name}\\b`, 'm').test(sdl)) found[name] ??= `${path}#${name}${kind}`;
    }
  }
  for (const [, name = ''] of sdl.matchAll(/^type (\w+)Connection\b/gm)) {
    const row = found[name]?.split('#')[1];
    if (row !== undefined) found[`${name}Connection`] = `./context.ts#Page<${row}>`;
  }
  return found;
}

/** Lists the resolvers of every file of a folder, so that none is forgotten and all are checked by their types. */
function resolverList(): string {
  const domains = 'src/graphql/resolvers/!(generated).ts';
  const resolvers = exportsLike(/(?:resolvers|\w+Resolvers)/, domains);
  const batches = exportsLike(/batches/, domains);
  const extras = filesWith('resolvers', 'src/plugins/extra-routes/*.ts');
  const files = [...new Set(resolvers.map(({ file }) => file))];
  const from = (found: readonly { readonly file: string; readonly name: string }[]) =>
    found.map(({ file, name }) => `${nounOf(file)}.${name}`).join(', ');
  return `// Written by \`npm run codegen\`.
import type { Unprovided } from '../schema/schema.ts';
${imports(files)}

/** The resolvers of every domain. */
export const resolvers = [${from(resolvers)}];

/** Fields that are resolved for many parents at once, by type. */
export const batches = [${from(batches)}];

/** Resolvers of \`schema/extra\`, which are loaded if a setting asks for them. */
export const extras = {
${extras.map((file) => `  ${nounOf(file)}: () => import('../../plugins/extra-routes/${file.split('/').at(-1)}'),\n`).join('')}};

type Extra = Awaited<ReturnType<(typeof extras)[keyof typeof extras]>>['resolvers'];

/** Fields of the schema that none of them provides: there may be none. */
export const unprovided: Record<Unprovided<(typeof resolvers | typeof batches)[number] | Extra>, never> = {};
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
  const extra = read('schema/extra/*.graphql').filter(({ kind }) => kind === Kind.OBJECT_TYPE_DEFINITION);
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

/** Types that a gateway has only if a setting asks for them. */
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

/**
 * Resolver types, from the SDL in `schema/` and from the objects that our resolvers hand on; and the lists of
 * files.
 */
const config: Types.Config = {
  schema: SDL,
  generates: {
    'src/graphql/schema/generated.ts': {
      plugins: ['typescript', 'typescript-resolvers'],
      config: {
        federation: true,
        contextType: './context.ts#GraphContext',
        enumsAsTypes: true,
        useTypeImports: true,
        emitLegacyCommonJSImports: false,
        importExtension: '.ts',
        immutableTypes: true,
        useIndexSignature: false,
        makeResolverTypeCallable: true,
        avoidOptionals: { field: true },
        scalars: { CountryCode: 'string', DateTime: 'string', JSON: 'unknown' },
        mappers: mappers(),
      },
    },
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
