import { expect } from 'vitest';
import { Tenant } from '../../src/keys/tenant.ts';
import type { Caller } from '../../src/service/caller.ts';

let tenants = new Map<string, Tenant>();
let test: string | undefined;

/** The tenant of a name, the same throughout a test. */
export function tenantOf(name: string): Tenant {
  const { testPath, currentTestName } = expect.getState();
  if (test !== `${testPath} ${currentTestName}`) tenants = new Map();
  test = `${testPath} ${currentTestName}`;
  const known = tenants.get(name);
  if (known !== undefined) return known;
  const tenant = new Tenant(name);
  tenants.set(name, tenant);
  return tenant;
}

/** A request of such a tenant, whose key counts as proven. */
export function callerOf(name: string, authorization: string | null = `Bearer ${name}`): Caller {
  const tenant = tenantOf(name);
  return { authorization, tenant, flow: tenant.flow };
}
