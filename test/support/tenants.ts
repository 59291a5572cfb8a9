import { expect } from 'vitest';
import { Tenant } from '../../src/keys/tenant.ts';
import type { Caller } from '../../src/service/caller.ts';

let tenants = new Map<string, Tenant>();
let test: string | undefined;

/** The tenant of a name; the same one throughout a test. */
export function tenantOf(name: string): Tenant {
  const { testPath, currentTestName } = expect.getState();
  if (test !== `${testPath} ${currentTestName}`) tenants = new Map();
  test = `${testPath} ${currentTestName}`;
  const existing = tenants.get(name);
  if (existing !== undefined) return existing;
  const tenant = new Tenant(name);
  tenants.set(name, tenant);
  return tenant;
}

/** A caller with such a tenant, whose key counts as proven. */
export function callerOf(name: string, authorization: string | null = `Bearer ${name}`): Caller {
  const tenant = tenantOf(name);
  return { authorization, tenant, flow: tenant.flow };
}
