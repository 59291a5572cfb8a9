import { globSync, readFileSync } from 'node:fs';
import { escapeHtml, slugOf } from './html.ts';
import { codeBlock, type Heading, type RenderContext } from './markdown.ts';

const PLAIN: RenderContext = { linkTo: () => null, nameTo: () => null, captionOf: () => '' };

/** Answers beyond so many lines are not shown. */
const MAX_ANSWER_LINES = 80;

/** The golden queries with their cost, as the tests hold them: a cookbook that can't be wrong. */
export async function examplesPage(root: string): Promise<{ html: string; headings: Heading[] }> {
  const files = globSync('test/queries/*/*.graphql', { cwd: root }).sort();
  const domains = Map.groupBy(files, (file) => file.split('/')[2] ?? '');
  const headings: Heading[] = [
    {
      level: 1,
      id: 'examples-and-their-bills',
      text: 'Examples and their bills',
      summary: 'Operations of every kind, with the calls that each takes.',
    },
  ];
  const sections = [...domains].map(([domain, all]) => {
    const title = domain.charAt(0).toUpperCase() + domain.slice(1);
    headings.push({ level: 2, id: domain, text: title, summary: '' });
    return `<h2 id="${domain}">${title}</h2>\n${all.map((file) => example(root, file, domain, headings)).join('\n')}`;
  });
  const html = `<h1 id="examples-and-their-bills">Examples and their bills</h1>
<p class="lead">Operations of every kind, each with the calls to the service that it takes where nothing is held, and the requests as they are sent. Tests run all of them and compare answers and bills.</p>
${sections.join('\n')}`;
  return { html, headings };
}

function example(root: string, file: string, domain: string, headings: Heading[]): string {
  const read = (ending: string) => readFileSync(`${root}${file.replace(/graphql$/, ending)}`, 'utf8');
  const query = read('graphql');
  const [, comment = '', operation = query] = /^((?:#.*\n)*)([\s\S]*)$/.exec(query) ?? [];
  const words = comment.replace(/^# ?/gm, '').replace(/\s+/g, ' ').trim();
  const name = (file.split('/').at(-1) ?? '').replace('.graphql', '');
  const title = name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ');
  const id = slugOf(`${domain} ${name}`);
  headings.push({ level: 3, id, text: title, summary: words });
  const [bill = '', requests = ''] = read('calls.txt').split('\n\n');
  const told = bill
    .trim()
    .split('\n')
    .map(escapeHtml)
    .join(', ')
    .replaceAll(/(\d+) \//g, '$1 × /');
  const sent =
    requests.trim() === ''
      ? ''
      : `<details><summary>Requests</summary>${codeBlock(requests, '', PLAIN, '')}</details>`;
  const answer = read('answer.json');
  const isShort = answer.split('\n').length <= MAX_ANSWER_LINES;
  const answered = isShort
    ? `<details><summary>Answer</summary>${codeBlock(answer, 'json', PLAIN, '')}</details>`
    : '';
  return `<section class="example"><h3 id="${id}">${escapeHtml(title)} <a class="anchor" href="#${id}" aria-label="Link to ${escapeHtml(title)}">#</a></h3>
${words === '' ? '' : `<p>${escapeHtml(words)}</p>`}
${codeBlock(operation, 'graphql', { ...PLAIN, captionOf: () => `<figcaption class="bill">${told}</figcaption>` }, '')}
${sent}${answered}</section>`;
}
