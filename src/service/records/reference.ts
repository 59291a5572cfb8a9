import { isObject, type JsonObject } from '../../shared/exact-json.ts';
import { alpha2In, checkCountry, countryNamedIn } from './countries.ts';
import {
  blockIn,
  eachIn,
  eachLocated,
  eachOf,
  findObject,
  inside,
  invalid,
  keyIn,
  kindOf,
  type Located,
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
  stringIn,
  sumOf,
  timeStringIn,
  wholeListIn,
  withLeftOut,
} from './envelope.ts';

/**
 * Measures that don't match the filters are left out. If there is one, the service ignores a filter, so measures that
 * don't say are left out, too.
 */
export function decodeIndicators(
  body: unknown,
  route: string,
  {
    category,
    hasData,
  }: { readonly category?: string | undefined; readonly hasData?: boolean | undefined } = {},
): IndicatorRecord[] {
  const list = wholeListIn(body, route);
  if (category === undefined && hasData === undefined) return eachLocated(list, decodeIndicator);
  const asked = { category: category?.toLowerCase(), has_data: hasData };
  const saidOf = (row: JsonObject) => ({
    category: stringIn(row, 'category')?.toLowerCase() ?? null,
    has_data: booleanIn(row, 'has_data'),
  });
  const isOther = (said: unknown, wanted: unknown) =>
    wanted !== undefined && said !== null && said !== wanted;
  const isHeeded = !list.value.some((row) => {
    const said = isObject(row) ? saidOf(row) : null;
    return said !== null && FILTERS.some((name) => isOther(said[name], asked[name]));
  });
  if (isHeeded) return eachLocated(list, decodeIndicator);
  return eachLocated(list, (row, place) => {
    const said = saidOf(row);
    const other = FILTERS.find((name) => asked[name] !== undefined && said[name] !== asked[name]);
    if (other !== undefined)
      throw invalid(inside(place, other), `expected ${asked[other]}, received ${said[other]}`);
    return decodeIndicator(row, place);
  });
}

const FILTERS = ['category', 'has_data'] as const;

export type IndicatorRecord = Readonly<ReturnType<typeof decodeIndicator>>;

function decodeIndicator(row: JsonObject, place: Place) {
  return {
    key: keyIn(row, place, 'metric_key', 'key', 'id'),
    /** Only key, unit and sources are promised. */
    name: stringIn(row, 'metric_name', 'name'),
    unit: stringIn(row, 'unit'),
    category: stringIn(row, 'category'),
    hasData: booleanIn(row, 'has_data'),
    /** Keys of the publishing bodies. */
    sources: sourceKeysIn(row, place),
    /** False for a single name in place of a list: it may be the main source. */
    areAllSources: Array.isArray(row.sources),
    record: row,
  };
}

const NAMES_OF_SOURCE = ['key', 'source', 'source_key', 'code'] as const;

function sourceKeysIn(row: JsonObject, place: Place): string[] {
  const name = row.sources == null && row.source != null ? 'source' : 'sources';
  const sent = row[name];
  const here = inside(place, name);
  if (sent == null) return noList(sent, here, 'array');
  return eachOf(Array.isArray(sent) ? sent : [sent], here, sourceKeyOf);
}

function sourceKeyOf(source: unknown, place: Place): string {
  const key = stringIn(isObject(source) ? source : { key: source }, ...NAMES_OF_SOURCE);
  if (key !== null) return key;
  throw invalid(place, `expected string, received ${kindOf(source)}`);
}

const SOURCE_NAMES = ['key', 'source_key', 'source', 'code'] as const;
const VERSION_NAMES = ['version', 'platform_version', 'api_version', 'tag'] as const;

export function decodeSources(body: unknown, route: string): SourceRecord[] {
  return eachLocated(wholeListIn(body, route), decodeSource);
}

export type SourceRecord = Readonly<ReturnType<typeof decodeSource>>;

function decodeSource(row: JsonObject, place: Place) {
  return {
    key: labelIn(row, SOURCE_NAMES, ...SOURCE_NAMES) ?? missing(row, place, SOURCE_NAMES),
    name: stringIn(row, 'name', 'source_name'),
    url: addressIn(row, 'url', 'source_url', 'homepage'),
    /** As sent; null if it has never been refreshed, or the service doesn't say. */
    lastSuccessfulRefresh: timeStringIn(row, 'last_successful_refresh', 'last_success_at', 'last_success'),
    nextRun: timeStringIn(row, 'next_run', 'next_run_at'),
    record: row,
  };
}

/** Null if there is no address of a page. */
function addressIn(row: JsonObject, ...names: readonly string[]): string | null {
  const text = stringIn(row, ...names);
  return text !== null && /^https?:\/\//i.test(text) && URL.canParse(text) ? text : null;
}

