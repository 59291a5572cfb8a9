/** What a package that is published has otherwise than one that `npm pack` makes in a checkout. */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Where a package comes from, as far as that is known. */
export interface Origin {
  /** Address of the repository's page, such as `https://forge.example/team/country-graph`. */
  readonly repository?: string | undefined;
  /** Addresses; pages of the repository if left out. */
  readonly homepage?: string | undefined;
  readonly bugs?: string | undefined;
  /** `Name <address>`. */
  readonly author?: string | undefined;
}

const CODE = /^```.*?^```$/gms;
const LINK = /(!?)\[((?:!\[[^\]]*\]\([^)]*\)|[^\]])*)\]\(((?!https?:|#)[^)\s#]+)(#[^)\s]*)?\)/g;
const PICTURE = /<img src="((?!https?:)[^"]+)"[^>]*>/g;
/** What remains of a table of pictures. */
const EMPTY_TABLE = /^\|[ |]*\|\n\|[-|]*\|\n(?:\|[ |]*\|\n)*\n?/gm;

/**
 * Makes an unpacked package publishable. Its manifest loses scripts and packages of the development, and says where it comes
 * from. Links of its documents to files that only the repository has lead there, at the version's tag; without a known
 * repository, their text remains, and pictures go.
 * @param directory folder of the package in the repository; empty for its root
 */
export function makePublishable(folder: string, origin: Origin, directory = ''): void {
  const manifest = join(folder, 'package.json');
  const { scripts: _, devDependencies: __, ...kept } = JSON.parse(readFileSync(manifest, 'utf8'));
  const { author, repository, homepage = repository, bugs = repository && `${repository}/issues` } = origin;
  const known = {
    ...(author === undefined ? {} : { author }),
    ...(homepage === undefined ? {} : { homepage }),
    ...(bugs === undefined ? {} : { bugs: { url: bugs } }),
    ...(repository === undefined
      ? {}
      : {
          repository: {
            type: 'git',
            url: `git+${repository}.git`,
            ...(directory === '' ? {} : { directory }),
          },
        }),
  };
  writeFileSync(manifest, `${JSON.stringify({ ...kept, ...known }, null, 2)}\n`);
  for (const file of globSync('**/*.md', { cwd: folder, exclude: (path) => path === 'node_modules' })) {
    const text = readFileSync(join(folder, file), 'utf8');
    const addressOf = (target: string, kind: 'blob' | 'raw') => {
      const path = join(directory, dirname(file), target);
      return repository && new URL(`${repository}/${kind}/v${kept.version}/${path}`).href;
    };
    writeFileSync(
      join(folder, file),
      withLinks(text, (target) => has(folder, file, target), addressOf),
    );
  }
}

function has(folder: string, file: string, target: string): boolean {
  const path = normalize(join(dirname(file), target));
  return !path.startsWith('..') && existsSync(join(folder, path));
}

/** @param addressOf undefined if it isn't known */
function withLinks(
  text: string,
  isThere: (target: string) => boolean,
  addressOf: (target: string, kind: 'blob' | 'raw') => string | undefined,
): string {
  const codes = text.match(CODE) ?? [];
  const prose = text.split(CODE).map((part) =>
    part
      .replaceAll(LINK, (link, mark: string, label: string, target: string, anchor = '') => {
        if (isThere(target)) return link;
        const address = addressOf(target, mark === '!' ? 'raw' : 'blob');
        if (address === undefined) return mark === '!' ? '' : label;
        return `${mark}[${label}](${address}${anchor})`;
      })
      .replaceAll(PICTURE, (picture, target: string) => {
        if (isThere(target)) return picture;
        const address = addressOf(target, 'raw');
        return address === undefined ? '' : picture.replace(target, address);
      })
      .replaceAll(EMPTY_TABLE, ''),
  );
  return prose.flatMap((part, i) => [part, codes[i] ?? '']).join('');
}
