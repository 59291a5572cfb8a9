/** Width of a character in pixels, as many have on average, at 12 pixels of size. */
export const CHARACTER = 6.6;

/** Widths of characters in pixels, at 12 pixels of size, in the widest of the fonts that readers have (DejaVu Sans). */
const WIDTHS: readonly (readonly [RegExp, number])[] = [
  [/[fijlrt .,'’]/, 4.9],
  [/[mwMW]/, 11.9],
  [/\p{Lu}/u, 9.4],
];

/** Measures a name in pixels, at the most: a few wide letters are more than many of the average. */
export function widthOf(name: string): number {
  return [...name].reduce((sum, letter) => sum + (WIDTHS.find(([some]) => some.test(letter))?.[1] ?? 7.7), 0);
}
