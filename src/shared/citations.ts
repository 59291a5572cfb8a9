import { type NamedSource, nameAndPage } from './source-names.ts';

/** Figures that one source published in one release. */
export interface Cited {
  readonly source: string;
  /** Null if the key alone is known. */
  readonly named: NamedSource | null;
  /** The measure and the places that the figures are of. */
  readonly title: string;
  /** Year or period of the figures, or their range. */
  readonly period: string;
  /** The service that the figures come through. */
  readonly via: NamedSource;
  /** Release of the provider's dataset; null if none is named. */
  readonly release: string | null;
  /** RFC 3339; null if it isn't known. */
  readonly retrievedAt: string | null;
  /** Address of the same figures at the service; null if none is public. */
  readonly dataUrl: string | null;
}

export type CitationStyle = 'TEXT' | 'BIBTEX';

export function citationOf(cited: Cited, style: CitationStyle): string {
  return style === 'TEXT' ? asText(cited) : asBibtex(cited);
}

function asText({ source, named, title, period, via, release, retrievedAt, dataUrl }: Cited): string {
  const parts = [
    named?.name ?? source,
    `${plain(title)}, ${period}`,
    release === null ? null : `Dataset release ${release}`,
    `Via ${nameAndPage(via)}`,
    retrievedAt === null ? null : `Retrieved ${dayOf(retrievedAt)}`,
  ];
  const sentences = parts.flatMap((part) => (part === null ? [] : [plain(part).replace(/\.?$/, '.')]));
  const url = named?.url ?? dataUrl;
  return [...sentences, ...(url === null ? [] : [url])].join(' ');
}

function asBibtex({ source, named, title, period, via, release, retrievedAt, dataUrl }: Cited): string {
  const key = [source, title, period, release ?? ''].map(wordOf).filter(Boolean).join('_');
  const url = named?.url ?? dataUrl;
  const fields = [
    ['author', `{${inTex(named?.name ?? source)}}`],
    ['title', `{${inTex(title)}, ${inTex(period)}}`],
    ['version', release === null ? null : inTex(release)],
    ['howpublished', inTex(`Via ${nameAndPage(via)}`)],
    ['year', retrievedAt?.slice(0, 4) ?? null],
    ['urldate', retrievedAt === null ? null : dayOf(retrievedAt)],
    ['url', url?.replace(/[{}\\\s]/g, encodeURIComponent) ?? null],
  ].flatMap(([name, value]) => (value === null ? [] : [`  ${name} = {${value}}`]));
  return `@misc{${key},\n${fields.join(',\n')}\n}`;
}

const dayOf = (time: string) => time.slice(0, 10);

const plain = (text: string) => text.replace(/\s+/g, ' ').trim();

/** Text as a part of a BibTeX key. */
const wordOf = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');

const TEX: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
};

const inTex = (text: string) =>
  plain(text).replace(/[\\{}$&#_%~^]/g, (character) => TEX[character] ?? `\\${character}`);
