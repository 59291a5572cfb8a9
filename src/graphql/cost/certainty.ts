import {
  type DocumentNode,
  type GraphQLSchema,
  isObjectType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { costOf } from '../schema/selection.ts';

/** How far the calls of a document's operations can be known from its text. */
export function certaintyOf(document: DocumentNode, schema: GraphQLSchema) {
  const types = new TypeInfo(schema);
  const isRecord = () => costOf(types.getFieldDef() ?? undefined) === 'EACH';
  let [records, isInFragment] = [0, false];
  let [isOpen, isReferenced, isFoundById, isDeriving] = [false, false, false, false];
  let [areBelow, isSpreadBelow, areInFragments] = [false, false, false];
  visit(
    document,
    visitWithTypeInfo(types, {
      FragmentDefinition: {
        enter() {
          isInFragment = true;
        },
        leave() {
          isInFragment = false;
        },
      },
      FragmentSpread() {
        isSpreadBelow ||= records > 0;
      },
      NamedType({ name }) {
        const type = schema.getType(name.value);
        isFoundById ||= isObjectType(type) && type.extensions.isFoundById === true;
      },
      Field: {
        enter({ name }) {
          if (name.value.startsWith('__')) return false;
          const cost = costOf(types.getFieldDef() ?? undefined);
          isOpen ||= cost === 'IDENTIFIED' || cost === 'UNSAID';
          isReferenced ||= cost === 'REFERENCED';
          if (isRecord()) records += 1;
          if (cost !== 'FIGURES') return undefined;
          isDeriving ||= types.getParentType()?.name === 'Observation';
          areBelow ||= records > 0;
          areInFragments ||= isInFragment;
          return undefined;
        },
        leave() {
          if (isRecord()) records -= 1;
        },
      },
    }),
  );
  return {
    /** True if only the service's answers tell how many calls some field makes. */
    isOpenEnded: isOpen || (isReferenced && isFoundById),
    /** True if the service's answers may decide what figures are compared with. */
    isDeriving,
    /**
     * True if figures are selected below records, whose indicators only the service tells: cached figures of the
     * stand-in's indicator say nothing. Fragments spread below a record count as a whole.
     */
    asksBelowRecords: areBelow || (isSpreadBelow && areInFragments),
  };
}
