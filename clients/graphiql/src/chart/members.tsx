import { useId, useState } from 'react';
import type { Look } from '../looks.ts';
import type { BarsPicture, LinesPicture } from './picture.ts';
import { isOfCountries, type Member, membersOf } from './subjects.ts';

/** Members that each have a button to be taken out by; of more, one is searched for. */
const MAX_BUTTONS = 12;

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
      {all.length <= MAX_BUTTONS
        ? left.length > 1 &&
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
        : !isOfCountries(picture) && <Search label="Take out" members={left} choose={takeOut} />}
      {out.length > MAX_BUTTONS ? (
        <button type="button" className="member out" onClick={() => change({ removed: [] })}>
          Put all {out.length} back
        </button>
      ) : (
        out.map(({ key, name }) => (
          <button
            key={key}
            type="button"
            className="member out"
            aria-label={`Put ${name} back`}
            onClick={() => putBack(key)}
          >
            <s>{name}</s> <span aria-hidden="true">+</span>
          </button>
        ))
      )}
    </div>
  );
}

/** A field that takes a name, or a key, of a list. */
function Search({
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
    const member = members.find(({ key, name }) => name.toLowerCase() === wanted || key === typed.trim());
    setText(member === undefined ? typed : '');
    if (member !== undefined) choose(member.key);
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
