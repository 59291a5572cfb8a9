/** The tag of answers with so many figures that no header holds all of their tags. */
export const ALL_FIGURES = 'all-figures';

/** Characters that would end a tag are spelled as an address spells them. */
export const sourceTag = (key: string): string => `source-${encodeURIComponent(key)}`;

export const indicatorTag = (key: string): string => `indicator-${encodeURIComponent(key)}`;
