import { mix, pick, seedOf } from '../seed.ts';
import type { Country } from './countries.ts';
import { wordsOf } from './table.ts';

/** A policy that nobody ever made: its title says so. */
export interface Policy {
  wikidata_id: string | null;
  country_code: string;
  country_name: string;
  title: string;
  document_type: string;
  policy_status: string;
  /** Null if the record doesn't know. */
  published_at: string | null;
  source: string;
}

const TYPES = wordsOf('law policy strategy regulation bill decree other');
const STATUSES = wordsOf('active active active repealed draft unknown');

/** A country with more policies than one answer may hold. */
const BIG = 'za';
/** A country of which the record knows no policy. */
const UNRECORDED = 'ss';

/** All policies of a country, the latest first; those without a day last. */
export function policiesOf(country: Country): readonly Policy[] {
  if (country.code === UNRECORDED) return [];
  const seed = seedOf(`policies/${country.code}`);
  const count = country.code === BIG ? 620 : 3 + (mix(seed, 1) % 4);
  const digits = (n: number, width: number) => String(n).padStart(width, '0');
  const policies = Array.from({ length: count }, (_, i): Policy => {
    const own = seedOf(`policies/${country.code}/${i}`);
    const type = i === 0 ? 'constitution' : pick(TYPES, own, 1);
    const day = `${2025 - (mix(own, 2) % 40)}-${digits(1 + (mix(own, 3) % 12), 2)}-${digits(1 + (mix(own, 4) % 28), 2)}`;
    return {
      wikidata_id: mix(own, 5) % 4 === 0 ? null : `Q98${digits(mix(own, 6) % 10_000_000, 7)}`,
      country_code: country.code,
      country_name: country.name,
      title: `Synthetic ${type} ${i + 1} of ${country.name}`,
      document_type: type,
      policy_status: pick(STATUSES, own, 7),
      published_at: i === count - 1 ? null : day,
      source: 'policy_documents',
    };
  });
  return policies.sort((a, b) => ((a.published_at ?? '') < (b.published_at ?? '') ? 1 : -1));
}
