import { readFileSync } from 'node:fs';
import { billOf, type OperationBill, pricesOf } from './bills.ts';
import { escapeHtml } from './html.ts';

/** Operations whose bills are drawn, and their titles. */
const DRAWN: Readonly<Record<string, string>> = {
  'bench/operations/countries-three-figures.graphql': 'Three figures of 54 countries',
  'bench/operations/whole-page.graphql': 'A page: lists, figures, a snapshot, sources',
  'bench/operations/lists-and-fields.graphql': 'Figures as lists and fields, at two depths',
  'bench/operations/below-listings.graphql': 'Listings, with a figure of their country',
  'bench/operations/below-indicators.graphql': 'The indicators of health, with a figure of each',
};

/** Up to how many indicators of all countries the price is drawn. */
const MOST_INDICATORS = 60;

/** Pictures are drawn twice, so that their words are as large as the text beside them on any screen. */
const WIDTHS = { wide: 720, narrow: 350 } as const;
type Size = keyof typeof WIDTHS;

export interface DrawnBill extends OperationBill {
  readonly label: string;
}

export interface Step {
  readonly indicators: number;
  readonly calls: number;
}

/** Bills and prices for the pictures, as the gateway tells them. */
export interface Drawn {
  readonly bills: readonly DrawnBill[];
  readonly steps: readonly Step[];
}

export async function gatherDrawn(root: string): Promise<Drawn> {
  const bills: DrawnBill[] = [];
  for (const [file, label] of Object.entries(DRAWN)) {
    bills.push({ label, ...(await billOf(readFileSync(`${root}${file}`, 'utf8'))) });
  }
  const counts = Array.from({ length: MOST_INDICATORS }, (_, i) => i + 1);
  const prices = await pricesOf(counts.map(figuresOfAllCountries));
  return { bills, steps: counts.map((indicators, i) => ({ indicators, calls: prices[i] ?? 0 })) };
}

function figuresOfAllCountries(indicators: number): string {
  const fields = Array.from(
    { length: indicators },
    (_, i) => `f${i}: observation(metricKey: "m${i}") { value }`,
  );
  return `{ countries { name ${fields.join(' ')} } }`;
}

/** A drawing with its caption, and the same as a table for people who can't see it. */
function figure(
  draw: (size: Size) => string,
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly unknown[])[],
): string {
  const drawings = (['wide', 'narrow'] as const).map((size) => draw(size));
  const head = headings.map((heading) => `<th role="columnheader">${heading}</th>`).join('');
  const body = rows
    .map((row) => {
      const cells = row.map(
        (cell, i) => `<td role="cell" data-label="${headings[i]}">${escapeHtml(String(cell))}</td>`,
      );
      return `<tr role="row">${cells.join('')}</tr>`;
    })
    .join('');
  return `<figure class="picture">${drawings.join('\n')}<figcaption>${caption}</figcaption>
<details><summary>In numbers</summary><div class="table"><table role="table"><thead role="rowgroup"><tr role="row">${head}</tr></thead><tbody role="rowgroup">${body}</tbody></table></div></details></figure>`;
}

/** Costs of operations, merged and not: two bars each. */
export function drawBills(bills: readonly DrawnBill[]): string {
  const caption =
    'Upstream calls where nothing is held: <span class="key merged"></span> through the gateway, <span class="key naive"></span> if each field fetched for itself.';
  return figure(
    (size) => billBars(bills, size),
    caption,
    ['Operation', 'Through the gateway', 'Each field for itself'],
    bills.map(({ label, calls, naive }) => [label, calls, naive]),
  );
}

const BAR = { row: 62, height: 12, right: 44 };

function billBars(bills: readonly DrawnBill[], size: Size): string {
  const width = WIDTHS[size];
  const most = Math.max(...bills.map(({ naive }) => naive));
  const lengthOf = (calls: number) => Math.max(2, (calls / most) * (width - BAR.right));
  const bar = (kind: string, calls: number, y: number) =>
    `<rect class="${kind}" x="0" y="${y}" width="${lengthOf(calls).toFixed(1)}" height="${BAR.height}" rx="2"/>
<text class="number ${kind}" x="${(lengthOf(calls) + 8).toFixed(1)}" y="${y + 11}">${calls}</text>`;
  const rows = bills.map(({ label, calls, naive }, i) => {
    const y = i * BAR.row;
    return `<text class="label" x="0" y="${y + 15}">${escapeHtml(label)}</text>
${bar('naive', naive, y + 24)}
${bar('merged', calls, y + 39)}`;
  });
  return `<svg class="${size}" viewBox="0 0 ${width} ${bills.length * BAR.row}" role="img" aria-label="Upstream calls of ${bills.length} operations, merged and not">${rows.join('\n')}</svg>`;
}

/** The price of an operation by how many indicators of all countries it asks for. */
export function drawSteps(steps: readonly Step[]): string {
  const caption =
    'Upstream calls, as <code>x-explain: 1</code> tells them before anything is sent: the list of countries, and one data call for as many figures as the service gives in one answer.';
  const changes = steps.filter(({ calls }, i) => calls !== steps[i - 1]?.calls);
  return figure(
    (size) => stepLine(steps, size),
    caption,
    ['Indicators from', 'Upstream calls'],
    changes.map(({ indicators, calls }) => [indicators, calls]),
  );
}

const PLOT = { height: 250, left: 22, right: 12, bottom: 46, top: 26 };

function stepLine(steps: readonly Step[], size: Size): string {
  const width = WIDTHS[size];
  const most = Math.max(...steps.map(({ calls }) => calls));
  const first = steps[0] ?? { indicators: 1, calls: 1 };
  const last = steps.at(-1) ?? first;
  const inner = { width: width - PLOT.left - PLOT.right, height: PLOT.height - PLOT.top - PLOT.bottom };
  const x = (indicators: number) => (PLOT.left + (indicators / last.indicators) * inner.width).toFixed(1);
  const y = (calls: number, lower = 0) => (PLOT.top + inner.height * (1 - calls / most) + lower).toFixed(1);
  const path = steps.map(
    ({ indicators, calls }, i) =>
      `${i === 0 ? 'M' : 'L'}${x(indicators - 1)} ${y(calls)} L${x(indicators)} ${y(calls)}`,
  );
  const lines = Array.from(
    { length: most + 1 },
    (_, calls) =>
      `<line class="grid" x1="${PLOT.left}" x2="${x(last.indicators)}" y1="${y(calls)}" y2="${y(calls)}"/>
<text class="number" x="${PLOT.left - 8}" y="${y(calls, 4)}" text-anchor="end">${calls}</text>`,
  );
  const ticks = steps
    .filter(({ indicators }) => indicators % 10 === 0)
    .map(
      ({ indicators }) =>
        `<text class="number" x="${x(indicators)}" y="${PLOT.height - 26}" text-anchor="middle">${indicators}</text>`,
    );
  const figures = (54 * last.indicators).toLocaleString('en');
  const title = `Upstream calls for the latest figures of 54 countries: ${first.calls} for one indicator, ${last.calls} for ${last.indicators}`;
  return `<svg class="${size}" viewBox="0 0 ${width} ${PLOT.height}" role="img" aria-label="${title}">${lines.join('\n')}${ticks.join('')}
<path class="steps" d="${path.join(' ')}"/>
<text class="label" x="${x(last.indicators)}" y="${y(last.calls, -10)}" text-anchor="end">${last.calls} calls, ${figures} figures</text>
<text class="number" x="${x(last.indicators / 2)}" y="${PLOT.height - 4}" text-anchor="middle">indicators asked for, of 54 countries</text></svg>`;
}
