import { differenceOf } from '../../../../src/shared/decimals.ts';
import { amountOf, labelOf } from './figure-words.ts';
import type { Shown } from './notes.ts';
import { shortNumber } from './numbers.ts';
import { type LinesPicture, type Picture, type Point, timeOf } from './picture.ts';

/** A value of somebody at a time, in words. */
interface Told {
  readonly name: string;
  readonly value: number;
  readonly time: string;
}

/**
 * Tells in words what a picture shows: highest and lowest, since when, and by how much, each with its time. Lines are compared
 * over the times that all of them have; where there is none, by their last values. Empty if there is nothing to tell.
 */
export function storyOf(picture: Picture, shown: Shown): string {
  if (picture.kind === 'values') return '';
  if (picture.kind === 'lines') {
    const [only] = picture.lines;
    return picture.lines.length > 1 || only === undefined ? ofLines(picture) : ofOne(picture);
  }
  // Values that no scale can hold are told of elsewhere.
  const figures = shown === 'map' && picture.map !== null ? picture.map : picture.bars;
  return ofSeveral(
    figures.map((figure) => ({ name: labelOf(figure), value: figure.value, time: timeOf(figure) })),
    picture.unit,
  );
}

const amount = (value: number, unit: string | null) => amountOf(value, unit, shortNumber(value));

const apart = (a: number, b: number) => amount(Math.abs(differenceOf(a, b)), null);

/** Something is on a day, and in any longer time. */
const wordFor = (time: string) => (/^\d{4}-\d\d-\d\d$/.test(time) ? 'on' : 'in');

const inTime = ({ time }: Pick<Told, 'time'>) => (time === '' ? '' : ` ${wordFor(time)} ${time}`);

/** The same, at the beginning of a sentence. */
const atFirst = (time: string) => `${wordFor(time) === 'on' ? 'On' : 'In'} ${time}`;

const byValue = (told: readonly Told[]) => told.toSorted((a, b) => b.value - a.value);

function ofSeveral(told: readonly Told[], unit: string): string {
  const order = byValue(told);
  const [top, low] = [order[0], order.at(-1)];
  if (top === undefined || low === undefined) return '';
  if (order.length === 1) return `${top.name}: ${amount(top.value, unit)}${inTime(top)}.`;
  const areOne = order.every(({ time }) => time === top.time);
  const [when, topTime, lowTime] = areOne
    ? [top.time === '' ? '' : `${atFirst(top.time)}, `, '', '']
    : ['', inTime(top), inTime(low)];
  if (top.value === low.value)
    return `${when === '' ? 'All' : `${when}all`} have ${amount(top.value, unit)}.`;
  return `${when}${top.name} is highest with ${amount(top.value, unit)}${topTime}, ${low.name} lowest with ${amount(low.value, null)}${lowTime}: ${apart(top.value, low.value)} less.`;
}

const toldBy = (name: string, { value, figure }: Point): Told => ({
  name,
  value: value ?? 0,
  time: figure === null ? '' : timeOf(figure),
});

const isThere = ({ value }: Point) => value !== null;

function ofOne({ lines, unit }: LinesPicture): string {
  const told = lines.flatMap(({ name, points }) =>
    points.filter(isThere).map((point) => toldBy(name, point)),
  );
  const [first, last] = [told[0], told.at(-1)];
  if (first === undefined || last === undefined || first === last) return ofSeveral(told, unit);
  const order = byValue(told);
  const [top, low] = [order[0] as Told, order.at(-1) as Told];
  const change =
    first.value === last.value
      ? `as much as${inTime(first)}`
      : `${apart(last.value, first.value)} ${last.value > first.value ? 'more' : 'less'} than${inTime(first)}`;
  return `${last.name}: ${amount(last.value, unit)}${inTime(last)}, ${change}. Highest${inTime(top)} (${amount(top.value, null)}), lowest${inTime(low)} (${amount(low.value, null)}).`;
}

function ofLines({ lines, unit }: LinesPicture): string {
  const byTime = lines.map(({ points }) => new Map(points.filter(isThere).map((point) => [point.at, point])));
  const [one, ...others] = byTime;
  const common = [...(one?.keys() ?? [])].filter((at) => others.every((points) => points.has(at)));
  const toldAt = (at: number | undefined) =>
    lines.flatMap(({ name, points }, i) => {
      const point = at === undefined ? points.findLast(isThere) : byTime[i]?.get(at);
      return point === undefined ? [] : [toldBy(name, point)];
    });
  const last = common.at(-1);
  const now = byValue(toldAt(last));
  const [top, low] = [now[0], now.at(-1)];
  if (common.length < 2 || top === undefined || low === undefined || top.value === low.value)
    return ofSeveral(now, unit);
  const orders = common.map((at) => byValue(toldAt(at)));
  /** Words on the time since when a line has had its end of the order, if that is longer than the last time. */
  const since = (place: 0 | -1, { name }: Told) => {
    const holds = (order: readonly Told[]) => {
      const mine = order.find((told) => told.name === name)?.value;
      return mine === order.at(place)?.value;
    };
    const begin = orders.findLastIndex((order) => !holds(order)) + 1;
    const [from] = orders[begin] ?? [];
    return from === undefined || begin === orders.length - 1 ? '' : ` (since ${from.time})`;
  };
  const isLater = lines.some(({ points }) =>
    points.some((point) => isThere(point) && point.at > (last ?? 0)),
  );
  const when = `${atFirst(top.time)}${isLater ? ', the last that all have' : ''}`;
  const ends = `${when}, ${top.name} is highest${since(0, top)} with ${amount(top.value, unit)}, ${low.name} lowest${since(-1, low)} with ${amount(low.value, null)}: ${apart(top.value, low.value)} less.`;
  return `${ends} ${changesIn(toldAt(common[0]), now)}`;
}

/** Tells who has changed the most from one time to another. */
function changesIn(then: readonly Told[], now: readonly Told[]): string {
  const changes = then.flatMap(({ name, value, time }) => {
    const told = now.find((one) => one.name === name);
    return told === undefined ? [] : [{ name, value: differenceOf(told.value, value), time }];
  });
  const order = byValue(changes);
  const [up, down] = [order[0], order.at(-1)];
  const moves = [
    up !== undefined && up.value > 0 ? `${up.name} has risen the most, by ${apart(up.value, 0)}` : '',
    down !== undefined && down.value < 0
      ? `${down.name} has fallen the most, by ${apart(down.value, 0)}`
      : '',
  ].filter((move) => move !== '');
  return moves.length === 0 ? '' : `Since ${up?.time}, ${moves.join(', and ')}.`;
}
