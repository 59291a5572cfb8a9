import { type DirectiveNode, GraphQLError, Kind, type ValidationRule } from 'graphql';

/** Checks labels. They tell parts of an answer apart: each is a text of its own, known before anything runs. */
export const deferralLabelRule: ValidationRule = (context) => {
  const labels = new Map<string, DirectiveNode>();
  return {
    Directive(node) {
      if (node.name.value !== 'defer') return;
      const label = node.arguments?.find(({ name }) => name.value === 'label')?.value;
      if (label === undefined || label.kind === Kind.NULL) return;
      if (label.kind !== Kind.STRING) {
        const message = `The label of @defer has to be a text in the document, and no variable.`;
        context.reportError(new GraphQLError(message, { nodes: node }));
        return;
      }
      const other = labels.get(label.value);
      labels.set(label.value, node);
      if (other === undefined) return;
      const message = `Two directives have the label "${label.value}". Give each a label of its own, or none.`;
      context.reportError(new GraphQLError(message, { nodes: [other, node] }));
    },
  };
};
