import { globSync } from 'node:fs';
import {
  type DefinitionNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  visit,
} from 'graphql';
import { readText } from '../../shared/text-files.ts';
import { CommandError, graphqlError } from '../formats.ts';

export interface ProjectOperation {
  /** That of the operation; for one without, its file. */
  readonly name: string;
  readonly file: string;
  readonly definition: OperationDefinitionNode;
  /** With the fragments that it spreads, from whichever files. */
  readonly text: string;
}

interface Found<Definition> {
  readonly file: string;
  readonly definition: Definition;
}

const MAX_FILES = 20_000;

const OF_GRAPHQL = /\.(graphql|gql|graphqls)$/;

/**
 * Matches template literals with GraphQL: tagged or called `gql` or `graphql`, or marked by a comment, as editors and
 * GraphQL Code Generator find them.
 */
const EMBEDDED =
  /(?:\b(?:gql|graphql)\s*(?:<[^<>`]*>\s*)?\(?\s*(?:\/\*\s*GraphQL\s*\*\/\s*)?|\/\*\s*GraphQL\s*\*\/\s*)`((?:[^`\\]|\\.)*)`/gs;

/** Fragments of other files, which are found by their names. */
const INTERPOLATED = /\$\{[^{}]*\}/g;

/**
 * Finds the operations in files, sorted by name.
 * @throws CommandError or FileError
 */
export async function operationsIn(patterns: readonly string[]): Promise<readonly ProjectOperation[]> {
  const operations = new Map<string, Found<OperationDefinitionNode>>();
  const fragments = new Map<string, Found<FragmentDefinitionNode>>();
  for (const file of filesOf(patterns)) {
    for (const definition of await definitionsIn(file)) {
      const found = { file, definition };
      if (definition.kind === Kind.FRAGMENT_DEFINITION) add(fragments, definition.name.value, found);
      else if (definition.kind === Kind.OPERATION_DEFINITION)
        add(operations, definition.name?.value ?? file, found);
    }
  }
  return [...operations]
    .map(([name, { file, definition }]) => ({
      name,
      file,
      definition,
      text: withFragments(definition, fragments),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function filesOf(patterns: readonly string[]): readonly string[] {
  const files = globSync([...patterns], { exclude: (name) => /(^|\/)node_modules$/.test(name) });
  if (files.length > MAX_FILES)
    throw new CommandError(`${files.length} files match ${patterns.join(' ')}: name fewer.`);
  return files.map((file) => file.replaceAll('\\', '/')).sort();
}

/** @throws CommandError if another definition has the name */
function add<Definition extends DefinitionNode>(
  all: Map<string, Found<Definition>>,
  name: string,
  found: Found<Definition>,
): void {
  const other = all.get(name);
  if (other !== undefined && print(other.definition) !== print(found.definition)) {
    const both =
      other.file === found.file ? `twice in ${found.file}` : `in ${other.file} and in ${found.file}`;
    throw new CommandError(
      name === found.file
        ? `${found.file} has several operations without a name. Name them: prices are listed by name.`
        : `${name} is defined ${both}, differently. Prices are listed by name: rename one.`,
    );
  }
  all.set(name, other ?? found);
}

async function definitionsIn(file: string): Promise<readonly DefinitionNode[]> {
  const text = await readText(file);
  if (OF_GRAPHQL.test(file)) return parsed(text, file, text, 0);
  return [...text.matchAll(EMBEDDED)].flatMap((match) => {
    const [all, body = ''] = match;
    return parsed(body.replace(INTERPOLATED, ''), file, text, match.index + all.length - 1 - body.length);
  });
}

/** @throws FileError that names the line */
function parsed(graphql: string, file: string, whole: string, offset: number): readonly DefinitionNode[] {
  // What is left is a fragment alone that another file has, or nothing.
  if (graphql.trim() === '') return [];
  try {
    return parse(graphql, { noLocation: true }).definitions;
  } catch (error) {
    throw graphqlError(error, file, whole, whole.slice(0, offset).split('\n').length - 1);
  }
}

function withFragments(
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, Found<FragmentDefinitionNode>>,
): string {
  const definitions = new Set<DefinitionNode>([operation]);
  // A set is walked on to what is added meanwhile.
  for (const definition of definitions) {
    visit(definition, {
      FragmentSpread({ name }) {
        const fragment = fragments.get(name.value);
        if (fragment !== undefined) definitions.add(fragment.definition);
      },
    });
  }
  return [...definitions].map(print).join('\n\n');
}
