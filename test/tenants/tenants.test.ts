import { expect, it } from 'vitest';
import { Tenants } from '../../src/keys/tenant.ts';

const open = () => new Tenants((authorization) => authorization, Date.now);

it('a tenant is found again by its key and by its digest', () => {
  const tenants = open();
  expect(tenants.of('one')).toBe(tenants.named('one'));
  expect(tenants.of(null)).toBe(tenants.of(null));
  expect(tenants.find('two')).toBeUndefined();
});

it('the tenant that was in use the longest ago is forgotten first, but none that has work under way', () => {
  const tenants = open();
  const [busy, used] = [tenants.of('busy'), tenants.of('used')];
  tenants.of('idle');
  busy.keep();
  for (let i = 0; i < 1_997; i += 1) tenants.of(`made up ${i}`);
  tenants.of('used');
  tenants.of('one too many');
  expect(tenants.find('idle')).toBeUndefined();
  expect(tenants.of('busy')).toBe(busy);
  expect(tenants.of('used')).toBe(used);
});

it('a tenant that was forgotten before the service answered is remembered, unless it has come back', () => {
  const tenants = open();
  const [early, twice] = [tenants.of('early'), tenants.of('twice')];
  for (let i = 0; i < 2_000; i += 1) tenants.of(`made up ${i}`);
  early.accept();
  expect(tenants.of('early')).toBe(early);
  const again = tenants.of('twice');
  again.accept();
  twice.accept();
  expect(tenants.of('twice')).toBe(again);
});
