/** A block of code of a document. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** The line that it begins on. */
  readonly line: number;
  /** The paragraph behind it. */
  readonly after: string;
}

/** How to add a route, by the example of one that isn't there: `recipe.test.ts` follows it to the letter. */
const RECIPE = /^## How to add a route[\s\S]*?(?=^## )/m;

/** A document without the part whose blocks need the route that it adds. Each line keeps its number. */
export const withoutRecipe = (markdown: string) =>
  markdown.replace(RECIPE, (text) => '\n'.repeat(text.split('\n').length - 1));

/** The blocks of code of a document, without their fences. */
export function blocksIn(markdown: string): Block[] {
  return [
    ...markdown.matchAll(/^```(\w*).*\n([\s\S]*?)^```$\n*([^\n`#|<][\s\S]*?(?=\n\n|$(?![\s\S])))?/gm),
  ].map(({ index, 1: language = '', 2: text = '', 3: after = '' }) => ({
    language,
    text,
    line: markdown.slice(0, index).split('\n').length,
    after,
  }));
}

/** The texts of those in a language. */
export function blocksOf(markdown: string, language: string): string[] {
  return blocksIn(markdown)
    .filter((block) => block.language === language)
    .map(({ text }) => text);
}
