import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { visitorOf } from '../../src/keys/visitor.ts';
import { Visitors } from '../../src/plugins/issued-keys/visitors.ts';
import { openProgram } from '../support/program.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { FIGURE, openFolder, openIssuing, START } from './issuing.ts';

describe('a visitor', () => {
  it.for([
    [
      '203.0.113.7',
      [
        '203.0.113.7:51001',
        ' 203.0.113.7 ',
        '::ffff:203.0.113.7',
        '[::ffff:203.0.113.7]:80',
        '::FFFF:cb00:7107',
      ],
    ],
    [
      '2001:db8:0:7::',
      [
        '2001:db8:0:7::1',
        '[2001:db8:0:7::1]:443',
        '[2001:db8:0:7::1]',
        '"[2001:db8:0:7::1]:443"',
        '2001:0DB8:0:7:a:b:c:d',
        '2001:db8::7:0:0:0:1',
      ],
    ],
    ['fe80::', ['fe80::1%eth0', 'fe80::2']],
    ['unknown', ['unknown', '"unknown"']],
  ] as const)('a visitor is %s, however the address is written', ([visitor, addresses]) => {
    for (const address of addresses) expect([address, visitorOf(address)]).toEqual([address, visitor]);
    expect(visitorOf(visitor)).toBe(visitor);
  });

  it('a visitor is another one at another address, or in another network of IPv6', () => {
    const names = ['203.0.113.7', '203.0.113.8', '2001:db8:0:7::1', '2001:db8:0:8::1'].map(visitorOf);
    expect(new Set(names).size).toBe(4);
  });
});

const QUOTA = '{ quota { state } }';

it.for([
  ['ports', '127.0.0.0/8', ['203.0.113.7:51001', '203.0.113.7:51002', '203.0.113.7:51003']],
  ['ports of IPv6', '127.0.0.0/8', ['[2001:db8::1]:51001', '[2001:db8::1]:51002', '[2001:db8::2]:51003']],
  [
    'ports of an inner proxy',
    '127.0.0.0/8,10.0.0.0/8',
    ['203.0.113.7, 10.0.0.5:4001', '203.0.113.7, 10.0.0.5:4002', '203.0.113.7:1, 10.0.0.6'],
  ],
  ['IPv4 written as IPv6', '127.0.0.0/8', ['::ffff:203.0.113.7', '203.0.113.7', '[::ffff:203.0.113.7]:9']],
] as const)('a visitor behind proxies counts as one: %s', async ([, proxies, addresses]) => {
  using folder = openFolder();
  await using program = await openIssuing({ ...folder, env: { TRUSTED_PROXIES: proxies } });
  const key = await program.issue({ name: 'page', visitorPerMinute: 2 });
  const codes = [];
  for (const address of addresses)
    codes.push(...(await program.codes(QUOTA, { key, headers: { 'x-forwarded-for': address } })));
  expect(codes).toEqual(['RATE_LIMITED']);
  expect(await program.codes(QUOTA, { key, headers: { 'x-forwarded-for': '203.0.113.9' } })).toEqual([]);
  expect(program.requests()).toEqual([]);
});

/** Two gateways of one store, and what a visitor of both is told. */
async function tellTwo(cacheUrl: string) {
  await using one = await openIssuing({ cacheUrl });
  await using other = await openProgram({
    clock: one.clock.clock,
    sandbox: { now: one.clock.clock.now },
    env: { CACHE_URL: cacheUrl, COUNTRY_DATA_KEY: 'demo-team', CACHE_RENEWAL: 'off' },
  });
  const key = await one.issue({ name: 'page', visitorPerMinute: 5 });
  const told: string[] = [];
  for (let times = 0; times < 4; times += 1)
    for (const { ask } of [one, other]) {
      const { errors } = await ask(FIGURE, { key });
      told.push(errors[0]?.extensions.code ?? 'answered');
    }
  // A list of operations counts as many, all or none.
  one.pass(60);
  const list = await fetch(other.url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(Array.from({ length: 4 }, () => ({ query: QUOTA }))),
  });
  const listed = JSON.stringify(await list.json()).includes('RATE_LIMITED');
  const [first, second] = [await one.codes(QUOTA, { key }), await one.codes(QUOTA, { key })];
  return { told, listed, after: [first, second], calls: one.requests().length + other.requests().length };
}

const WANTED = {
  told: [...Array(5).fill('answered'), ...Array(3).fill('RATE_LIMITED')],
  listed: false,
  after: [[], ['RATE_LIMITED']],
};

describe('a visitor of two gateways counts as one', () => {
  it('a visitor of two gateways counts as one over a file', async () => {
    using folder = openFolder();
    expect(await tellTwo(folder.cacheUrl)).toMatchObject(WANTED);
  });

  it.runIf(hasRedis)('a visitor of two gateways counts as one over a Redis', async () => {
    await using redis = await startRedis();
    expect(await tellTwo(redis.url)).toMatchObject(WANTED);
  });
});

it('a visitor is known by a digest alone, which nobody makes without the held key', async () => {
  using folder = openFolder();
  await using program = await openIssuing({ ...folder, env: { TRUSTED_PROXIES: '127.0.0.0/8' } });
  const key = await program.issue({ name: 'page', visitorPerMinute: 2 });
  await program.codes(QUOTA, { key, headers: { 'x-forwarded-for': '203.0.113.7' } });
  const texts = readdirSync(folder.path).map((file) => readFileSync(`${folder.path}/${file}`, 'latin1'));
  expect(texts.join().includes('visitor:')).toBe(true);
  expect(texts.join().includes('203.0.113.7')).toBe(false);
});

it('a visitor is counted by each gateway for itself while the store is away', async () => {
  const away = { isShared: true, take: () => Promise.reject(new Error('away')) };
  const visitors = new Visitors(away as never, 'secret');
  await visitors.count('v', 2, 3, START);
  await expect(visitors.count('v', 2, 3, START)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await visitors.count('v', 1, 3, START);
});
