import type { Resolvers } from '../graph/generated.ts';
import { encodeId } from '../graph/ids.ts';
import type { OfficeRecord } from '../upstream/records/government.ts';

export function officeId({ countryCode, name, roleType }: OfficeRecord): string {
  return encodeId('Office', countryCode, name, roleType ?? '');
}

export const governmentResolvers: Resolvers = {
  Office: {
    id: officeId,
    country: ({ countryCode }) => ({ code: countryCode }),
  },
};
