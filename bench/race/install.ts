import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tailcallMissing, unpackLibc } from './tailcall.ts';

const FOLDER = 'bench/peers';

/** Installs the packages of the peers and of the load generator, unless they are there already. */
export function installPeers(): void {
  if (!existsSync(`${FOLDER}/node_modules`)) installPackages();
  unpackLibc();
  const missing = tailcallMissing();
  if (missing !== null) console.error(missing);
}

function installPackages(): void {
  console.error(`Installing into ${FOLDER}/node_modules.`);
  const { status } = spawnSync('npm', ['ci', '--prefix', FOLDER], { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`npm ci --prefix ${FOLDER} failed.`);
}
