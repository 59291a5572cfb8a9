/** Shorter keys might be words. */
const LEAST_KEY_LENGTH = 8;

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

/** Length of a piece of a key that is taken for the key: services may repeat half of it. */
const PIECE_LENGTH = { least: 6, most: 8 };

/** Levels of nested escapes that are undone. */
const MAX_ESCAPES = 3;

/** Escapes of JSON, scripts, addresses and HTML, of which punctuation needn't be told apart. */
const ESCAPE =
  /(?:\\u\{|&#x)([\da-f]{1,6})|(?:\\u00|\\x|%(?:u00)?)([\da-f]{2})|&#(\d{1,7})|&(?:(amp)|[a-z]{2,8});|\\u[\da-f]{4}/gi;

/**
 * The service's words are shown, cached and logged. They are withheld if they contain the caller's key, or a piece of
 * its letters and digits, in whatever spelling.
 */
export function withoutPiecesOfKey(words: string, authorization: string | null): string {
  const key = lettersOf(keyIn(authorization));
  if (key.length < LEAST_KEY_LENGTH) return words;
  const length = Math.max(PIECE_LENGTH.least, Math.min(PIECE_LENGTH.most, Math.ceil(key.length / 2)));
  const pieces = Array.from(key.slice(length - 1), (_, at) => key.slice(at, at + length));
  let text = words;
  for (let round = 0; round <= MAX_ESCAPES; round += 1) {
    const letters = lettersOf(text);
    if (pieces.some((piece) => letters.includes(piece))) return '[redacted]';
    text = text.replace(ESCAPE, (_, long, short, decimal, amp) => {
      const hex = long ?? short;
      return String.fromCharCode(hex ? Number.parseInt(hex, 16) : Number(decimal ?? (amp ? 38 : 32)));
    });
  }
  return words;
}

const lettersOf = (text: string) => text.toLowerCase().replace(/[^a-z\d]+/g, '');

/** The key of an `Authorization` header; empty without one. */
function keyIn(authorization: string | null): string {
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
