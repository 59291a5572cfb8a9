/** The text below the first heading `## …` of a document that fits, up to the next; null if none does. */
export function sectionBelow(document: string, isIts: (heading: string) => boolean): string | null {
  const [, ...sections] = document.split(/^## /m);
  for (const section of sections) {
    const [heading = ''] = section.split('\n', 1);
    if (isIts(heading)) return section.slice(heading.length + 1);
  }
  return null;
}
