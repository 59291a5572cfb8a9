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

/**
 * Pixels below which a picture is that of a telephone: names stand above bars, those of lines in the legend alone, and the legend
 * of a map below it, not on the sea.
 */
export const NARROW = 520;

/** The longest beginning of a text that has room in so many pixels, with an ellipsis for the missing rest. */
export function fitted(text: string, pixels: number): string {
  if (widthOf(text) <= pixels) return text;
  const letters = [...text];
  while (letters.length > 1 && widthOf(`${letters.join('')}…`) > pixels) letters.pop();
  return `${letters.join('').trimEnd()}…`;
}