export type HealthRecord = Readonly<ReturnType<typeof decodeHealth>>;

/** The record is as sent: an object, or the bare status. */
export function decodeHealth(body: unknown, route: string) {
  const record = recordIn(body, route, ['status']);
  return { status: stringIn(isObject(record) ? record : { status: record }, 'status') ?? 'unknown', record };
}

export type PlatformVersionRecord = Readonly<ReturnType<typeof decodeVersion>>;

/** The record is as sent: an object, or the bare version. */
export function decodeVersion(body: unknown, route: string) {
  const record = recordIn(body, route, VERSION_NAMES);
  const fields = isObject(record) ? record : { version: record };
  const spelt = VERSION_NAMES.map((name) =>
    typeof fields[name] === 'number' ? String(fields[name]) : stringIn(fields, name),
  );
  return { version: spelt.find((text) => text !== null) ?? null, record };
}

/** The record of a public route: an object, a text or a number. */
function recordIn(body: unknown, route: string, fieldNames: readonly string[]): unknown {
  const isWrapped = isObject(body) && 'data' in body;
  const sent = findObject(body, route, fieldNames)?.value ?? (isWrapped ? body.data : body);
  if (isObject(sent) || typeof sent === 'string' || typeof sent === 'number') return sent;
  throw invalid({ route, path: isWrapped ? 'data' : '' }, `expected object, received ${kindOf(sent)}`);
}

function booleanIn(row: JsonObject, name: string): boolean | null {
  const value = row[name];
  return typeof value === 'boolean' ? value : null;
}

const TERM_LISTS = ['terms', 'holders', 'office_holders'] as const;
const LISTS = ['offices', ...TERM_LISTS] as const;
const OFFICE_NAMES = ['office_name', 'office', 'title'] as const;
const HOLDER_NAMES = ['holder', 'holder_name', 'leader_name', 'person_name'] as const;
const STATUS_NAMES = ['status', 'term_status', 'record_status'] as const;
const TERM_FIELDS = [...HOLDER_NAMES, 'start_date', 'end_date', ...STATUS_NAMES] as const;

interface OfficeDraft {
  readonly name: string;
  roleType: string | null;
  readonly terms: TermRecord[];
  /** The service's own object for the office; null until it is found. */
  sent: Located<JsonObject> | null;
}

class OfficeDrafts {
  readonly all: OfficeDraft[] = [];
  /** Drafts for further flat terms: the first of each name, and each by its name and role. */
  readonly #flat = new Map<string, OfficeDraft>();
  readonly #asked: string;

  constructor(asked: string) {
    this.#asked = asked;
  }

  /** @param isNamed true if any row of the list names its office */
  add(row: JsonObject, place: Place, isNamed: boolean): void {
    checkCountry(alpha2In(row, 'country_code'), this.#asked, inside(place, 'country_code'));
    const roleType = stringIn(row, 'role_type');
    const title = titleIn(row);
    const nested = nestedIn(row);
    // Beside terms that name their office, one that doesn't may be of any office; otherwise the role is the name.
    const role = isNamed && nested === undefined ? null : roleType;
    const name = title ?? stringIn(row, 'name') ?? role ?? missing(row, place, OFFICE_NAMES);
    if (nested !== undefined) {
      const terms = blockIn(row, place, nested, (term) => decodeTerm(term, true));
      this.all.push({ name, roleType, terms, sent: { value: row, place } });
      return;
    }
    const draft = this.#draftOf(name, roleType);
    if (TERM_FIELDS.some((field) => field in row)) draft.terms.push(decodeTerm(row, title !== null));
    else draft.sent ??= { value: row, place };
  }

  #draftOf(name: string, roleType: string | null): OfficeDraft {
    const key = (...parts: readonly (string | null)[]) => JSON.stringify(parts);
    const first = this.#flat.get(key(name));
    let draft = roleType === null || first?.roleType === null ? first : this.#flat.get(key(name, roleType));
    if (draft === undefined) {
      draft = { name, roleType, terms: [], sent: null };
      this.all.push(draft);
      if (first === undefined) this.#flat.set(key(name), draft);
    }
    draft.roleType ??= roleType;
    this.#flat.set(key(name, draft.roleType), draft);
    return draft;
  }
}

/**
 * Offices are sent either with nested terms or as a flat list of terms that name their office. Flat terms of the same
 * office name and role, or of no role, are one office; nested ones are never merged.
 *
 * @param asked code of the country that was asked for, if the body doesn't say
 * @throws Failure if nothing of the body can be read
 */
