import { useId, useState } from 'react';
import type { Look } from '../looks.ts';
import type { Figure } from './figures.ts';
import { type BarsPicture, type LinesPicture, MAX_COLOURED, type Picture } from './picture.ts';

/** A subject of a picture: a country, or an indicator of one. */
export interface Member {
  /** Code of a country, or key of an indicator. */
  readonly key: string;
  readonly name: string;
}

/** Members that each have a button to be taken out by; of more, one is searched for. */
const MAX_BUTTONS = 12;

const isOfCountries = ({ figures }: Picture) => new Set(figures.map(({ country }) => country)).size > 1;

function memberOf(picture: Picture): (figure: Figure) => Member {
  return isOfCountries(picture)
    ? ({ country, countryName }) => ({ key: country, name: countryName || country })
    : ({ indicator, indicatorName }) => ({ key: indicator, name: indicatorName });
}

/** The members of a picture by their names. */
function membersOf(picture: Picture): readonly Member[] {
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

interface MembersProps {
  readonly picture: LinesPicture | BarsPicture;
  /** The legend has a button for each that is left. */
  readonly isInLegend: boolean;
  readonly look: Look;
  readonly change: (change: Partial<Look>) => void;
}

/** Buttons that take members out of a picture, and put them back, at no call. */
export function Members({ picture, isInLegend, look: { removed }, change }: MembersProps) {
  const all = membersOf(picture);
  const out = all.filter(({ key }) => removed.includes(key));
  if (all.length < 2 || (isInLegend && out.length === 0)) return null;
  const left = all.filter((one) => !out.includes(one));
  const takeOut = (key: string) => change({ removed: [...removed, key] });
  const putBack = (key: string) => change({ removed: removed.filter((one) => one !== key) });
  return (
    <div className="members controls">
      {all.length <= MAX_BUTTONS ? (
        left.length > 1 &&
        !isInLegend &&
        left.map(({ key, name }) => (
          <button
            key={key}
            type="button"
            className="member"
            aria-label={`Take ${name} out`}
            onClick={() => takeOut(key)}
          >
            {name} <span aria-hidden="true">×</span>
          </button>
        ))
      ) : (
        <Search label="Take out" members={left} choose={takeOut} />
      )}
      {out.map(({ key, name }) => (
        <button
          key={key}
          type="button"
          className="member out"
          aria-label={`Put ${name} back`}
          onClick={() => putBack(key)}
        >
          <s>{name}</s> <span aria-hidden="true">+</span>
        </button>
      ))}
    </div>
  );
}

/** A field that takes a name, or a code, of a list. */
export function Search({
  label,
  members,
  choose,
}: {
  readonly label: string;
  readonly members: readonly Member[];
  readonly choose: (key: string) => void;
}) {
  const id = useId();
  const [text, setText] = useState('');
  const onChange = (typed: string) => {
    const wanted = typed.trim().toLowerCase();
    const found = members.find(({ key, name }) => name.toLowerCase() === wanted || key === typed.trim());
    setText(found === undefined ? typed : '');
    if (found !== undefined) choose(found.key);
  };
  return (
    <span className="search">
      <label htmlFor={id}>{label}</label>{' '}
      <input
        id={id}
        list={`${id}-all`}
        value={text}
        placeholder="name"
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={`${id}-all`}>
        {members.map(({ key, name }) => (
          <option key={key} value={name} />
        ))}
      </datalist>
    </span>
  );
}
