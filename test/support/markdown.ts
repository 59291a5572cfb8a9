/** A block of code of a document. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** The line that it begins on. */
  readonly line: number;
  /** The paragraph behind it. */
  readonly after: string;
}

/** Adds a route, by the example of one that isn't there: `recipe.test.ts` follows it to the letter. */
const RECIPE = /^# How to add a route[\s\S]*/;

/** Pages from an empty folder: `getting-started.test.ts` follows them to the letter. */
const PAGES = /^## Plain fetch[\s\S]*?(?=^## When something fails)/m;

/** A plugin from an empty folder: `package.test.ts` follows it to the letter. */
const PLUGIN = /^```sh\nnpm init[\s\S]*?(?=^`node server\.ts`)/m;

/** The file of a name of a document; an empty text if there is none. */
export const fileIn = (markdown: string, name: string) =>
  markdown.split(`**\`${name}\`**\n\n`)[1]?.match(/^```\w+\n([\s\S]*?)^```$/m)?.[1] ?? '';

/** A document without the parts that other tests follow. Each line keeps its number. */
export const withoutRecipe = (markdown: string) =>
  [RECIPE, PAGES, PLUGIN].reduce(
    (rest, part) => rest.replace(part, (text) => '\n'.repeat(text.split('\n').length - 1)),
    markdown,
  );

/** One page, from an empty folder. */
export interface Recipe {
  readonly name: string;
  readonly steps: readonly Step[];
}

export interface Step {
  /** The name of a file with this text; null for commands, a line each. */
  readonly file: string | null;
  readonly text: string;
}

/** The pages of a document, by its headings; those of a deeper level begin with the steps of the level above. */
export function recipesIn(markdown: string): Recipe[] {
  const [pages = ''] = PAGES.exec(markdown) ?? [];
  let shared: readonly Step[] = [];
  return pages.split(/^(?=#{2,3} )/m).flatMap((section) => {
    const [, level = '', name = ''] = /^(#+) (.*)/.exec(section) ?? [];
    const steps = [...section.matchAll(/(?:^\*\*`(\S+)`\*\*\n\n)?^```\w+\n([\s\S]*?)^```$/gm)].map(
      ([, file = null, text = '']) => ({ file, text }),
    );
    if (level === '###') return { name, steps: [...shared, ...steps] };
    shared = steps;
    return section.includes('\nnpx vite\n') ? { name, steps } : [];
  });
}

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
