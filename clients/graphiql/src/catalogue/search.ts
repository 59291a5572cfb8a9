/** Something that is searched by words: its name, and further words about it. */
export interface Searched {
  readonly name: string;
  readonly about: string;
}

/** Words that people look for, and those that catalogues have for it; several words of one entry go together. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  aid: ['development assistance', 'humanitarian'],
  aids: ['hiv'],
  army: ['military'],
  baby: ['infant', 'birth'],
  capita: ['head'],
  carbon: ['co2'],
  cellphone: ['mobile'],
  child: ['children', 'under5', 'under five', 'infant', 'neonatal'],
  co2: ['carbon'],
  corn: ['maize'],
  cow: ['cattle'],
  crime: ['homicide'],
  death: ['mortality', 'fatalities'],
  defence: ['military'],
  defense: ['military'],
  doctor: ['physician'],
  enrollment: ['enrolment'],
  farming: ['agriculture', 'agricultural'],
  female: ['women'],
  fertilizer: ['fertiliser'],
  ghg: ['greenhouse'],
  gnp: ['gdp'],
  head: ['capita'],
  hunger: ['undernourishment', 'food insecure'],
  immunization: ['immunisation'],
  income: ['gdp', 'wealth'],
  inequality: ['gini'],
  interest: ['lending', 'policy rate', 'interbank', 'treasury'],
  investment: ['fdi'],
  job: ['employment', 'unemployment', 'labour'],
  jobless: ['unemployment'],
  labor: ['labour'],
  lifespan: ['life expectancy'],
  migrant: ['migration', 'refugee'],
  mortality: ['death'],
  murder: ['homicide'],
  people: ['population', 'person'],
  petrol: ['fuel'],
  phone: ['mobile', 'telephone'],
  pollution: ['pm25', 'emission'],
  power: ['electricity'],
  price: ['inflation', 'cpi'],
  rain: ['rainfall'],
  school: ['education', 'enrolment'],
  tb: ['tuberculosis'],
  trade: ['export', 'import'],
  unemployed: ['unemployment'],
  vaccination: ['immunisation'],
  vaccine: ['immunisation'],
  war: ['conflict'],
  web: ['internet'],
  woman: ['women', 'female'],
  work: ['employment', 'labour'],
};

/** Costs of a word by the place at which it is found; the lower, the better. */
const IN_NAME = 0;
const BEGINS_NAME = 1;
const BEGINS_ABOUT = 4;
const BY_SYNONYM = 3;
const MISTYPED = 6;

/** Letters of a word from which on one of them may be wrong, and two. */
const FORGIVEN = { one: 4, two: 8 };

/**
 * Rows that have all words of a query, or their synonyms, the nearest first. A word is found if one begins
 * with it: `rain` finds rainfall, and no trained teachers. If there is none, words may be mistyped: `populaton`.
 */
export function searched<T>(all: readonly T[], query: string, of: (one: T) => Searched): readonly T[] {
  const words = wordsIn(query);
  if (words.length === 0) return all;
  const begin = query.trim().toLowerCase();
  const found = rowsOf(all, words, begin, of, placeOf);
  return found.length > 0 ? found : rowsOf(all, words, begin, of, forgivenPlaceOf);
}

function rowsOf<T>(
  all: readonly T[],
  words: readonly string[],
  begin: string,
  of: (one: T) => Searched,
  place: typeof placeOf,
): readonly T[] {
  return all
    .flatMap((one) => {
      const { name, about } = of(one);
      const places = [wordsIn(name), wordsIn(about)] as const;
      const positions = words.map((word) => place(word, places));
      if (positions.includes(null)) return [];
      const isBegun = name.toLowerCase().startsWith(begin);
      return [{ one, cost: isBegun ? -1 : positions.reduce<number>((sum, n) => sum + (n ?? 0), 0) }];
    })
    .sort((a, b) => a.cost - b.cost)
    .map(({ one }) => one);
}

type Places = readonly [name: readonly string[], about: readonly string[]];

function placeOf(word: string, places: Places): number | null {
  const singular = singularOf(word);
  const [name, about] = places;
  const itself = directPlaceOf(word, places) ?? directPlaceOf(singular, places);
  if (itself !== null) return itself;
  const synonyms = SYNONYMS[word] ?? SYNONYMS[singular] ?? [];
  const isThere = (one: string) => [...name, ...about].some((candidate) => candidate.startsWith(one));
  return synonyms.some((other) => wordsIn(other).every(isThere)) ? BY_SYNONYM : null;
}

function forgivenPlaceOf(word: string, places: Places): number | null {
  const most = word.length >= FORGIVEN.two ? 2 : word.length >= FORGIVEN.one ? 1 : 0;
  const isMeant = (one: string) => one[0] === word[0] && errorsIn(word, one) <= most;
  return placeOf(word, places) ?? (most > 0 && places[0].some(isMeant) ? MISTYPED : null);
}

/** Letters that are missing, wrong or too many in a word, against the beginning of another that is nearest to it. */
function errorsIn(word: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  let before = row;
  for (let i = 1; i <= word.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = word[i - 1] === other[j - 1];
      const isTurned = i > 1 && j > 1 && word[i - 1] === other[j - 2] && word[i - 2] === other[j - 1];
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + (isSame ? 0 : 1),
          isTurned ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [before, row] = [row, next];
  }
  return Math.min(...row);
}

function directPlaceOf(word: string, [name, about]: Places): number | null {
  if (name.includes(word)) return IN_NAME;
  if (name.some((one) => one.startsWith(word))) return BEGINS_NAME;
  return about.some((one) => one.startsWith(word)) ? BEGINS_ABOUT : null;
}

const singularOf = (word: string) =>
  word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;

function wordsIn(text: string): readonly string[] {
  return (
    text
      .normalize('NFD')
      .replace(/[\u0300-\u036f]/g, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  );
}
