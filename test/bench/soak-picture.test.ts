import { describe, expect, it } from 'vitest';
import { drawSoaks, seriesIn } from '../../bench/soak/picture.ts';

const line = (minute: number, mostMb: number) =>
  `512 MB, minute ${minute}.00: ${mostMb - 1} MB, ${mostMb} at most; 1322 operations, 0 turned away, 0 wrong, p50 19.5 ms, p99 768 ms\n`;

describe('the picture of a soak', () => {
  const series = seriesIn(
    `{"level":50,"msg":"problem"}\n${line(1, 438)}${line(2, 506)}| minute | MEMORY_MB=512 |\n`,
    'logs/512-redis.log',
  );

  it('the picture of a soak is read from what npm run soak prints, among other lines', () => {
    expect(series).toEqual({
      budgetMb: 512,
      note: 'Redis',
      points: [
        { minute: 1, mostMb: 438 },
        { minute: 2, mostMb: 506 },
      ],
    });
  });

  it('the picture of a soak has a line for each soak, below a dashed one for each budget', () => {
    const svg = drawSoaks([{ ...series, note: '' }, series, { ...series, budgetMb: 1024 }]);
    expect(svg.match(/class="budget"/g)).toHaveLength(2);
    expect(svg.match(/<path class="line/g)).toHaveLength(3);
    expect(svg).toContain('506 MB, Redis<');
    const heightOf = (kind: string) => Number(new RegExp(`class="${kind}".*? y1="([\\d.]+)"`).exec(svg)?.[1]);
    const [, pathY] = /<path class="line c0" d="M\S+ (\S+) /.exec(svg) ?? [];
    expect(Number(pathY)).toBeGreaterThan(heightOf('budget'));
  });
});
