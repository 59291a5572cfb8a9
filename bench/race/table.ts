import { fastestPeer, type RowResult, speedRatio, wrongOf } from './heats.ts';
import { variation } from './load.ts';
import { BARE_PROXY, PARSING_FLOOR } from './servers.ts';

/** A number with about three significant digits. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

const percent = (share: number) => (Number.isFinite(share) ? `${(share * 100).toFixed(0)} %` : '–');

/** A Markdown table that is aligned as plain text as well: the first column to the left, the rest to the right. */
export function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const widths = head.map((name, i) =>
    Math.max(name.length, ...body.map((entries) => entries[i]?.length ?? 0)),
  );
  const line = (entries: readonly string[]) =>
    `| ${entries.map((entry, i) => (i === 0 ? entry.padEnd(widths[i] ?? 0) : entry.padStart(widths[i] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, i) => (i === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(head), rule, ...body.map(line)].join('\n');
}

const HEAD = [
  'server',
  'op/s',
  'CV %',
  '× best peer',
  '× bare proxy',
  '× floor',
  'p50 ms',
  'p99 ms',
  'CPU ms/op',
  'CV %',
  'busy',
  'others',
  'calls/op',
  'RSS MB',
];

/** The results of all servers in a row with this many connections. */
export function heatTable({ heats }: RowResult, connections: number): string {
  const best = fastestPeer(heats, connections);
  const proxy = heats.find(({ server }) => server === BARE_PROXY);
  const floor = heats.find(({ server }) => server === PARSING_FLOOR);
  const body = heats.flatMap((heat) => {
    const sample = heat.samples.get(connections);
    if (sample === undefined) return [];
    const count = wrongOf(heat);
    const wrong = count === 0 ? '' : ` (${count} WRONG, disqualified)`;
    const varied = (figure: 'perSecond' | 'cpuMs') =>
      short(variation((heat.rounds.get(connections) ?? []).map((round) => round[figure])));
    return [
      [
        `${heat.server.name}${wrong}`,
        short(sample.perSecond),
        varied('perSecond'),
        short(speedRatio(heat, best, connections)),
        short(speedRatio(heat, proxy, connections)),
        short(speedRatio(heat, floor, connections)),
        short(sample.p50Ms),
        short(sample.p99Ms),
        short(sample.cpuMs),
        varied('cpuMs'),
        percent(sample.busy),
        percent(sample.others),
        short(sample.calls),
        short(heat.peakRssMb),
      ],
    ];
  });
  return table(HEAD, body);
}