export function decodeOffices(body: unknown, route: string, asked: string): OfficeRecord[] {
  const object = findObject(body, route, ['country', ...LISTS]);
  const countryCode = object === null ? asked.toUpperCase() : countryNamedIn(object, asked).code;
  const drafts = new OfficeDrafts(asked);
  const lists = object === null ? [listIn(body, route)] : listsOf(object);
  const leftOut = sumOf(
    lists.map(({ value, place }) => {
      const isNamed = Array.isArray(value) && value.some((row) => isObject(row) && titleIn(row) !== null);
      const add = (row: JsonObject, here: Place) => drafts.add(row, here, isNamed);
      return leftOutOf(Array.isArray(value) ? eachIn(value, place, add) : noList(value, place, 'array'));
    }),
  );
  const isNothing = lists.every(({ value }) => value === null);
  if (leftOut !== null && drafts.all.length === 0 && !isNothing) throw leftOut.first;
  const counts = new Map<string, number>();
  const offices = drafts.all.map((draft) => {
    const name = JSON.stringify([draft.name, draft.roleType]);
    const ordinal = counts.get(name) ?? 0;
    counts.set(name, ordinal + 1);
    return officeOf(draft, countryCode, ordinal);
  });
  return withLeftOut(offices, leftOut);
}

function listsOf({ value, place }: Located<JsonObject>): Located<unknown>[] {
  const names = LISTS.filter((name) => name in value);
  if (names.length === 0) return [soleListOf(value, place)];
  return names.map((name) => ({ value: value[name], place: inside(place, name) }));
}

export type OfficeRecord = Readonly<ReturnType<typeof officeOf>>;

function officeOf({ name, roleType, terms, sent }: OfficeDraft, countryCode: string, ordinal: number) {
  const record: JsonObject = {
    office_name: name,
    role_type: roleType,
    terms: terms.map((term) => term.record),
  };
  const isBare = sent !== null && terms.length === 0 && nestedIn(sent.value) === undefined;
  return {
    /** ISO 3166-1 alpha-2, upper case. */
    countryCode,
    name,
    /** Number of offices of the same name and role before it. */
    ordinal,
    /** The record's own word, such as `head_of_state` or `minister`. */
    roleType,
    /** Terms that can't be read are only in `record`. */
    terms: isBare ? noList(sent.value.terms, inside(sent.place, 'terms'), 'array') : terms,
    /** The office as sent; for flat terms, an object in the same form. */
    record: sent?.value ?? record,
  };
}

function titleIn(row: JsonObject): string | null {
  return labelIn(row, ['name'], ...OFFICE_NAMES);
}

function nestedIn(office: JsonObject): string | undefined {
  return TERM_LISTS.find((list) => Array.isArray(office[list]));
}

export type TermRecord = Readonly<ReturnType<typeof decodeTerm>>;

/** @param nameIsHolder true if `name` is the holder's */
function decodeTerm(row: JsonObject, nameIsHolder: boolean) {
  return {
    holder: labelIn(row, ['name'], ...HOLDER_NAMES) ?? (nameIsHolder ? stringIn(row, 'name') : null),
    startDate: stringIn(row, 'start_date'),
    /** Null while the term lasts, or if the end isn't known: `status` tells which. */
    endDate: stringIn(row, 'end_date'),
    /** The record's own word. */
    status: stringIn(row, ...STATUS_NAMES),
    record: row,
  };
}

export type TickerList = RowList<TickerRecord>;

export function decodeTickers(body: unknown, route: string): TickerList {
  return rowListIn(body, route, (list) => eachLocated(list, decodeTicker));
}

export type TickerRecord = Readonly<ReturnType<typeof decodeTicker>>;

function decodeTicker(row: JsonObject, place: Place) {
  return {
    /** Upper case. */
    exchangeCode: keyIn(row, place, 'exchange_code', 'exchange').toUpperCase(),
    symbol: keyIn(row, place, 'symbol', 'ticker'),
    name: stringIn(row, 'security_name', 'name'),
    instrumentType: stringIn(row, 'instrument_type'),
    sector: stringIn(row, 'sector'),
    industry: stringIn(row, 'industry'),
    /** ISO 3166-1 alpha-2, upper case. */
    countryCode: alpha2In(row, 'country_code', 'country'),
    /** The trading day of the price, as sent. */
    session: stringIn(row, 'latest_trade_date', 'session'),
    /** In the currency of the listing, which the service doesn't name. */
    closePrice: numberIn(row, 'latest_close_price', 'close_price'),
    /** Percent. */
    changePercent: numberIn(row, 'latest_change_percent', 'change_percent'),
    record: row,
  };
}
