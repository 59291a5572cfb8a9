import type { FieldPlan, Plan } from '../execution/plan.ts';
import { argumentsOf, costOf, type Variables } from '../schema/selection.ts';
import { areByKeys } from './bound.ts';

/** What the plan of an operation shows about how well its calls can be predicted. */
export function certaintyOf({ root, schema }: Plan, variables: Variables) {
  let [isOpenEnded, isDeriving, asksBelowRecords] = [false, false, false];
  const look = (fields: readonly FieldPlan[], isBelowRecord: boolean): void => {
    for (const field of fields) {
      const cost = costOf(field.definition);
      isOpenEnded ||= cost === 'IDENTIFIED' || cost === 'UNSAID';
      isOpenEnded ||= cost === 'REFERENCED' && !areByKeys(argumentsOf(field, variables) ?? {}, schema);
      isDeriving ||= cost === 'FIGURES' && field.parentType.name === 'Observation';
      asksBelowRecords ||= cost === 'FIGURES' && isBelowRecord;
      look(field.below, isBelowRecord || cost === 'EACH');
    }
  };
  look(root.selected, false);
  return {
    /** True if only the service's answers show how many calls some field makes. */
    isOpenEnded,
    /** True if figures are derived: the service's answers may decide which others they are compared with. */
    isDeriving,
    /**
     * True if figures are selected below records. Only the service's answer shows which indicators those have, so it
     * proves nothing if the figures of the stand-in's indicator are cached.
     */
    asksBelowRecords,
  };
}
