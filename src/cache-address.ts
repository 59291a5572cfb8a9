import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';

const SQLITE = 'sqlite:';

/**
 * Tells if an address names a place for held entries: `memory:`, `none`, `sqlite:PATH`, or that of a Redis as its
 * client reads it.
 */
export function isCacheAddress(address: string): boolean {
  if (address === 'memory:' || address === 'none') return true;
  return address.startsWith(SQLITE) ? address.slice(SQLITE.length).trim() !== '' : isOfRedis(address);
}

function isOfRedis(address: string): boolean {
  if (!/^rediss?:\/\/./.test(address)) return false;
  const url = URL.parse(address);
  if (url === null || url.port === '0' || /\s/.test(url.hostname)) return false;
  const isDatabase = /^\/?\d*$/.test(url.pathname);
  return isDatabase && [url.username, url.password, url.hostname].every(isDecodable);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Words the fault for which a file of SQLite can't be opened at the path of an address; null if no fault is known, or
 * the address is none of SQLite.
 */
export function sqliteFault(address: string): string | null {
  if (!address.startsWith(SQLITE)) return null;
  const path = address.slice(SQLITE.length);
  if (path === ':memory:') return null;
  const { R_OK: READ, W_OK: WRITE, X_OK: SEARCH } = constants;
  try {
    const file = statSync(path, { throwIfNoEntry: false });
    if (file?.isDirectory()) return `${path} can't hold a cache: it is a folder, not a file`;
    if (file !== undefined) accessSync(path, READ | WRITE);
    // Beside the file SQLite keeps others.
    accessSync(dirname(path), WRITE | SEARCH);
    return null;
  } catch (error) {
    return `${path} can't hold a cache: ${error instanceof Error ? error.message : String(error)}`;
  }
}
