import { boundedName, type JsonObject, messageOf, type PluginServices } from '../../plugin/index.ts';
import { PAGE_SCHEMA } from './tool-answer.ts';

type Described = ReturnType<PluginServices['documents']['described']>[number];

export interface OperationTool {
  /** Name of the operation, with a suffix if it isn't unique or longer than clients take. */
  readonly name: string;
  readonly description: string;
  readonly documentId: string;
  readonly operationName: string;
  readonly inputSchema: JsonObject & Pick<Described['variables'], 'type' | 'properties' | 'required'>;
  /** Name of the argument that gives the rest of a long answer, which no variable has. */
  readonly pageName: string;
  readonly sample: Readonly<Record<string, unknown>>;
}

const EMPTY =
  'TRUSTED_DOCUMENTS: MCP=on makes a tool of each query that has a name and a description, and there is none. Describe a query by a text before it, or by a comment.';

/** Characters of the names of arguments that models' interfaces take. */
const MAX_ARGUMENT = 64;

/**
 * Makes a tool of each query with a name and a description (or a comment before it).
 * @param isOwn true for the names of the gateway's own tools
 * @throws Error of the settings if there is none, or a document is not valid
 */
export function operationTools(
  { documents, settingsError }: Pick<PluginServices, 'documents' | 'settingsError'>,
  trusted: readonly { readonly id: string; readonly text: string }[],
  isOwn: (name: string) => boolean,
): ReadonlyMap<string, OperationTool> {
  const errors: string[] = [];
  const tools = new Map<string, OperationTool>();
  const isTaken = (name: string) => tools.has(name) || isOwn(name);
  const operationsOf = (id: string, text: string) => {
    try {
      return documents.described(text);
    } catch (error) {
      errors.push(`${id}: ${messageOf(error)}`);
      return [];
    }
  };
  for (const { id, text } of trusted) {
    for (const operation of operationsOf(id, text)) {
      const tool = toolOf(operation, id);
      if (tool === null) continue;
      const name = boundedName(tool.name, id, isTaken);
      for (const argument of Object.keys(tool.inputSchema.properties))
        if (argument.length > MAX_ARGUMENT)
          errors.push(
            `${id}: ${tool.name} has the variable ${argument}; tools take ${MAX_ARGUMENT} characters.`,
          );
      if (tools.has(name)) errors.push(`${id}: another operation is called ${name}, too.`);
      tools.set(name, { ...tool, name });
    }
  }
  if (errors.length > 0) {
    const lines = errors.map((error) => `  ${error}`).join('\n');
    throw settingsError(`TRUSTED_DOCUMENTS: these can't be made tools, as MCP=on asks for:\n${lines}`);
  }
  if (tools.size === 0) throw settingsError(EMPTY);
  return tools;
}

function toolOf(
  { kind, name, description, variables, sample }: Described,
  documentId: string,
): OperationTool | null {
  if (kind !== 'query' || name === undefined || description === '') return null;
  const pageName = 'page' in variables.properties ? 'answer_page' : 'page';
  return {
    name,
    description,
    documentId,
    operationName: name,
    inputSchema: { ...variables, properties: { ...variables.properties, [pageName]: PAGE_SCHEMA } },
    pageName,
    sample,
  };
}
