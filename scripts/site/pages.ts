import { existsSync, globSync, readFileSync } from 'node:fs';
import { sectionBelow } from '../sections.ts';

/** A page that is made of a document of the repository, or of one section of it. */
export interface DocumentPage {
  /** Path from the root of the repository. */
  readonly file: string;
  /** The heading of the section that the page is made of; all of the document if there is none. */
  readonly section?: string;
  /** Path from the root of the site. */
  readonly path: string;
  /** Title in the navigation. */
  readonly name: string;
}

export interface PageGroup {
  readonly name: string;
  readonly pages: readonly DocumentPage[];
}

const GROUPS: readonly PageGroup[] = [
  {
    name: 'Start',
    pages: [
      { file: 'docs/README.md', path: 'index.html', name: 'Overview' },
      { file: 'docs/getting-started.md', path: 'getting-started.html', name: 'Getting started' },
      { file: 'docs/costs.md', path: 'costs.html', name: 'What it costs' },
    ],
  },
  {
    name: 'Guides',
    pages: [
      { file: 'clients/README.md', path: 'frontends.html', name: 'For frontends' },
      { file: 'docs/errors.md', path: 'errors.html', name: 'Errors and warnings' },
      { file: 'docs/live.md', path: 'live.html', name: 'Subscriptions' },
      { file: 'docs/tables-and-tools.md', path: 'tables-and-tools.html', name: 'Tables and tools' },
      { file: 'README.md', section: 'GraphiQL', path: 'graphiql.html', name: 'GraphiQL' },
    ],
  },
  {
    name: 'Running it',
    pages: [
      { file: 'docs/operating.md', path: 'operating.html', name: 'Operating' },
      { file: 'docs/issued-keys.md', path: 'issued-keys.html', name: 'Issued keys' },
      { file: 'docs/pictures.md', path: 'pictures.html', name: 'Pictures by address' },
      { file: 'docs/settings.md', path: 'settings.html', name: 'Settings' },
      { file: 'docs/federation.md', path: 'federation.html', name: 'Federation' },
      { file: 'SECURITY.md', path: 'security.html', name: 'Security' },
    ],
  },
  {
    name: 'Inside',
    pages: [
      { file: 'ARCHITECTURE.md', path: 'architecture.html', name: 'Architecture' },
      { file: 'CONTRIBUTING.md', path: 'contributing.html', name: 'Contributing' },
      { file: 'src/sandbox/README.md', path: 'sandbox.html', name: 'The sandbox' },
      { file: 'src/execution/README.md', path: 'execution.html', name: 'The executor' },
      { file: 'bench/REPORT.md', path: 'benchmarks.html', name: 'Benchmarks' },
      { file: 'docs/dependencies.md', path: 'dependencies.html', name: 'Dependencies' },
      { file: 'CHANGELOG.md', path: 'changes.html', name: 'Changes' },
    ],
  },
];

/** The group that documents of `docs` go to which nobody has placed. */
const OTHERS = 'Guides';

/** All pages that are made of documents, with those of `docs` that are named nowhere. */
export function pageGroups(root: string): readonly PageGroup[] {
  const placed = new Set(GROUPS.flatMap(({ pages }) => pages.map(({ file }) => file)));
  const others = globSync('docs/*.md', { cwd: root })
    .filter((file) => !placed.has(file))
    .sort()
    .map((file): DocumentPage => {
      const [, title = file] = /^# (.+)$/m.exec(readFileSync(`${root}${file}`, 'utf8')) ?? [];
      return { file, path: file.replace('docs/', '').replace('.md', '.html'), name: title };
    });
  return GROUPS.map(({ name, pages }) => ({
    name,
    pages: [...pages.filter(({ file }) => existsSync(`${root}${file}`)), ...(name === OTHERS ? others : [])],
  }));
}

/** The Markdown of a page. */
export function textOfPage({ file, section }: DocumentPage, root: string): string {
  const text = readFileSync(`${root}${file}`, 'utf8');
  return section === undefined ? text : sectionOf(text, section);
}

/** A section as a document of its own, a level up. */
function sectionOf(text: string, heading: string): string {
  const body = sectionBelow(text, (one) => one === heading);
  if (body === null) throw new Error(`There is no section ${heading}.`);
  return `# ${heading}\n${body.replace(/^##(#+ )/gm, '$1')}`;
}
