/** @returns true if the text is on the clipboard */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedByEvent(text);
  }
}

/**
 * Copies by the only way that browsers have on a page that came without TLS from another machine. Something
 * has to be selected for it, but the copied text doesn't depend on that: an open menu takes the focus back at
 * once.
 */
function copiedByEvent(text: string): boolean {
  let isCopied = false;
  const onCopy = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    event.stopImmediatePropagation();
    isCopied = event.clipboardData !== null;
  };
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.addEventListener('copy', onCopy, true);
  const isDone = document.execCommand('copy');
  document.removeEventListener('copy', onCopy, true);
  area.remove();
  return isDone && isCopied;
}

/** GraphiQL's own button knows no other way than the clipboard of a page that came by TLS. */
export function copyWithoutClipboard(text: string): void {
  if (navigator.clipboard === undefined) copiedByEvent(text);
}
