/**
 * GraphiQL marks its tabs as `tab`s with two buttons inside, which screen readers can't reach there. As a plain list of
 * buttons, of which one is current, they can. The marks come back with each change, so they are watched for.
 */
export function mendTabRoles(root: Element): void {
  const mend = () => {
    for (const list of root.querySelectorAll('.graphiql-tabs[role]')) list.removeAttribute('role');
    for (const tab of root.querySelectorAll('.graphiql-tab')) {
      const isCurrent = tab.classList.contains('graphiql-tab-active');
      const button = tab.querySelector('.graphiql-tab-button');
      if (button?.getAttribute('aria-current') !== String(isCurrent)) {
        button?.setAttribute('aria-current', String(isCurrent));
      }
      for (const name of ['role', 'aria-selected']) if (tab.hasAttribute(name)) tab.removeAttribute(name);
    }
  };
  new MutationObserver(mend).observe(root, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['role', 'aria-selected', 'class'],
  });
}
