import { expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { spareBytes } from '../../src/config/memory-budget.ts';
import { pictureBounds } from '../../src/plugins/public-pages/memory.ts';
import { publicPages } from '../../src/plugins/public-pages/plugin.ts';

const MACHINE = { limitBytes: null, totalBytes: 24_000_000_000 };

const config = (mb: number, env: Readonly<Record<string, string>> = {}) =>
  readConfig({ MEMORY_MB: String(mb), ...env }, [publicPages], MACHINE);

it.each([256, 512, 1_024, 4_096])('pictures take their part of %d MB, and no more', (mb) => {
  const drawing = config(mb, {
    PUBLIC_DOCUMENTS: 'p.json',
    TRUSTED_DOCUMENTS: 't.json',
    COUNTRY_DATA_KEY: 'demo-team',
  });
  const { memoryMb, workers } = drawing;
  const limits = {
    answerBytes: drawing.maxAnswerBytes,
    bodyBytes: drawing.maxBodyBytes,
    tokens: drawing.maxTokens,
    processMb: memoryMb / workers,
    spareBytes: spareBytes(drawing) / workers,
  };
  const bounds = pictureBounds(limits);
  const { heapMb, waitingBytes, answerBytes, maxPixels, engineFlags, drawingBytes } = bounds;
  expect(heapMb + (waitingBytes + 4 * maxPixels) / 1e6).toBeLessThan(0.35 * mb);
  expect(answerBytes).toBeLessThanOrEqual(waitingBytes);
  expect(drawingBytes).toBeLessThan(0.03 * mb * 1e6);
  expect(engineFlags.includes('--liftoff-only')).toBe(mb <= 400);
  expect(drawing.cacheMaxBytes).toBeLessThan(config(mb).cacheMaxBytes);
});
