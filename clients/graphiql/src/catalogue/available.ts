import type { Explained } from '../answer.ts';
import { explained } from '../price.ts';
import { send } from '../send.ts';

/** What the gateway has cached of an indicator's figures. */
export interface Cached {
  readonly countryCount: number;
  readonly lastYear: number;
}

/** What is there of some countries, as far as the gateway has asked. */
export interface Available {
  /** By the indicator's key. */
  readonly byKey: ReadonlyMap<string, Cached>;
  /** Price of the newest figures of all indicators: with none, all that there is is known. Null if it can't be told. */
  readonly rest: Explained | null;
  /** As of which all of it was current; null if there is none. */
  readonly since: string | null;
}

const AVAILABLE = `query Available($codes: [CountryCode!]) {
  availability(countryCodes: $codes) { indicator { key } countryCount lastYear asOf }
}`;
const NEWEST = `query Newest($codes: [CountryCode!]) {
  countries { code }
  indicators { key }
  observations(countryCodes: $codes, latest: true) { value }
}`;

type Row = Cached & { readonly indicator: { readonly key: string }; readonly asOf: string };

/**
 * Asks what is cached, at no call; null where the gateway doesn't tell.
 * @param codes none for all countries
 */
export async function availableIn(codes: readonly string[], signal: AbortSignal): Promise<Available | null> {
  const variables = codes.length === 0 ? {} : { codes };
  const [{ data }, rest] = await Promise.all([
    send({ query: AVAILABLE, variables }, {}, signal),
    explained({ query: NEWEST, variables }, signal),
  ]);
  const { availability = null } = (data ?? {}) as { readonly availability?: readonly Row[] | null };
  if (availability === null) return null;
  return {
    byKey: new Map(availability.map((row) => [row.indicator.key, row])),
    rest,
    since: availability.map(({ asOf }) => asOf).sort()[0] ?? null,
  };
}

/** True if nothing is there of an indicator that isn't among those cached. */
export const isComplete = ({ rest }: Available): boolean => rest?.most === 0;
