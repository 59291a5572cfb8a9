import { askedIn } from '../chart/asked.ts';
import { DARK, LIGHT } from '../chart/colours.ts';
import { draw } from '../chart/drawing.ts';
import { figuresIn } from '../chart/figures.ts';
import { notesOf, subtitleOf } from '../chart/notes.ts';
import { picturesOf } from '../chart/picture.ts';
import { PLAIN } from '../chart/plain-look.ts';
import { roomFor } from '../chart/room.ts';
import { canMap, drawnOf, inWords, shownAs } from '../chart/shown.ts';
import { storyOf } from '../chart/story.ts';
import { looksDark } from '../view.ts';
import '../chart/chart.css';

/**
 * Draws the first picture of an answer as the pane for pictures will, without the controls that change it.
 * Leaves the place as it is if there is none.
 */
export function drawFirst(place: Element, query: string, data: unknown, isSynthetic: boolean): void {
  const [picture] = picturesOf(figuresIn(query, {}, undefined, data), askedIn(query, {}, undefined));
  if (picture === undefined) return;
  const shown = shownAs(picture, PLAIN, canMap(picture));
  const drawn = drawnOf(picture, shown, PLAIN);
  if (drawn.kind === 'values') return;
  const story = storyOf(drawn, shown);
  const charts = element('div', 'charts');
  const figure = element('figure', 'picture');
  const frame = element('div', `frame ${shown}`);
  const under = element(
    'div',
    'under',
    ...(story === '' ? [] : [element('p', 'story', story)]),
    ...notesOf(drawn, shown, isSynthetic).map((note) => element('p', '', note)),
  );
  const caption = element(
    'figcaption',
    '',
    element('strong', '', drawn.title),
    element('span', '', subtitleOf(drawn, shown)),
  );
  frame.role = 'img';
  frame.ariaLabel = inWords(drawn, shown);
  figure.append(caption, frame, under);
  charts.append(figure);
  place.replaceChildren(charts);
  const colours = looksDark() ? DARK : LIGHT;
  const look = { width: frame.clientWidth, room: roomFor(frame), colours, hasLegend: false };
  const svg = draw(drawn, shown, [], look);
  if (svg !== null) frame.append(svg);
  svg?.setAttribute('aria-hidden', 'true');
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
}
