import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createOutgoing } from '../../src/server/http.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const KB = 1024;

function open() {
  const cuts: string[] = [];
  const bounds = { maxPerConnection: 200 * KB, maxInAll: 400 * KB };
  const outgoing = createOutgoing(bounds, (reason) => cuts.push(reason));
  return { outgoing, cuts };
}

/** A response whose end the test decides on; of one there is all that is used. */
const response = () => new Socket() as unknown as ServerResponse;
const body = (kilobytes: number, fill = 0) => Buffer.alloc(kilobytes * KB, fill);

describe('answers on their way', () => {
  it('answers on their way are left alone as long as they are taken', async () => {
    const { outgoing, cuts } = open();
    const socket = new Socket();
    for (let i = 0; i < 100; i++) {
      const taken = response();
      outgoing.add(taken, socket, body(150, i));
      taken.destroy();
      await once(taken, 'close');
    }
    vi.advanceTimersByTime(3_600_000);
    expect([cuts, socket.destroyed]).toEqual([[], false]);
  });

  it('answers on their way that are one buffer for several clients count once', () => {
    const { outgoing, cuts } = open();
    const shared = body(150);
    for (let i = 0; i < 100; i++) outgoing.add(response(), new Socket(), shared);
    expect(cuts).toEqual([]);
  });

  it('answers on their way that nobody reads are cut, the longest waiting first', () => {
    const { outgoing, cuts } = open();
    const sockets = [1, 2, 3, 4].map((fill) => {
      const socket = new Socket();
      outgoing.add(response(), socket, body(150, fill));
      return socket;
    });
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true, false, false]);
    expect(cuts).toEqual(['crowded', 'crowded']);
  });

  it('answers on their way that are more than one connection may leave waiting cut that one alone', () => {
    const { outgoing, cuts } = open();
    const other = new Socket();
    outgoing.add(response(), other, body(100, 9));
    const socket = new Socket();
    for (let i = 0; i < 3; i++) outgoing.add(response(), socket, body(80, i));
    expect([cuts, socket.destroyed, other.destroyed]).toEqual([['crowded'], true, false]);
    outgoing.add(response(), new Socket(), body(250, 10));
    expect([cuts, other.destroyed]).toEqual([['crowded'], false]);
  });

  it('answers on their way that are short are counted where they are not taken as they are written', () => {
    const { outgoing, cuts } = open();
    const taken = { writableEnded: true, writableLength: 0 } as ServerResponse;
    const [reading, stuck] = [new Socket(), new Socket()];
    for (let i = 0; i < 10; i++) outgoing.add(taken, reading, body(60, i));
    expect([cuts, reading.destroyed]).toEqual([[], false]);
    for (let i = 0; i < 4; i++) outgoing.add(response(), stuck, body(60, i));
    expect([cuts, stuck.destroyed]).toEqual([['crowded'], true]);
  });

  it('answers on their way that are longer than the bound are sent all the same, one a connection', () => {
    const { outgoing, cuts } = open();
    outgoing.add(response(), new Socket(), body(500));
    expect(cuts).toEqual([]);
  });

  it('answers on their way are cut when they take longer than a slow line would', () => {
    const { outgoing, cuts } = open();
    outgoing.add(response(), new Socket(), body(150));
    vi.advanceTimersByTime(31_000);
    expect(cuts).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(cuts).toEqual(['late']);
  });

  it('answers on their way are forgotten when their connection ends, though no answer hears of it', async () => {
    const { outgoing, cuts } = open();
    const socket = new Socket();
    outgoing.add(response(), socket, body(190, 1));
    socket.destroy();
    await once(socket, 'close');
    for (const fill of [2, 3]) outgoing.add(response(), new Socket(), body(190, fill));
    expect(cuts).toEqual([]);
  });
});

describe('parts of answers on their way', () => {
  it('parts of answers on their way wait until they are taken, however long the others take', () => {
    const { outgoing, cuts } = open();
    const socket = new Socket();
    for (let i = 0; i < 100; i++) {
      outgoing.addPart(socket, body(150, i))();
      vi.advanceTimersByTime(20_000);
    }
    expect([cuts, socket.destroyed]).toEqual([[], false]);
  });

  it('parts of answers on their way are cut where they are not taken for long, short ones as well', () => {
    const { outgoing, cuts } = open();
    const socket = new Socket();
    outgoing.addPart(socket, Buffer.from('{}'));
    vi.advanceTimersByTime(29_000);
    expect(cuts).toEqual([]);
    vi.advanceTimersByTime(2_000);
    expect([cuts, socket.destroyed]).toEqual([['late'], true]);
  });

  it('parts of answers on their way are cut where too much waits on the connection, or in all', () => {
    const { outgoing, cuts } = open();
    const socket = new Socket();
    outgoing.addPart(socket, body(150, 1));
    outgoing.addPart(socket, body(150, 2));
    expect([cuts, socket.destroyed]).toEqual([['crowded'], true]);
    const first = new Socket();
    outgoing.addPart(first, body(190, 3));
    for (const fill of [4, 5]) outgoing.addPart(new Socket(), body(190, fill));
    expect([cuts, first.destroyed]).toEqual([['crowded', 'crowded'], true]);
  });
});
