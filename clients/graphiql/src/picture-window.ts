import { DOMParser } from 'linkedom';

const parsed = new DOMParser().parseFromString(
  '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
  'image/svg+xml',
);

/** The window that drawing code finds outside a browser, before it is loaded: Plot looks at its pixels, and for its document. */
Object.assign(globalThis, { document: parsed, window: { document: parsed, devicePixelRatio: 1 } });
