import { alpha2In, checkCountry, countryNamedIn } from './countries.ts';
import {
  blockIn,
  eachFound,
  eachIn,
  type Found,
  findObject,
  inside,
  isObject,
  type JsonObject,
  keyIn,
  labelIn,
  leftOutOf,
  listIn,
  missing,
  noList,
  numberIn,
  type Place,
  type RowList,
  rowListIn,
  soleListOf,
  sumOf,
  textIn,
  withLeftOut,
} from './envelope.ts';

export interface OfficeRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countryCode: string;
  readonly name: string;
  /** Number of offices of the same name and role that stand before it. */
  readonly ordinal: number;
  /** The record's own word, such as `head_of_state` or `minister`. */
  readonly roleType: string | null;
  /** Terms that can be read; the others are in `record` alone. */
  readonly terms: readonly TermRecord[];
  /**
   * The office as sent. If the service sent a flat list of terms there is no such object, and this is
   * `{office_name, role_type, terms}` with the terms of the office as sent.
   */
  readonly record: JsonObject;
}

export interface TermRecord {
  readonly holder: string | null;
  readonly startDate: string | null;
  /** Null while the term lasts, or if the end is not known: `status` tells which. */
  readonly endDate: string | null;
  /** The record's own word. */
  readonly status: string | null;
  readonly record: JsonObject;
}

const TERM_LISTS = ['terms', 'holders', 'office_holders'] as const;
const LISTS = ['offices', ...TERM_LISTS] as const;
const OFFICE_NAMES = ['office_name', 'office', 'title'] as const;
const HOLDER_NAMES = ['holder', 'holder_name', 'leader_name', 'person_name'] as const;
const STATUS_NAMES = ['status', 'term_status', 'record_status'] as const;
const TERM_FIELDS = [...HOLDER_NAMES, 'start_date', 'end_date', ...STATUS_NAMES] as const;

interface OfficeDraft {
  readonly name: string;
  /** Null until a row of the office says. */
  roleType: string | null;
  readonly isNested: boolean;
  readonly terms: TermRecord[];
  /** Null until the service's own object for the office is seen. */
  sent: Found<JsonObject> | null;
}

/**
 * Reads the offices of a country, sent either as offices with nested terms or as a flat list of terms that name their
 * office. Flat terms of the same office name and role, or of none, are one office; nested ones are never merged.
 *
 * @param asked code of the country that was asked for, if the body doesn't say
 * @throws Failure if nothing of the body can be read
 */
export function decodeOffices(body: unknown, route: string, asked: string): OfficeRecord[] {
  const found = findObject(body, route, ['country', ...LISTS]);
  const countryCode = found === null ? asked.toUpperCase() : countryNamedIn(found, asked).code;
  const drafts: OfficeDraft[] = [];
  const lists = found === null ? [listIn(body, route)] : listsOf(found);
  const leftOut = sumOf(
    lists.map(({ value, place }) => {
      const isNamed = Array.isArray(value) && value.some((row) => isObject(row) && titleIn(row) !== null);
      const draft = (row: JsonObject, here: Place) =>
        draftOffice({ value: row, place: here }, drafts, isNamed, asked);
      return leftOutOf(Array.isArray(value) ? eachIn(value, place, draft) : noList(value, place, 'array'));
    }),
  );
  const isNothing = lists.every(({ value }) => value === null);
  if (leftOut !== null && drafts.length === 0 && !isNothing) throw leftOut.first;
  const counts = new Map<string, number>();
  const offices = drafts.map((draft) => {
    const name = JSON.stringify([draft.name, draft.roleType]);
    const ordinal = counts.get(name) ?? 0;
    counts.set(name, ordinal + 1);
    return officeOf(draft, countryCode, ordinal);
  });
  return withLeftOut(offices, leftOut);
}

function listsOf({ value, place }: Found<JsonObject>): Found<unknown>[] {
  const names = LISTS.filter((name) => name in value);
  if (names.length === 0) return [soleListOf(value, place)];
  return names.map((name) => ({ value: value[name], place: inside(place, name) }));
}

