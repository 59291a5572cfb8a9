/**
 * `npm run site`: the documentation as pages, in `dist/site`. They need no server and no other host, and work below any address.
 * `--out FOLDER` for another place.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildSite } from './build.ts';

const { values } = parseArgs({ options: { out: { type: 'string', default: 'dist/site' } } });
const folder = resolve(values.out);
const { pages } = await buildSite(folder);
console.log(`${pages.length} pages: file://${folder}/index.html`);
