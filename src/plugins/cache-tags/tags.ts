/** For answers with more tags than fit a header. */
export const ALL_FIGURES = 'all-figures';

/** Encodes characters that would end a tag. */
export const sourceTag = (key: string): string => `source-${encodeURIComponent(key)}`;

export const indicatorTag = (key: string): string => `indicator-${encodeURIComponent(key)}`;

/** The last word of the path that is no parameter, then the parameters. */
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
