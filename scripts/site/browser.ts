/**
 * Behaviour of the site's pages in a browser: the search, the navigation on phones, light and dark, and
 * copying code. Without it they are whole, too.
 */

interface Entry {
  readonly t: string;
  readonly p: string;
  readonly u: string;
  readonly d: string;
}

const MOST_FOUND = 14;
const root = document.body.dataset.root ?? '';
const found: HTMLElement | null = document.querySelector('#found');
const finder: HTMLDialogElement | null = document.querySelector('dialog.finder');
const field: HTMLInputElement | null = document.querySelector('dialog.finder input');
const hint: HTMLElement | null = document.querySelector('dialog.finder .hint');
let chosen = 0;

/** The index is a script, since a page that came from a file may load nothing else. */
function loadIndex(): Promise<readonly Entry[]> {
  const held = (window as { siteIndex?: readonly Entry[] }).siteIndex;
  if (held !== undefined) return Promise.resolve(held);
  return new Promise((resolve) => {
    const script = document.createElement('script');
    script.src = `${root}assets/search.js`;
    script.onload = () => resolve((window as { siteIndex?: readonly Entry[] }).siteIndex ?? []);
    script.onerror = () => resolve([]);
    document.head.append(script);
  });
}

/** Grade of an entry's fit to a word: 0 if it doesn't fit. */
function fitOf({ t, p, d }: Entry, word: string): number {
  const name = t.toLowerCase();
  if (name === word) return 100;
  if (name.endsWith(`.${word}`)) return 80;
  if (name.startsWith(word)) return 60;
  if (name.includes(word))
    return new RegExp(`(^|[^a-z])${word.replace(/[^a-z0-9]/g, '.')}`).test(name) ? 45 : 30;
  if (p.toLowerCase().includes(word)) return 12;
  return d.toLowerCase().includes(word) ? 6 : 0;
}

function search(entries: readonly Entry[], text: string): readonly Entry[] {
  const whole = text.trim().toLowerCase();
  const words = whole.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return [];
  return entries
    .map((entry) => {
      const fits = words.map((word) => fitOf(entry, word));
      if (fits.includes(0)) return { entry, fit: 0 };
      const name = entry.t.toLowerCase();
      const bonus = name === whole ? 200 : name.startsWith(whole) ? 50 : 0;
      // Puts a page before its headings, and a short name before a long one, if they fit alike.
      const place = (entry.p === '' ? 5 : 0) - entry.t.length / 100;
      return { entry, fit: fits.reduce((sum, fit) => sum + fit, bonus + place) };
    })
    .filter(({ fit }) => fit > 0)
    .sort((a, b) => b.fit - a.fit)
    .slice(0, MOST_FOUND)
    .map(({ entry }) => entry);
}

function show(results: readonly Entry[], text: string): void {
  if (found === null || field === null || hint === null) return;
  chosen = 0;
  found.replaceChildren(
    ...results.map(({ t, p, u, d }, i) => {
      const item = document.createElement('li');
      item.id = `found-${i}`;
      item.setAttribute('role', 'option');
      const link = document.createElement('a');
      link.href = root + u;
      link.tabIndex = -1;
      const name = document.createElement('strong');
      name.textContent = t;
      const place = document.createElement('small');
      place.textContent = p;
      const words = document.createElement('span');
      words.textContent = d;
      link.append(name, place, words);
      link.addEventListener('click', () => finder?.close());
      item.append(link);
      return item;
    }),
  );
  field.setAttribute('aria-expanded', String(results.length > 0));
  hint.textContent =
    text.trim() === ''
      ? 'Headings, types and fields. ↑ ↓ to choose, Enter to go.'
      : results.length === 0
        ? 'Nothing found.'
        : '';
  choose(0);
}

function choose(next: number): void {
  const items = [...(found?.children ?? [])];
  if (items.length === 0) {
    field?.removeAttribute('aria-activedescendant');
    return;
  }
  chosen = (next + items.length) % items.length;
  items.forEach((item, i) => {
    item.setAttribute('aria-selected', String(i === chosen));
  });
  field?.setAttribute('aria-activedescendant', `found-${chosen}`);
  items[chosen]?.scrollIntoView({ block: 'nearest' });
}

function openFinder(): void {
  finder?.showModal();
  field?.select();
  show([], '');
  // Looks for a word that was written before the index was there.
  void loadIndex().then((entries) => field !== null && show(search(entries, field.value), field.value));
}

field?.addEventListener('input', () => {
  void loadIndex().then((entries) => show(search(entries, field.value), field.value));
});
field?.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown') choose(chosen + 1);
  else if (event.key === 'ArrowUp') choose(chosen - 1);
  else if (event.key === 'Enter') found?.children[chosen]?.querySelector('a')?.click();
  else return;
  event.preventDefault();
});
finder?.addEventListener('click', (event) => {
  if (event.target === finder) finder.close();
});
document.querySelector('button.search')?.addEventListener('click', openFinder);
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  const isAsked = event.key === '/' || (event.key === 'k' && (event.ctrlKey || event.metaKey));
  if (!isAsked || isTyping || finder?.open === true) return;
  event.preventDefault();
  openFinder();
});

const menu = document.querySelector('button.menu');
const openMenu = (isOpen: boolean) => {
  document.body.classList.toggle('navigating', isOpen);
  menu?.setAttribute('aria-expanded', String(isOpen));
};
menu?.addEventListener('click', () => openMenu(!document.body.classList.contains('navigating')));
document.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') openMenu(false);
});
document.querySelector('main')?.addEventListener('click', () => openMenu(false));

document.querySelector('button.theme')?.addEventListener('click', () => {
  const { dataset } = document.documentElement;
  const isDark =
    dataset.theme === undefined
      ? matchMedia('(prefers-color-scheme: dark)').matches
      : dataset.theme === 'dark';
  dataset.theme = isDark ? 'light' : 'dark';
  try {
    localStorage.setItem('theme', dataset.theme);
  } catch {
    // A browser that keeps nothing for files: the choice holds on this page.
  }
});

if (navigator.clipboard !== undefined) {
  for (const block of document.querySelectorAll('figure.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.querySelector('code')?.textContent ?? '');
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 1500);
    });
    block.append(button);
  }
}

/** Marks the section that is being read in the outline. */
const links = new Map(
  [...document.querySelectorAll<HTMLAnchorElement>('nav.outline a')].map((link) => [
    link.hash.slice(1),
    link,
  ]),
);
const watch = new IntersectionObserver(
  (seen) => {
    const first = seen.find(({ isIntersecting }) => isIntersecting);
    if (first === undefined) return;
    for (const [id, link] of links) link.toggleAttribute('data-current', id === first.target.id);
  },
  { rootMargin: '-64px 0px -70% 0px' },
);
for (const heading of document.querySelectorAll('article :is(h2, h3)[id]')) watch.observe(heading);
/** Brings the page's own place in the navigation into view, and leaves the page in its place. */
const navigation: HTMLElement | null = document.querySelector('#navigation');
const here: HTMLElement | null = document.querySelector('#navigation [aria-current]');
if (navigation !== null && here !== null) navigation.scrollTop = here.offsetTop - navigation.clientHeight / 2;
