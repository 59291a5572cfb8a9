import { AggregatorRegistry, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { OwnMetrics } from '../../src/server/metrics.ts';

const buckets = [0.001, 0.5, 1, 30];
const parts = { name: 'seconds', help: 'Time.', buckets };
const labelNames = ['route', 'outcome'];

const VALUES = [0, 0.001, 0.0011, 0.5, 0.75, 1, 29.9, 30, 30.1, 1e9];

/** Joint figures of two workers that have counted the same. */
async function ofTwo(registry: Registry): Promise<string> {
  const counted = await registry.getMetricsAsJSON();
  return AggregatorRegistry.aggregate([counted, counted]).metrics();
}

describe('a tallied histogram', () => {
  it('a tallied histogram tells a registry what a histogram of prom-client tells', async () => {
    const [ours, theirs] = [new OwnMetrics(), new Registry()];
    const tallied = ours.histogram('seconds', 'Time.', buckets, ...labelNames);
    const plain = new Histogram({ ...parts, labelNames, registers: [theirs] });
    expect(await ours.metrics()).toBe(await theirs.metrics());
    for (const [route, outcome] of [
      ['/v1/data', 'ok'],
      ['/v1/data', 'a "quoted" \\ word'],
      ['', 'ok'],
    ] as const) {
      for (const value of VALUES) {
        tallied.of(route, outcome).observe(value);
        plain.observe({ route, outcome }, value);
      }
    }
    expect(await ours.metrics()).toBe(await theirs.metrics());
    expect(await ofTwo(ours)).toBe(await ofTwo(theirs));
  });

  it('a tallied histogram is all zeros without labels, and nothing yet with some', async () => {
    const [ours, theirs] = [new OwnMetrics(), new Registry()];
    const tallied = ours.histogram('seconds', 'Time.', buckets);
    const plain = new Histogram({ ...parts, registers: [theirs] });
    expect(await ours.metrics()).toBe(await theirs.metrics());
    tallied.of().observe(0.6);
    plain.observe(0.6);
    expect(await ours.metrics()).toBe(await theirs.metrics());
    expect(new OwnMetrics().histogram('seconds', 'Time.', buckets, ...labelNames).all()).toEqual([]);
  });
});
