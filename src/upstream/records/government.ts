import { countryNamedIn } from './countries.ts';
import { type Found, findObject, listIn, soleListOf } from './envelope.ts';
import { eachIn, inside, type JsonObject, labelIn, listAt, missing, type Place, textIn } from './fields.ts';

export interface OfficeRecord {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countryCode: string;
  readonly name: string;
  /** Such as `head_of_state` or `minister`. */
  readonly roleType: string | null;
  readonly terms: readonly TermRecord[];
  /**
   * The office as sent. Where the service sent a flat list of terms there is no such object, and this is
   * `{office_name, role_type, terms}` with the terms of the office as sent.
   */
  readonly record: JsonObject;
}

export interface TermRecord {
  readonly holder: string | null;
  readonly startDate: string | null;
  /** Null while the term lasts, or where the end is not known: `status` tells which. */
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
  readonly roleType: string | null;
  readonly terms: TermRecord[];
  /** Null until the service's own object for the office is seen. */
  sent: JsonObject | null;
}

/**
 * The offices of a country, whether sent as offices with nested terms or as a flat list of terms that name their
 * office. Flat terms of the same office name and role are one office; nested ones are never merged.
 *
 * @param asked code of the country that was asked for, where the body doesn't say
 */
export function decodeOffices(body: unknown, route: string, asked: string): OfficeRecord[] {
  const found = findObject(body, route, ['country', ...LISTS]);
  const countryCode = countryNamedIn(found?.value ?? {}, asked).code;
  const drafts: OfficeDraft[] = [];
  const flat = new Map<string, OfficeDraft>();
  for (const { value, place } of found === null ? [listIn(body, route)] : listsOf(found)) {
    eachIn(value, place, (row, here) => draftOffice(row, here, drafts, flat));
  }
  return drafts.map(({ name, roleType, terms, sent }) => ({
    countryCode,
    name,
    roleType,
    terms,
    record: sent ?? { office_name: name, role_type: roleType, terms: terms.map((term) => term.record) },
  }));
}

function listsOf({ value, place }: Found<JsonObject>): Found<readonly unknown[]>[] {
  const names = LISTS.filter((name) => name in value);
  if (names.length === 0) return [soleListOf(value, place)];
  return names.map((name) => ({ value: listAt(value, place, name), place: inside(place, name) }));
}

function draftOffice(
  row: JsonObject,
  place: Place,
  drafts: OfficeDraft[],
  flat: Map<string, OfficeDraft>,
): void {
  const roleType = textIn(row, 'role_type');
  const title = labelIn(row, ['name'], ...OFFICE_NAMES);
  const name = title ?? textIn(row, 'name') ?? roleType ?? missing(row, place, OFFICE_NAMES);
  const nested = TERM_LISTS.find((list) => Array.isArray(row[list]));
  if (nested !== undefined) {
    const terms = eachIn(listAt(row, place, nested), inside(place, nested), (term) => decodeTerm(term, true));
    drafts.push({ name, roleType, terms, sent: row });
    return;
  }
  const key = JSON.stringify([name, roleType]);
  const draft = flat.get(key) ?? { name, roleType, terms: [], sent: null };
  if (!flat.has(key)) drafts.push(draft);
  flat.set(key, draft);
  if (TERM_FIELDS.some((field) => field in row)) draft.terms.push(decodeTerm(row, title !== null));
  else draft.sent ??= row;
}

/** @param nameIsHolder whether `name` is the holder's, since the office has a name of its own */
function decodeTerm(row: JsonObject, nameIsHolder: boolean): TermRecord {
  return {
    holder: labelIn(row, ['name'], ...HOLDER_NAMES) ?? (nameIsHolder ? textIn(row, 'name') : null),
    startDate: textIn(row, 'start_date'),
    endDate: textIn(row, 'end_date'),
    status: textIn(row, ...STATUS_NAMES),
    record: row,
  };
}
