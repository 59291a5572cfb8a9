import {
  type DocumentNode,
  type GraphQLSchema,
  isObjectType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { costOf } from '../schema/selection.ts';

/** What the text of a document shows about how well the calls of its operations can be predicted. */
export function certaintyOf(document: DocumentNode, schema: GraphQLSchema) {
  const types = new TypeInfo(schema);
  const isRecord = () => costOf(types.getFieldDef() ?? undefined) === 'EACH';
  let [records, isInFragment] = [0, false];
  let [isAnyOpenEnded, isReferenced, isFoundById, isDeriving] = [false, false, false, false];
  let [areFiguresBelow, isFragmentBelow, areFiguresInFragments] = [false, false, false];
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
        isFragmentBelow ||= records > 0;
      },
      NamedType({ name }) {
        const type = schema.getType(name.value);
        isFoundById ||= isObjectType(type) && type.extensions.isFoundById === true;
      },
      Field: {
        enter({ name }) {
          if (name.value.startsWith('__')) return false;
          const cost = costOf(types.getFieldDef() ?? undefined);
          isAnyOpenEnded ||= cost === 'IDENTIFIED' || cost === 'UNSAID';
          isReferenced ||= cost === 'REFERENCED';
          if (isRecord()) records += 1;
          if (cost !== 'FIGURES') return undefined;
          isDeriving ||= types.getParentType()?.name === 'Observation';
          areFiguresBelow ||= records > 0;
          areFiguresInFragments ||= isInFragment;
          return undefined;
        },
        leave() {
          if (isRecord()) records -= 1;
        },
      },
    }),
  );
  return {
    /** True if only the service's answers show how many calls some field makes. */
    isOpenEnded: isAnyOpenEnded || (isReferenced && isFoundById),
    /** True if figures are derived: the service's answers may decide which others they are compared with. */
    isDeriving,
    /**
     * True if figures are selected below records. Only the service's answer shows which indicators those have, so it
     * proves nothing if the figures of the stand-in's indicator are cached. If a fragment is spread below a record,
     * figures in any fragment count.
     */
    asksBelowRecords: areFiguresBelow || (isFragmentBelow && areFiguresInFragments),
  };
}
