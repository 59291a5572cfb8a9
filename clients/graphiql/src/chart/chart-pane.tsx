import { useEffect, useId, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { learnSourceNames } from '../cached-sources.ts';
import { type Exchange, lastExchange } from '../exchange.ts';
import { useTabLook } from '../looks.ts';
import { loadSettings } from '../settings.ts';
import { sourceOf } from '../source-names.ts';
import { useStore } from '../store.ts';
import { looksDark, onLooks } from '../view.ts';
import { Warnings } from '../warnings.tsx';
import { listsIn } from './answer-lists.ts';
import { AnswerTable } from './answer-table.tsx';
import { askedIn, undrawnOf } from './asked.ts';
import { CountryPicker } from './country-picker.tsx';
import { usePictures } from './drawable.ts';
import { MAX_PICTURES, type Picture } from './picture.ts';
import { PictureView } from './picture-view.tsx';
import { Scatter } from './scatter.tsx';
import { removedFrom, withoutMembers } from './subjects.ts';
import './chart.css';

/** The last response as pictures of its figures, and as tables of its lists. */
export default function ChartPane() {
  const exchange = useStore(lastExchange);
  if (exchange === null) return <p>Run an operation that holds figures, and they are drawn here.</p>;
  return <Answer exchange={exchange} />;
}

function Answer({ exchange }: { readonly exchange: Exchange }) {
  const { answer } = exchange;
  const pictures = usePictures(exchange);
  const { before } = exchange;
  const isFailed = pictures?.length === 0 && (answer.errors ?? []).length > 0;
  const earlier = usePictures(isFailed ? before : null);
  useEffect(() => {
    const isNameless = (picture: Picture) =>
      picture.figures.some((figure) => figure.source !== null && sourceOf(figure) === null);
    if (pictures?.some(isNameless)) learnSourceNames().catch(() => {});
  }, [pictures]);
  // What was found before stays in its place until the next answer is looked through, and the focus with it.
  const found = useRef<FoundPicturesProps>(null);
  if (pictures !== null && earlier !== null) found.current = { exchange, ownPictures: pictures, earlier };
  if (found.current === null) return <p role="status">Looking for figures …</p>;
  return <FoundPictures {...found.current} />;
}

interface FoundPicturesProps {
  readonly exchange: Exchange;
  readonly ownPictures: readonly Picture[];
  /** Pictures of the run before, if this one failed. */
  readonly earlier: readonly Picture[];
}

function FoundPictures({ exchange, ownPictures, earlier }: FoundPicturesProps) {
  const { operation, answer, before } = exchange;
  const { query, operationName } = operation;
  const pictures = ownPictures.length > 0 ? ownPictures : earlier;
  const [{ isTable: wantsTable, pictures: looks }, change] = useTabLook();
  const isTable = wantsTable || pictures.length === 0;
  const setWantsTable = (wanted: boolean) => change({ isTable: wanted });
  const { drawn } = exchange;
  const isSynthetic = useSynthetic();
  const undrawn = useMemo(
    () =>
      ownPictures.length === 0
        ? ''
        : undrawnOf(
            askedIn(drawn.query, operation.variables ?? {}, operationName),
            ownPictures.flatMap(({ figures }) => figures),
          ),
    [ownPictures, drawn, operation, operationName],
  );
  const lists = useMemo(
    () => (isTable ? listsIn(query, operationName, answer.data) : []),
    [isTable, query, operationName, answer],
  );
  const removed = useMemo(() => removedFrom(pictures, looks), [pictures, looks]);
  return (
    <div className="charts">
      <Warnings />
      <div className="views">
        <fieldset>
          <legend>{operationName === undefined ? 'The last response' : `Of ${operationName}`}</legend>
          {pictures.length > 0 && (
            <button type="button" aria-pressed={!isTable} onClick={() => setWantsTable(false)}>
              Pictures
            </button>
          )}
          <button type="button" aria-pressed={isTable} onClick={() => setWantsTable(true)}>
            Table
          </button>
        </fieldset>
        <CountryPicker exchange={exchange} pictures={pictures} />
      </div>
      {earlier.length > 0 && before !== null && !isTable && (
        <p className="earlier" role="note">
          This run brought no figures: Errors says why. The picture is that of the run before, at{' '}
          {clockTime(before.at)}.
        </p>
      )}
      {isTable &&
        pictures.length === 0 &&
        ((answer.errors ?? []).length > 0 ? (
          <p>
            This run {answer.data == null ? 'was refused or failed' : 'brought no figures'}: Errors says why.
          </p>
        ) : (
          <p>
            The last response holds no figures with a <code>value</code>, so there is nothing to draw.
          </p>
        ))}
      {undrawn !== '' && !isTable && <p role="note">No figures of any country: {undrawn}.</p>}
      {isTable ? (
        <AnswerTable lists={lists} removed={removed} isSynthetic={isSynthetic} />
      ) : (
        <Pictures pictures={pictures} isSynthetic={isSynthetic} />
      )}
    </div>
  );
}

/** A dozen pictures at the most; of more, those that somebody asks for come first. */
function Pictures({
  pictures,
  isSynthetic,
}: {
  readonly pictures: readonly Picture[];
  readonly isSynthetic: boolean;
}) {
  const [asked, setAsked] = useState<readonly string[]>([]);
  const isDark = useDark();
  const [{ pictures: looks }] = useTabLook();
  const left = useMemo(
    () => pictures.map((picture) => withoutMembers(picture, looks[picture.key]?.removed ?? [])),
    [pictures, looks],
  );
  const byKey = new Map(pictures.map((picture) => [picture.key, picture]));
  const first = asked.flatMap((key) => byKey.get(key) ?? []);
  const shown = [...first, ...pictures.filter((picture) => !first.includes(picture))].slice(0, MAX_PICTURES);
  return (
    <>
      {pictures.length > MAX_PICTURES && (
        <Choice pictures={pictures} ask={(key) => setAsked([key, ...asked.filter((one) => one !== key)])} />
      )}
      {pictures.length <= MAX_PICTURES && (
        <Scatter pictures={left} isSynthetic={isSynthetic} isDark={isDark} />
      )}
      {shown.map((picture) => (
        <PictureView key={picture.key} picture={picture} isSynthetic={isSynthetic} isDark={isDark} />
      ))}
    </>
  );
}

function Choice({
  pictures,
  ask,
}: {
  readonly pictures: readonly Picture[];
  readonly ask: (key: string) => void;
}) {
  const id = useId();
  const [text, setText] = useState('');
  const nameOf = ({ title, unit }: Picture) => (title === unit ? title : `${title}, ${unit}`);
  const onChange = (typed: string) => {
    const picture = pictures.find((one) => nameOf(one) === typed);
    setText(picture === undefined ? typed : '');
    if (picture !== undefined) ask(picture.key);
  };
  return (
    <p className="choice">
      <label htmlFor={id}>
        {MAX_PICTURES} of {pictures.length} pictures. Show another
      </label>
      <input
        id={id}
        list={`${id}-all`}
        value={text}
        placeholder="name of an indicator"
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={`${id}-all`}>
        {pictures.map((picture) => (
          <option key={picture.key} value={nameOf(picture)} />
        ))}
      </datalist>
    </p>
  );
}

/** True if the figures are those of the embedded sandbox. */
function useSynthetic(): boolean {
  const [isSynthetic, setSynthetic] = useState(false);
  useEffect(() => {
    loadSettings().then(
      ({ demoKeys }) => setSynthetic(demoKeys !== null),
      () => {},
    );
  }, []);
  return isSynthetic;
}

/** Also if it changes before this is mounted, as on paper. */
function useDark(): boolean {
  return useSyncExternalStore(onLooks, looksDark);
}

/** @param at milliseconds since the epoch */
function clockTime(at: number): string {
  return new Date(at).toLocaleTimeString();
}
