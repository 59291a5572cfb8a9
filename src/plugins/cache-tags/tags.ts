/** The tag of answers with so many figures that no header holds all of their tags. */
export const ALL_FIGURES = 'all-figures';

/** Characters that would end a tag are spelled as an address spells them. */
export const sourceTag = (key: string): string => `source-${encodeURIComponent(key)}`;

export const indicatorTag = (key: string): string => `indicator-${encodeURIComponent(key)}`;

/** The tag of an answer of one route: the last word of its path that is none of a parameter, and that parameter. */
export function routeTag(route: string, target: string): string {
  const [path = ''] = target.split('?');
  const values = path.split('/');
  const parts = route
    .split('/')
    .map((name, i) => ({ isGiven: name.startsWith('{'), value: values[i] ?? '' }));
  const word = parts.findLast(({ isGiven }) => !isGiven)?.value ?? '';
  const given = parts.filter(({ isGiven }) => isGiven).map(({ value }) => value.toUpperCase());
  return [word, ...given].join('-');
}
