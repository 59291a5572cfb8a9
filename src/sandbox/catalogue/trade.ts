import { mix, pick, seedOf } from '../seed.ts';
import type { Country } from './countries.ts';
import { wordsOf } from './table.ts';

/**
 * Goods that were moved between two countries in a year. Every value is invented, and the products say so in
 * their names.
 */
export interface Flow {
  reporter_country_code: string;
  partner_country_code: string;
  product_code: string;
  product_name: string;
  flow_type: 'export' | 'import';
  year: number;
  value: number;
  unit: string;
  source: string;
}

/** Reporters with more flows than one answer may hold. */
const BIG = new Set(wordsOf('ng za'));
/** A country of which the record knows no trade. */
const UNRECORDED = 'ss';

const PARTNERS = wordsOf('cn in de us ug za ng fr ae gb ke nl');
const PRODUCTS = ['0901', '0902', '2709', '7108', '8517', '8703'] as const;
const LAST_YEAR = 2025;

const held = new Map<string, readonly Flow[]>();

/** All flows that a country reports, the latest year first. */
export function flowsOf(country: Country): readonly Flow[] {
  let flows = held.get(country.code);
  if (flows === undefined) {
    flows = country.code === UNRECORDED ? [] : made(country);
    held.set(country.code, flows);
  }
  return flows;
}

function made({ code }: Country): Flow[] {
  const isBig = BIG.has(code);
  const others = PARTNERS.filter((partner) => partner !== code);
  const partners = isBig ? others : others.slice(0, 3);
  const products = isBig ? PRODUCTS : PRODUCTS.slice(0, 3);
  const flows: Flow[] = [];
  for (let year = LAST_YEAR; year > LAST_YEAR - (isBig ? 12 : 3); year--) {
    for (const partner of partners) {
      for (const product of products) {
        for (const type of ['export', 'import'] as const) {
          const seed = seedOf(`trade/${code}/${partner}/${product}/${type}/${year}`);
          flows.push({
            reporter_country_code: code,
            partner_country_code: partner,
            product_code: product,
            product_name: `Synthetic product ${product}`,
            flow_type: type,
            year,
            value: mix(seed, 1) % 90_000_000,
            unit: 'current_usd',
            source: pick(['un_comtrade', 'world_bank_wits'], seed, 2),
          });
        }
      }
    }
  }
  return flows;
}
