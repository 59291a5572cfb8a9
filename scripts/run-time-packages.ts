import { readFileSync } from 'node:fs';

/** One package as `package-lock.json` has it. */
export interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  /** True if the package that we pack brings it. */
  readonly inBundle?: boolean;
}

/** The part of `package-lock.json` that is looked at. */
export interface Lock {
  /** Packages by their folder from the top of the project; that of the project itself is empty. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export function readLock(): Lock {
  return JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
}

/** Packages that `npm ci --omit=dev` installs, by folder: the project itself is not among them. */
export function runTimePackages({ packages }: Lock): Readonly<Record<string, LockedPackage>> {
  const isRunTime = ([folder, { dev = false }]: [string, LockedPackage]) => folder !== '' && !dev;
  return Object.fromEntries(Object.entries(packages).filter(isRunTime));
}
