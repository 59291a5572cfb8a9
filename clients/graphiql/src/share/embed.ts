import { frameOf } from '../../../../src/shared/drawings.ts';
import type { Picture } from '../chart/picture.ts';
import { type Look, PLAIN } from '../chart/plain-look.ts';
import type { Operation } from '../operation.ts';
import type { PublicDocument } from '../trusted.ts';

/** Choices of a look that somebody has changed. */
function changesOf(look: Partial<Look>): readonly (readonly [string, unknown])[] {
  return Object.entries(look).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(PLAIN[name as keyof Look]),
  );
}

/** Parameters by which an address shows the picture that is seen: the first that somebody has changed, or else the first. */
export function lookParameters(
  pictures: readonly Picture[],
  looks: Readonly<Record<string, Partial<Look>>>,
): URLSearchParams {
  const drawn = pictures.filter(({ kind }) => kind !== 'values');
  const changed = drawn.find(({ key }) => changesOf(looks[key] ?? {}).length > 0);
  const parameters = new URLSearchParams();
  if (changed === undefined) return parameters;
  const [first] = changed.figures;
  if (changed !== drawn[0] && first !== undefined) parameters.set('picture.indicator', first.indicator);
  for (const [name, value] of changesOf(looks[changed.key] ?? {}))
    for (const item of [value].flat()) parameters.append(`picture.${name}`, String(item));
  return parameters;
}

/** The address of a public document with its parameters. */
export function addressWith(
  url: string,
  variables: Operation['variables'] = {},
  look = new URLSearchParams(),
): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(variables)) if (value != null) given.set(name, String(value));
  for (const [name, value] of look) given.append(name, value);
  return given.size === 0 ? url : `${url}?${given.toString().replaceAll('%2C', ',')}`;
}

/** A frame of a public document, for a page of others. */
export function asEmbed(
  { url, title }: Pick<PublicDocument, 'url' | 'title'>,
  variables?: Operation['variables'],
  look?: URLSearchParams,
): string {
  return `${frameOf(addressWith(url, variables, look), title, new URL('frames.js', url).href)}\n`;
}

/**
 * Says why an operation has no frame.
 * @param published documents that have an address
 */
export function withoutFrame(query: string, published: readonly PublicDocument[]): string {
  const nameOf = (text: string) => /\bquery\s+(\w+)/.exec(text)?.[1];
  const alike = published.find(({ text }) => nameOf(text) !== undefined && nameOf(text) === nameOf(query));
  if (alike === undefined)
    return published.length === 0
      ? 'This gateway has no public pages. To make one of this operation: Share, Publish.'
      : 'This operation has no public page. To make one: Share, Publish.';
  const variables = Array.from(alike.text.matchAll(/\$(\w+)\s*:/g), ([, name]) => name);
  const takes =
    variables.length === 0 ? 'takes no parameters' : `takes ${[...new Set(variables)].join(', ')}`;
  return `The page of ${nameOf(query)} shows that operation as it was published; this one has been changed. Its address ${takes}.`;
}
