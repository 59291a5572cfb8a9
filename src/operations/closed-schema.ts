import { GraphQLError, type ValidationRule } from 'graphql';

/**
 * Refuses `_service`, which tells routers the SDL, and so all of the schema. If the schema is closed, Apollo Server's
 * own rule refuses `__schema` and `__type` alone.
 */
export const noSdl: ValidationRule = (context) => ({
  Field(node) {
    if (node.name.value !== '_service' || context.getParentType() !== context.getSchema().getQueryType())
      return;
    context.reportError(
      new GraphQLError('The schema of this gateway is closed, so it does not answer `_service`.', {
        nodes: node,
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
      }),
    );
  },
});

/**
 * Takes suggestions out of errors of variables, which would name values of enums. Apollo Server does so to errors of
 * validation alone.
 */
export function withoutSuggestion(message: string): string {
  return message.startsWith('Variable "$') ? message.replace(/ ?Did you mean (.+?)\?$/, '') : message;
}
