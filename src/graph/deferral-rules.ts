import {
  type DirectiveNode,
  GraphQLError,
  getNullableType,
  isListType,
  Kind,
  type ValidationRule,
} from 'graphql';

const isDeferral = ({ name }: DirectiveNode) => name.value === 'defer' || name.value === 'stream';

/** Checks labels. They tell parts of an answer apart: each is a text of its own, known before anything runs. */
const deferralLabelRule: ValidationRule = (context) => {
  const known = new Map<string, DirectiveNode>();
  return {
    Directive(node) {
      if (!isDeferral(node)) return;
      const label = node.arguments?.find(({ name }) => name.value === 'label')?.value;
      if (label === undefined || label.kind === Kind.NULL) return;
      if (label.kind !== Kind.STRING) {
        const message = `The label of @${node.name.value} has to be a text in the document, and no variable.`;
        context.reportError(new GraphQLError(message, { nodes: node }));
        return;
      }
      const other = known.get(label.value);
      known.set(label.value, node);
      if (other === undefined) return;
      const message = `Two directives have the label "${label.value}". Give each a label of its own, or none.`;
      context.reportError(new GraphQLError(message, { nodes: [other, node] }));
    },
  };
};

const streamOfListRule: ValidationRule = (context) => ({
  Directive(node) {
    if (node.name.value !== 'stream') return;
    const field = context.getFieldDef();
    const parent = context.getParentType();
    if (field == null || parent == null || isListType(getNullableType(field.type))) return;
    const message = `@stream is for lists, and ${parent.name}.${field.name} is none. Defer it by @defer on a fragment around it.`;
    context.reportError(new GraphQLError(message, { nodes: node }));
  },
});

/** Rules for `@defer` and `@stream`, by the draft of the specification. */
export const deferralRules: readonly ValidationRule[] = [deferralLabelRule, streamOfListRule];
