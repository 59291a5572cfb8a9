import { COUNTRY_NUMBERS } from './countries.ts';
import type { Figure } from './figures.ts';
import type { Scope } from './operation-edit.ts';
import { barsOf, MAX_COLOURED, type Picture } from './picture.ts';
import type { TabLook } from './plain-look.ts';

/** A subject of a picture: a country, or an indicator of one. */
export interface Member {
  /** Code of a country, or key of an indicator. */
  readonly key: string;
  readonly name: string;
}

export const isOfCountries = ({ figures }: Picture) =>
  new Set(figures.map(({ country }) => country)).size > 1;

function memberOf(picture: Picture): (figure: Figure) => Member {
  return isOfCountries(picture)
    ? ({ country, countryName }) => ({ key: country, name: countryName || country })
    : ({ indicator, indicatorName }) => ({ key: indicator, name: indicatorName });
}

/** Codes of the countries that can each be taken out of some of these pictures. */
export function countriesOf(pictures: readonly Picture[]): readonly string[] {
  const codes = pictures.flatMap((picture) =>
    picture.kind !== 'values' && isOfCountries(picture) ? picture.figures.map(({ country }) => country) : [],
  );
  return [...new Set(codes)].filter((code) => code in COUNTRY_NUMBERS);
}

/** Codes of the countries that are taken out of all pictures that have them. */
export function removedFrom(pictures: readonly Picture[], looks: TabLook['pictures']): readonly string[] {
  const left = pictures.flatMap((picture) => {
    const removed = looks[picture.key]?.removed ?? [];
    return countriesOf([picture]).filter((code) => !removed.includes(code));
  });
  return countriesOf(pictures).filter((code) => !left.includes(code));
}

/** The members of a picture by their names. */
export function membersOf(picture: Picture): readonly Member[] {
  const of = memberOf(picture);
  const members = new Map(picture.figures.map((figure) => [of(figure).key, of(figure)]));
  return [...members.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/**
 * Keys of members by the names of their lines; null if a member has several lines, or there are more than
 * have a colour.
 */
export function membersByLine(picture: Picture): ReadonlyMap<string, string> | null {
  if (picture.kind !== 'lines' || picture.lines.length > MAX_COLOURED) return null;
  const keys = new Map(membersOf(picture).map(({ key, name }) => [name, key]));
  const isEach = keys.size === picture.lines.length && picture.lines.every(({ name }) => keys.has(name));
  return isEach ? keys : null;
}

/** A picture without some of its members; the whole if nothing would be left. */
export function withoutMembers(picture: Picture, removed: readonly string[]): Picture {
  if (removed.length === 0 || picture.kind === 'values') return picture;
  const of = memberOf(picture);
  const isLeft = (figure: Figure) => !removed.includes(of(figure).key);
  const figures = picture.figures.filter(isLeft);
  if (figures.length === 0) return picture;
  if (picture.kind === 'lines') {
    const lines = picture.lines.filter(({ points }) =>
      points.some(({ figure }) => figure !== null && isLeft(figure)),
    );
    return { ...picture, lines, figures };
  }
  return {
    ...picture,
    figures,
    bars: picture.bars.filter(isLeft),
    map: picture.map === null ? null : picture.map.filter(isLeft),
  };
}

/** A picture of figures of whole countries, or of places; the whole if it has one kind alone. */
export function ofScope(picture: Picture, scope: Scope): Picture {
  if (scope === 'ALL' || picture.kind === 'values' || !hasBoth(picture)) return picture;
  const isOf = (figure: Figure) => figure.isNational === (scope === 'NATIONAL');
  const figures = picture.figures.filter(isOf);
  if (picture.kind === 'lines') {
    const lines = picture.lines.filter(({ points }) =>
      points.some(({ figure }) => figure !== null && isOf(figure)),
    );
    return { ...picture, lines, figures };
  }
  return {
    ...picture,
    figures,
    bars: picture.bars.filter(isOf),
    map: scope === 'NATIONAL' ? picture.map : null,
  };
}

export function hasBoth({ figures }: Picture): boolean {
  return figures.some(({ isNational }) => isNational) && figures.some(({ isNational }) => !isNational);
}

/** A figure that is the only one makes a bar: the table that GraphiQL shows of it is no picture. */
export function alone(picture: Picture): Picture {
  const [figure, ...rest] = picture.kind === 'values' ? picture.figures : [];
  if (figure === undefined || rest.length > 0) return picture;
  return barsOf(figure.unit ?? figure.indicator, figure.indicator, [figure]);
}
