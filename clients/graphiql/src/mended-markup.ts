/**
 * Mends markup of GraphiQL and its plugins that screen readers, or people, can't make sense of. The library writes it
 * anew with each change, so it is watched.
 */
export function mendMarkup(root: Element): void {
  const mend = () => {
    for (const button of root.querySelectorAll('.graphiql-sidebar > button[aria-label]')) mendButton(button);
    for (const list of root.querySelectorAll('.graphiql-tabs[role]')) list.removeAttribute('role');
    for (const tab of root.querySelectorAll('.graphiql-tab')) mendTab(tab);
    // Its label would hide the name of the operation, which is its text.
    for (const item of root.querySelectorAll('.graphiql-history-item-label[aria-label]')) {
      item.removeAttribute('aria-label');
    }
    // Its button has another name, and so have the texts of this page.
    for (const title of root.querySelectorAll('.doc-explorer-title, .graphiql-dialog-title')) {
      const better = TITLES[title.textContent ?? ''];
      if (better !== undefined) title.textContent = better;
    }
    // A build leaves of the names of icons what stands in its place: a tip would say "tl icon".
    for (const title of root.querySelectorAll('svg > title'))
      if (/^\S{1,3} icon$/.test(title.textContent ?? '')) title.textContent = '';
    for (const stop of root.querySelectorAll('.find-widget:not(.visible) [tabindex="0"]')) {
      stop.setAttribute('tabindex', '-1');
      stop.setAttribute('data-stop', '');
    }
    for (const stop of root.querySelectorAll('.find-widget.visible [data-stop]')) {
      stop.setAttribute('tabindex', '0');
      stop.removeAttribute('data-stop');
    }
    for (const field of root.querySelectorAll(
      '.graphiql-plugin input:not([aria-label]), .graphiql-plugin select:not([aria-label])',
    )) {
      const isNamed = field.hasAttribute('placeholder') || field.hasAttribute('id');
      if (!isNamed) field.setAttribute('aria-label', field.localName === 'select' ? 'Choice' : 'Value');
    }
  };
  new MutationObserver(mend).observe(root, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['role', 'aria-selected', 'aria-label', 'class'],
  });
}

/** Titles of parts whose buttons have other names. */
const TITLES: Readonly<Record<string, string>> = { Explorer: 'Builder', 'Short Keys': 'Shortcuts' };

/** Words below the icons at the left, where the name of the button, which begins with the key, hasn't them. */
const WORDS: Readonly<Record<string, string>> = {
  'Documentation Explorer': 'Docs',
  'Re-fetch': 'Reload',
  'Open short keys': 'Shortcuts',
};

/** Has the name of a button begin with the word that is seen, which people say who speak to the page. */
function mendButton(button: Element): void {
  const name = button.getAttribute('aria-label') ?? '';
  for (const [part, word] of Object.entries(WORDS))
    if (name.includes(part) && !name.startsWith(word)) button.setAttribute('aria-label', `${word}: ${name}`);
}

/**
 * Tabs are marked as `tab`s with two buttons inside, which can't be reached there. As a plain list of buttons, of which
 * one is current, they can.
 */
function mendTab(tab: Element): void {
  const isCurrent = String(tab.classList.contains('graphiql-tab-active'));
  const button = tab.querySelector('.graphiql-tab-button');
  if (button?.getAttribute('aria-current') !== isCurrent) button?.setAttribute('aria-current', isCurrent);
  for (const name of ['role', 'aria-selected']) if (tab.hasAttribute(name)) tab.removeAttribute(name);
}
