import { GraphQLError, type ValidationRule } from 'graphql';

/**
 * `_service` tells routers the SDL, which is all of the schema: where that is not to be looked at, Apollo Server's own rule
 * refuses `__schema` and `__type` alone.
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

/** What Apollo Server does to errors of validation alone: those of variables would name values of enums. */
export function withoutSuggestion(message: string): string {
  return message.startsWith('Variable "$') ? message.replace(/ ?Did you mean (.+?)\?$/, '') : message;
}
