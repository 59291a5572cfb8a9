import { readFileSync } from 'node:fs';

/** A package in `package-lock.json`. */
export interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  /** True if our package bundles it. */
  readonly inBundle?: boolean;
}

/** The part of `package-lock.json` that is read. */
export interface Lock {
  /** Packages by their folder, relative to the project; the project itself has an empty one. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export function readLock(): Lock {
  return JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
}

/** The packages that `npm ci --omit=dev` installs, by folder, without the project itself. */
export function runTimePackages({ packages }: Lock): Readonly<Record<string, LockedPackage>> {
  const isRunTime = ([folder, { dev = false }]: [string, LockedPackage]) => folder !== '' && !dev;
  return Object.fromEntries(Object.entries(packages).filter(isRunTime));
}