function officeOf(
  { name, roleType, terms, sent }: OfficeDraft,
  countryCode: string,
  ordinal: number,
): OfficeRecord {
  const record = { office_name: name, role_type: roleType, terms: terms.map((term) => term.record) };
  const isBare = sent !== null && terms.length === 0 && nestedIn(sent.value) === undefined;
  return {
    countryCode,
    name,
    ordinal,
    roleType,
    terms: isBare ? noList(sent.value.terms, inside(sent.place, 'terms'), 'array') : terms,
    record: sent?.value ?? record,
  };
}

function titleIn(row: JsonObject): string | null {
  return labelIn(row, ['name'], ...OFFICE_NAMES);
}

/** Finds the name of the list of terms in an office. */
function nestedIn(office: JsonObject): string | undefined {
  return TERM_LISTS.find((list) => Array.isArray(office[list]));
}

function draftOffice(
  { value: row, place }: Found<JsonObject>,
  drafts: OfficeDraft[],
  isNamed: boolean,
  asked: string,
): void {
  checkCountry(alpha2In(row, 'country_code'), asked, inside(place, 'country_code'));
  const roleType = textIn(row, 'role_type');
  const title = titleIn(row);
  const nested = nestedIn(row);
  // A term that doesn't name its office among others that do may be of any; alone, the role is a name.
  const role = isNamed && nested === undefined ? null : roleType;
  const name = title ?? textIn(row, 'name') ?? role ?? missing(row, place, OFFICE_NAMES);
  if (nested !== undefined) {
    const terms = blockIn(row, place, nested, (term) => decodeTerm(term, true));
    drafts.push({ name, roleType, isNested: true, terms, sent: { value: row, place } });
    return;
  }
  const isOf = (draft: OfficeDraft) =>
    !draft.isNested &&
    draft.name === name &&
    (draft.roleType === roleType || draft.roleType === null || roleType === null);
  let draft = drafts.find(isOf);
  if (draft === undefined) {
    draft = { name, roleType, isNested: false, terms: [], sent: null };
    drafts.push(draft);
  }
  draft.roleType ??= roleType;
  if (TERM_FIELDS.some((field) => field in row)) draft.terms.push(decodeTerm(row, title !== null));
  else draft.sent ??= { value: row, place };
}

/** @param nameIsHolder true if `name` is the holder's, since the office has a name of its own */
function decodeTerm(row: JsonObject, nameIsHolder: boolean): TermRecord {
  return {
    holder: labelIn(row, ['name'], ...HOLDER_NAMES) ?? (nameIsHolder ? textIn(row, 'name') : null),
    startDate: textIn(row, 'start_date'),
    endDate: textIn(row, 'end_date'),
    status: textIn(row, ...STATUS_NAMES),
    record: row,
  };
}

export interface TickerRecord {
  /** Upper case. */
  readonly exchangeCode: string;
  readonly symbol: string;
  readonly name: string | null;
  readonly instrumentType: string | null;
  readonly sector: string | null;
  readonly industry: string | null;
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countryCode: string | null;
  /** The trading day of the price, as sent. */
  readonly session: string | null;
  /** Price in the currency of the listing, which the service doesn't name. */
  readonly closePrice: number | null;
  /** Percent. */
  readonly changePercent: number | null;
  readonly record: JsonObject;
}

/** Listings; none of the counts are promised. */
export type TickerList = RowList<TickerRecord>;

export function decodeTickers(body: unknown, route: string): TickerList {
  return rowListIn(body, route, (list) => eachFound(list, decodeTicker));
}

function decodeTicker(row: JsonObject, place: Place): TickerRecord {
  return {
    exchangeCode: keyIn(row, place, 'exchange_code', 'exchange').toUpperCase(),
    symbol: keyIn(row, place, 'symbol', 'ticker'),
    name: textIn(row, 'security_name', 'name'),
    instrumentType: textIn(row, 'instrument_type'),
    sector: textIn(row, 'sector'),
    industry: textIn(row, 'industry'),
    countryCode: alpha2In(row, 'country_code', 'country'),
    session: textIn(row, 'latest_trade_date', 'session'),
    closePrice: numberIn(row, 'latest_close_price', 'close_price'),
    changePercent: numberIn(row, 'latest_change_percent', 'change_percent'),
    record: row,
  };
}
