/** A code block of a document. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** Line number of its first line. */
  readonly line: number;
  /** The paragraph after it. */
  readonly after: string;
}

/** Adds an example route: `recipe.test.ts` follows it to the letter. */
const RECIPE = /^# How to add a route[\s\S]*/;

/** Pages from an empty folder: `getting-started.test.ts` follows them to the letter. */
const PAGES = /^## Plain fetch[\s\S]*?(?=^## When something fails)/m;

/** A plugin from an empty folder: `package.test.ts` follows it to the letter. */
const PLUGIN = /^```sh\nnpm init[\s\S]*?(?=^`node server\.ts`)/m;

/** The text of a file that a document shows under its name; empty if there is none. */
export const fileIn = (markdown: string, name: string) =>
  markdown.split(`**\`${name}\`**\n\n`)[1]?.match(/^```\w+\n([\s\S]*?)^```$/m)?.[1] ?? '';

/** A document without the parts that other tests follow. Line numbers stay the same. */
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
  /** The name of a file with this text; null for commands, one per line. */
  readonly file: string | null;
  readonly text: string;
}

/** The pages of a document, by its headings. Pages of deeper levels begin with the steps of the level above. */
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

/** The code blocks of a document, without their fences. */
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
