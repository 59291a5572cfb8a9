import {
  type DocumentNode,
  type GraphQLSchema,
  isObjectType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { costOf } from '../schema/selection.ts';

/** Tells by a document's text alone how far the calls of its operations can be known. */
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
      // Fragments name the types of entities that they select on.
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
    /** True if only the service's answers tell the calls that some field makes. */
    isOpenEnded: isOpen || (isReferenced && isFoundById),
    /** True if derived fields are selected: the service's answers may decide what they compare with. */
    isDeriving,
    /**
     * True if figures are selected below single records, which tell of which indicators: a cached figure of the one that
     * the stand-in has tells nothing of them. Fragments that are spread below a record are taken for all that they hold.
     */
    asksBelowRecords: areBelow || (isSpreadBelow && areInFragments),
  };
}
