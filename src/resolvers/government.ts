import type { GraphContext } from '../graph/context.ts';
import type { Resolvers } from '../graph/generated.ts';
import { encodeId } from '../graph/ids.ts';
import { governmentStructure } from '../upstream/endpoints.ts';
import type { OfficeRecord } from '../upstream/records/government.ts';
import { notFoundIn } from '../upstream/records/left-out.ts';
import { plainFields } from './record-fields.ts';
import { warned } from './warned.ts';

export function officeId({ countryCode, name, roleType, ordinal }: OfficeRecord): string {
  const further = ordinal === 0 ? [] : [String(ordinal)];
  return encodeId('Office', countryCode, name, roleType ?? '', ...further);
}

/** The office of an identifier; null if the country has none such. */
export async function officeById(
  id: string,
  countryCode: string,
  { loaders }: GraphContext,
): Promise<OfficeRecord | null> {
  const offices = await loaders.load(governmentStructure, { code: countryCode });
  if (offices === null) return null;
  return offices.find((office) => officeId(office) === id) ?? notFoundIn(offices);
}

export const resolvers = {
  Office: {
    ...plainFields('Office', 'name', 'roleType', 'record'),
    id: officeId,
    country: ({ countryCode }) => ({ code: countryCode }),
    terms: ({ terms }, _, context, info) => warned(context, () => info.path, terms),
  },
  Term: plainFields('Term', 'holder', 'startDate', 'endDate', 'status', 'record'),
} satisfies Resolvers;
