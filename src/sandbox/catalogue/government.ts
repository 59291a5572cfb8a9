import { mix, seedOf } from '../seed.ts';
import type { Country } from './countries.ts';
import { wordsOf } from './table.ts';

/** The time that one person held an office. Every holder is invented, and named so that nobody can think otherwise. */
export interface Term {
  leader_wikidata_id: string | null;
  leader_name: string;
  start_date: string | null;
  /** Null while the term lasts, and if the record doesn't know. */
  end_date: string | null;
  /** The record's own word: `current`, `acting`, `former` or `disputed`. */
  status: string;
  source: string;
}

export interface Office {
  office_name: string;
  role_type: string;
  terms: Term[];
}

const MONARCHIES: Record<string, string> = {
  ls: 'King of Lesotho',
  ma: 'King of Morocco',
  sz: 'King of Eswatini',
};
const WITHOUT_PRIME_MINISTER = new Set(wordsOf('ao bi bj bw gh gm ke lr mw ng sc sl za zm zw'));
/** A country of which the record knows no office. */
const UNRECORDED = 'ss';

function termsOf(country: Country, office: string): Term[] {
  const seed = seedOf(`office/${country.code}/${office}`);
  const count = 2 + (mix(seed, 1) % 3);
  const terms: Term[] = [];
  let year = 2026 - (mix(seed, 2) % 6);
  let endDate: string | null = null;
  const digits = (n: number, count: number) => String(n).padStart(count, '0');
  for (let i = 0; i < count; i++) {
    // Begins in the first half of the year, so that no term of 2026 begins after the record was fetched.
    const start = `${year}-${digits(1 + (mix(seed, 10 + i) % 6), 2)}-${digits(1 + (mix(seed, 20 + i) % 28), 2)}`;
    const acting = mix(seed, 3) % 11 === 0 ? 'acting' : 'current';
    terms.push({
      leader_wikidata_id:
        mix(seed, 30 + i) % 6 === 0 ? null : `Q99${digits(mix(seed, 40 + i) % 10_000_000, 7)}`,
      leader_name: `Synthetic Holder ${country.code.toUpperCase()} ${digits(mix(seed, 50 + i) % 1000, 3)}`,
      // The record has forgotten when a few of the oldest terms began.
      start_date: i === count - 1 && mix(seed, 4) % 4 === 0 ? null : start,
      end_date: endDate,
      status: i === 0 ? acting : 'former',
      source: 'wikidata_government',
    });
    endDate = start;
    year -= 2 + (mix(seed, 60 + i) % 6);
  }
  return terms;
}

/**
 * The offices of a country, highest first, each with its terms, newest first; none if nothing is recorded.
 */
export function officesOf(country: Country): Office[] {
  if (country.code === UNRECORDED) return [];
  const named: [name: string, role: string][] = [
    [MONARCHIES[country.code] ?? `President of ${country.name}`, 'head_of_state'],
  ];
  if (!WITHOUT_PRIME_MINISTER.has(country.code)) {
    named.push([`Prime Minister of ${country.name}`, 'head_of_government']);
  }
  named.push(
    ['Minister of Finance', 'minister'],
    ['Minister of Foreign Affairs', 'minister'],
    ['Minister of Health', 'minister'],
    ['Minister of Education', 'minister'],
    ['Speaker of Parliament', 'speaker'],
    ['Governor of the Central Bank', 'central_bank_governor'],
  );
  const offices = named.map(([name, role]) => ({
    office_name: name,
    role_type: role,
    terms: termsOf(country, name),
  }));
  // Libya: two claim one office at once, and neither term has ended.
  const head = offices[0];
  if (country.code === 'ly' && head) {
    for (const term of head.terms.slice(0, 2)) Object.assign(term, { status: 'disputed', end_date: null });
  }
  return offices;
}
