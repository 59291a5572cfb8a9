/** Milliseconds after which a browser has read the file: a busy one begins to only after the click. */
const READ_MS = 60_000;

/** Offers a file to save. */
export function saveFile(name: string, blob: Blob): void {
  const address = URL.createObjectURL(blob);
  Object.assign(document.createElement('a'), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), READ_MS);
}
