import { describe, expect, it, vi } from 'vitest';
import { createLogOutlet } from '../../src/server/log.ts';

const fault = (code: string) => Object.assign(new Error(code), { code });

/** A reader that takes a number of bytes at the most, or gives an error instead. */
function open(maxWaiting = 1_000) {
  const reader = { takes: Number.POSITIVE_INFINITY as number | Error, text: '' };
  const outlet = createLogOutlet((bytes) => {
    if (reader.takes instanceof Error) throw reader.takes;
    if (reader.takes === 0) throw fault('EAGAIN');
    const taken = bytes.subarray(0, reader.takes);
    reader.takes -= taken.length;
    reader.text += taken.toString();
    return taken.length;
  }, maxWaiting);
  const told = () =>
    reader.text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  return { reader, outlet, told };
}

describe('where the log goes', () => {
  it('the outlet of the log gets lines together, in their order', () => {
    const { reader, outlet } = open();
    outlet.write('one\n');
    outlet.write('two\n');
    expect(reader.text).toBe('');
    outlet.flush();
    expect(reader.text).toBe('one\ntwo\n');
    expect(outlet.droppedLines()).toBe(0);
  });

  it('the outlet of the log gets them before long though nobody flushes', () => {
    vi.useFakeTimers();
    try {
      const { reader, outlet } = open();
      outlet.write('one\n');
      vi.advanceTimersByTime(100);
      expect(reader.text).toBe('one\n');
    } finally {
      vi.useRealTimers();
    }
  });

  it('the outlet of the log loses nothing to a reader that takes them by halves', () => {
    const { reader, outlet } = open();
    reader.takes = 5;
    outlet.write('one\n');
    outlet.write('two\n');
    outlet.flush();
    expect(reader.text).toBe('one\nt');
    outlet.write('three\n');
    reader.takes = Number.POSITIVE_INFINITY;
    outlet.flush();
    expect(reader.text).toBe('one\ntwo\nthree\n');
  });

  it('the outlet of the log drops what is beyond the bound while nobody reads, and says how much once somebody does', () => {
    const { reader, outlet, told } = open(10_000);
    reader.takes = 0;
    const line = `${'x'.repeat(99)}\n`;
    for (let i = 0; i < 1_000; i++) outlet.write(line);
    outlet.flush();
    expect(outlet.droppedLines()).toBe(900);
    reader.takes = Number.POSITIVE_INFINITY;
    outlet.flush();
    expect(reader.text.split(line)).toHaveLength(101);
    expect(told()).toMatchObject([{ level: 40, droppedLines: 900 }]);
    outlet.write(line);
    outlet.flush();
    expect(told()).toHaveLength(1);
  });

  it('the outlet of the log counts what can not be written, and goes on with what can', () => {
    const { reader, outlet, told } = open();
    reader.takes = fault('EPIPE');
    for (const line of ['one\n', 'two\n']) {
      outlet.write(line);
      outlet.flush();
    }
    expect(outlet.droppedLines()).toBe(2);
    reader.takes = Number.POSITIVE_INFINITY;
    outlet.write('three\n');
    outlet.flush();
    expect(reader.text).toMatch(/^three\n/);
    expect(told()).toMatchObject([{ droppedLines: 2 }]);
  });
});
