/**
 * The cause of a failure that the same call would meet again until somebody mends what it names: such a call is not
 * retried.
 */
export class Lasting extends Error {}

/** OpenSSL's verdicts on certificates, as Node has them. */
const OF_CERTIFICATES =
  /(^|_)(CERT|CRL)(_|$)|^(HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/;

/** Both sides speak, but have no version or cipher in common, or one misses the other's certificate. */
const OF_HANDSHAKES =
  /^ERR_SSL_(WRONG_VERSION|PACKET_LENGTH|NO_|UNKNOWN_PROTOCOL|UNSUPPORTED|.*ALERT_(ACCESS_DENIED|BAD_CERT|CERT|HANDSHAKE_FAILURE|INSUFFICIENT|NO_|PROTOCOL_VERSION|UNKNOWN_CA|UNRECOGNIZED_NAME|UNSUPPORTED))/;

/** undici tells statuses of proxies in its messages alone. */
const OF_PROXIES = /^Proxy response \((\d{3})\)|^Proxy Authentication Required \((\d{3})\)/;

const ADDRESS = 'COUNTRY_DATA_URL';

/** By the code of the error; the first that fits. */
const REASONS: readonly (readonly [codes: RegExp, told: string])[] = [
  [
    OF_CERTIFICATES,
    `Its certificate is not accepted: have it mended, or name its authority in NODE_EXTRA_CA_CERTS`,
  ],
  [OF_HANDSHAKES, `No encrypted connection can be agreed on: check ${ADDRESS}, and its http:// or https://`],
  [
    /^HTTPParserError$/,
    `What answers does not speak HTTP as it should: check ${ADDRESS}, and its http:// or https://`,
  ],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'Its response has longer headers than are read (16 KiB)'],
  [/^ENOTFOUND$/, `Its address has no such host: check ${ADDRESS}, and HTTPS_PROXY or HTTP_PROXY if set`],
  [/^(EACCES|EPERM)$/, 'This machine does not permit the connection: check its firewall'],
  [/^UND_ERR_INVALID_ARG$|^ERR_INVALID_URL$/, `The request can't be sent: check ${ADDRESS}`],
];

/** undici's errors of its parser have no code. A connection may break anywhere in a body. */
function codeOf({ code, name, message, cause }: NodeJS.ErrnoException): string {
  if (name === 'HTTPParserError') return /chunk|clos|EOF/i.test(message) ? '' : name;
  // The connection with a proxy has an error around its own.
  return (code === 'UND_ERR_PRX_TLS' ? (cause as NodeJS.ErrnoException).code : code) ?? '';
}

/** Tells why a connection can't come about, and what to do; null if another attempt may fare better. */
export function lastingReason(error: Error): string | null {
  const status = OF_PROXIES.exec(error.message)?.slice(1).find(Boolean);
  if (status !== undefined)
    return status.startsWith('4')
      ? `The proxy refuses the way to it (status ${status}): check HTTPS_PROXY or HTTP_PROXY, and its name and password`
      : null;
  const code = codeOf(error);
  const told = REASONS.find(([codes]) => codes.test(code))?.[1];
  return told === undefined ? null : `${told} (${code})`;
}

/** Statuses above 499 that are about what was asked, not about a moment. */
export const LASTING_STATUSES: ReadonlySet<number> = new Set([501, 505, 506, 508, 510, 511, 526]);
