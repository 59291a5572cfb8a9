/**
 * `node bench/soak/picture.ts 256.log 512.log 1024.log 512-redis.log > docs/images/soak.svg`: draws a chart from logs of
 * `npm run soak`, one line for each. Words after the number in the name of a log label its line.
 * `npm run soak -- --together --picture FILE` runs soaks and draws them.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Memory of a program within its budget, in MB (10⁶ bytes). */
export interface SoakSeries {
  readonly budgetMb: number;
  /** Label of its line. */
  readonly note: string;
  /** The peak of each minute. */
  readonly points: readonly { readonly minute: number; readonly mostMb: number }[];
}

const LINE = /^(\d+) MB, minute ([\d.]+): [\d.]+ MB, ([\d.]+) at most;/gm;

/** @param name of the log file */
export function seriesIn(text: string, name: string): SoakSeries {
  const lines = [...text.matchAll(LINE)];
  return {
    budgetMb: Number(lines[0]?.[1]),
    note: noteIn(name),
    points: lines.map(([, , minute, most]) => ({ minute: Number(minute), mostMb: Number(most) })),
  };
}

function noteIn(name: string): string {
  const words = basename(name, '.log')
    .replace(/^\d+-?/, '')
    .replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const SIZE = { width: 760, height: 420 };
const PLOT = { left: 72, right: 190, top: 20, bottom: 44 };

/** Has a background of its own, so that it is readable on light and dark pages. */
const STYLE = `
  svg { font: 13px system-ui, sans-serif }
  .ground { fill: #fff } text { fill: #333 } .grid { stroke: #e4e4e4 } .budget { stroke: #777; stroke-dasharray: 6 4 }
  .line { fill: none; stroke-width: 2 }
  .c0 { stroke: #0b6bcb } .c1 { stroke: #b3460b } .c2 { stroke: #1b7a3d } .c3 { stroke: #8a3ab9 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #16181c } text { fill: #d8d8d8 } .grid { stroke: #31353b } .budget { stroke: #a0a0a0 }
    .c0 { stroke: #6cb2ff } .c1 { stroke: #ffa166 } .c2 { stroke: #6fd08f } .c3 { stroke: #d4a1f5 }
  }`;

/** Draws memory over time, with the budgets as dashed lines. */
export function drawSoaks(all: readonly SoakSeries[]): string {
  const budgets = [...new Set(all.map(({ budgetMb }) => budgetMb))].toSorted((a, b) => a - b);
  const lastMinute = Math.max(...all.flatMap(({ points }) => points.map(({ minute }) => minute)));
  const mostMb = 1.08 * Math.max(...budgets);
  const x = (minute: number) =>
    (PLOT.left + (minute / lastMinute) * (SIZE.width - PLOT.left - PLOT.right)).toFixed(1);
  const y = (mb: number, lower = 0) =>
    (PLOT.top + (1 - mb / mostMb) * (SIZE.height - PLOT.top - PLOT.bottom) + lower).toFixed(1);
  const right = x(lastMinute);
  const across = (kind: string, mb: number) =>
    `<line class="${kind}" x1="${PLOT.left}" x2="${right}" y1="${y(mb)}" y2="${y(mb)}"/>`;
  const grid = steps(mostMb, 200).map(
    (mb) =>
      `${across('grid', mb)}<text x="${PLOT.left - 8}" y="${y(mb, 4)}" text-anchor="end">${mb.toLocaleString('en')}</text>`,
  );
  const minutes = steps(lastMinute, lastMinute > 12 ? 5 : 1).map(
    (minute) =>
      `<text x="${x(minute)}" y="${SIZE.height - PLOT.bottom + 18}" text-anchor="middle">${minute}</text>`,
  );
  const bounds = budgets.map(
    (mb) =>
      `${across('budget', mb)}<text x="${Number(right) + 8}" y="${y(mb, 4)}">MEMORY_MB=${mb.toLocaleString('en', { useGrouping: false })}</text>`,
  );
  const lines = all.map(({ points }, i) => {
    const path = points.map(({ minute, mostMb: mb }, at) => `${at === 0 ? 'M' : 'L'}${x(minute)} ${y(mb)}`);
    return `<path class="line c${i}" d="${path.join(' ')}"/>`;
  });
  const ends = spread(
    all.map(({ points }) => Number(y(points.at(-1)?.mostMb ?? 0))),
    budgets.map((mb) => Number(y(mb))),
  );
  const names = all.map(({ points, note }, i) => {
    const at = Number(right) + 8;
    const words = `${Math.round(points.at(-1)?.mostMb ?? 0)} MB${note === '' ? '' : `, ${note}`}`;
    const lineY = (ends[i] ?? 0).toFixed(1);
    return `<line class="line c${i}" x1="${at}" x2="${at + 14}" y1="${lineY}" y2="${lineY}"/><text x="${at + 20}" y="${((ends[i] ?? 0) + 4).toFixed(1)}">${words}</text>`;
  });
  const label = `Memory of gateways under the load of 200 keys over ${Math.round(lastMinute)} minutes, each below its budget of ${budgets.join(', ')} MB`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" role="img" aria-label="${label}">
<style>${STYLE}
</style>
<rect class="ground" width="100%" height="100%" rx="6"/>
${[...grid, ...minutes, ...bounds, ...lines, ...names].join('\n')}
<text x="${(PLOT.left + Number(right)) / 2}" y="${SIZE.height - 8}" text-anchor="middle">minutes</text>
<text transform="translate(20 ${(SIZE.height - PLOT.bottom) / 2}) rotate(-90)" text-anchor="middle">resident memory, most of a minute, MB</text>
</svg>
`;
}

const steps = (most: number, by: number) =>
  Array.from({ length: Math.floor(most / by) + 1 }, (_, i) => i * by);

/** Minimum distance of two labels, in pixels. */
const NAME_HEIGHT = 18;

/** Moves labels down so that none overlaps another, or that of a budget. */
function spread(wanted: readonly number[], taken: readonly number[]): readonly number[] {
  const placed = [...taken];
  const ends = new Map<number, number>();
  for (const [i, at] of [...wanted.entries()].toSorted(([, a], [, b]) => a - b)) {
    let y = at;
    for (const other of placed.toSorted((a, b) => a - b))
      if (Math.abs(other - y) < NAME_HEIGHT) y = other + NAME_HEIGHT;
    placed.push(y);
    ends.set(i, y);
  }
  return wanted.map((_, i) => ends.get(i) ?? 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(
    drawSoaks(process.argv.slice(2).map((file) => seriesIn(readFileSync(file, 'utf8'), file))),
  );
