import type { GraphQLResolveInfo } from 'graphql';
import { mapValue, type PromiseOrValue, promiseTry } from '../async/promise-or-value.ts';
import type { GraphContext } from '../graph/context.ts';
import type { CountryOrderField, QueryCountriesArgs } from '../graph/generated.ts';
import { scopeOfRows, selectedFields } from '../graph/selection.ts';
import { type CountryRef, countryOf } from '../graph/sources.ts';
import { COVERED_COUNTRIES } from '../upstream/covered-countries.ts';
import { countries } from '../upstream/endpoints.ts';
import type { CountryRecord } from '../upstream/records/countries.ts';
import { invalid } from '../upstream/records/fields.ts';
import { leftOutOf, withLeftOut } from '../upstream/records/left-out.ts';
import { checkTexts } from './arguments.ts';
import { byCode, byName, type Order, ordered } from './ordering.ts';
import { warned, warnedOnceLoaded, warnOfCountries } from './warned.ts';

/** Fields that the code alone answers. */
const BARE_FIELDS: ReadonlySet<string> = new Set(['__typename', 'id', 'code']);

/** Fields that come from the list, which thus tells at no further call if the country is there. */
export const LIST_FIELDS = [
  'name',
  'iso3',
  'officialName',
  'capital',
  'region',
  'subregion',
  'record',
] as const;
const FROM_LIST: ReadonlySet<string> = new Set(LIST_FIELDS);

/** Findings on the selection on a country. */
export interface Selected {
  /** True if the code is enough for some of it, which then need not fail with the list. */
  readonly isMoreThanCode: boolean;
  readonly isFromList: boolean;
}

/** Findings by the nodes of the field, which are the same for each item of a list and for each run of a plan. */
const selections = new WeakMap<readonly unknown[], Selected>();

export function selectedOf(info: GraphQLResolveInfo): Selected {
  const scope = scopeOfRows(info);
  let selected = selections.get(scope.fieldNodes);
  if (selected === undefined) {
    const names = [...selectedFields(scope, 'Country')];
    selected = {
      isMoreThanCode: names.some((name) => !BARE_FIELDS.has(name)),
      isFromList: names.some((name) => FROM_LIST.has(name)),
    };
    selections.set(scope.fieldNodes, selected);
  }
  return selected;
}

/**
 * A country that the list can't tell: one of the 54, if its code is enough for some of the selected fields, so that
 * fields from the list fail by themselves; null for any other.
 */
export function countryWithoutList(code: string, { isMoreThanCode }: Selected): CountryRef | null {
  return isMoreThanCode && COVERED_COUNTRIES.has(code) ? { code } : null;
}

const ORDERS: Readonly<Record<CountryOrderField, Order<CountryRef>>> = {
  CODE: byCode(({ code }) => code),
  NAME: byName(({ known }) => known?.name ?? null),
};

/** Countries, all of them or the named ones. Asks for the list only if codes alone won't do. */
export function countryList(
  _: unknown,
  args: QueryCountriesArgs,
  context: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<readonly CountryRef[]> {
  const { region, subregion, orderBy } = args;
  checkTexts({ region, subregion });
  const needsList = region != null || subregion != null || orderBy?.some(({ field }) => field !== 'CODE');
  return ordered(listed(args, needsList === true, context, info), orderBy, ORDERS, context);
}

function listed(
  args: QueryCountriesArgs,
  needsList: boolean,
  context: GraphContext,
  info: GraphQLResolveInfo,
): PromiseOrValue<readonly CountryRef[]> {
  const { loaders } = context;
  const { codes } = args;
  const { path } = info;
  const isOfAnyRegion = args.region == null && args.subregion == null;
  const ofRegion = (list: readonly CountryRecord[]) =>
    isOfAnyRegion ? list : warned(context, () => path, within(list, args));
  if (codes == null) {
    const all = warnedOnceLoaded(context, info, loaders.countries());
    return mapValue(all, (list) => ofRegion(list).map(countryOf));
  }
  const selected = selectedOf(info);
  const wanted = [...new Set(codes)];
  const alone = new Map(wanted.map((code) => [code, needsList ? null : countryWithoutList(code, selected)]));
  const areAlone = wanted.every((code) => alone.get(code) !== null);
  if (areAlone && !selected.isFromList) return wanted.map((code) => alone.get(code) ?? { code });
  const found = promiseTry(() =>
    mapValue(warnedOnceLoaded(context, info, loaders.countries()), (list) => {
      const all = new Map(list.map((record) => [record.code, record]));
      const ofCodes = wanted.flatMap((code) => all.get(code) ?? []);
      const byCodes = new Map(ofRegion(ofCodes).map((record) => [record.code, countryOf(record)]));
      // A country that the list lacks may be among the rows that can't be read, and is warned of as such.
      const isWhole = leftOutOf(list) === null;
      if (isWhole) {
        warnOfCountries(
          context,
          path,
          wanted.filter((code) => !all.has(code)),
        );
      }
      return wanted.flatMap((code) => byCodes.get(code) ?? (isWhole ? [] : (alone.get(code) ?? [])));
    }),
  );
  if (!areAlone || !(found instanceof Promise)) return found;
  return found.catch(() => wanted.map((code) => alone.get(code) ?? { code }));
}

/** Countries of a region. A country that names none may be of it, which the list then says of itself. */
function within(
  list: readonly CountryRecord[],
  filter: Pick<QueryCountriesArgs, 'region' | 'subregion'>,
): readonly CountryRecord[] {
  const fields = (['region', 'subregion'] as const).filter((field) => filter[field] != null);
  const isOf = (record: CountryRecord, isEnough: (field: 'region' | 'subregion') => boolean) =>
    fields.every((field) => isEnough(field) || record[field]?.toLowerCase() === filter[field]?.toLowerCase());
  const untold = list.filter(
    (record) =>
      fields.some((field) => record[field] === null) && isOf(record, (field) => record[field] === null),
  );
  const [field] = fields;
  const there = list.filter((record) => isOf(record, () => false));
  if (untold.length === 0 || field === undefined) return there;
  const first = invalid({ route: countries.route, path: field }, 'expected string, received null');
  return withLeftOut(there, { count: untold.length, first });
}
