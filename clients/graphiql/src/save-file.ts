/** Milliseconds after which a browser has read the file: a busy one begins to only after the click. */
const READ_MS = 60_000;

/** Characters of a name: file systems take 255 bytes, of which a browser may add some, such as `(1)`. */
const MAX_NAME = 120;

/** Offers a file to save. */
export function saveFile(name: string, blob: Blob): void {
  const address = URL.createObjectURL(blob);
  Object.assign(document.createElement('a'), { href: address, download: shortName(name) }).click();
  setTimeout(() => URL.revokeObjectURL(address), READ_MS);
}

/** Cuts a name, but not its ending. */
export function shortName(name: string): string {
  const dot = name.lastIndexOf('.');
  return name.length <= MAX_NAME ? name : name.slice(0, MAX_NAME - (name.length - dot)) + name.slice(dot);
}
