/** Shorter keys might be words. */
export const LEAST_KEY_LENGTH = 8;

/** What JSON has outside of strings: a key made of it alone might be a figure. */
const OUTSIDE_STRINGS = /true|false|null|[\d.eE+\-[\]{}:,]/g;

/**
 * Takes the caller's key out of a body that repeats it: data is cached and shown, and an issued key's caller must not
 * learn the key that pays. Letters and digits are looked for as they are, since hardly any writer escapes them; all
 * else in the spellings of JSON, addresses and HTML.
 */
export function withoutEchoedKey(body: Buffer, authorization: string | null): Buffer {
  const key = keyIn(authorization);
  if (key.length < LEAST_KEY_LENGTH || key.replace(OUTSIDE_STRINGS, '') === '') return body;
  const runs = key.match(/[a-z\d]+/gi) ?? [];
  const longest = runs.reduce((one, other) => (other.length > one.length ? other : one), '');
  // Most bodies end here, unread but for this search.
  if (!body.includes(longest)) return body;
  // Each byte is a character, so all others stay as they are.
  const text = body.toString('latin1');
  const shown = text.replace(new RegExp(Array.from(key, spellingsOf).join(''), 'gi'), '[redacted]');
  return shown === text ? body : Buffer.from(shown, 'latin1');
}

/** The key of an `Authorization` header; empty without one. */
export function keyIn(authorization: string | null): string {
  return authorization?.replace(/^bearer +/i, '') ?? '';
}

/** Returns the pattern of a character of a key within a string of JSON. */
function spellingsOf(character: string): string {
  if (/[a-z\d]/i.test(character)) return character;
  const code = character.charCodeAt(0);
  const hex = code.toString(16).padStart(2, '0');
  const plain = String.raw`\x${hex}`;
  const needsEscape = character === '"' || character === '\\';
  return `(?:${needsEscape ? '' : `${plain}|`}${String.raw`\\`}(?:${plain}|u00${hex})|%(?:25)*${hex}|&(?:amp;)*(?:#0*${code}|#x0*${hex}|[a-z]{2,8});)`;
}
