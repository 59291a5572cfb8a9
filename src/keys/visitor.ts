import ipaddr from 'ipaddr.js';

/** Bits of an address of IPv6 that a network has: the others are one home's or one host's to choose. */
const NETWORK_BITS = 64;

/** An address with a port behind it, as some proxies write it: of IPv6 in brackets, which may stand there without a port, too. */
const WITH_PORT = /^(?:\[(?<inBrackets>[^\]]+)\](?::\d+)?|(?<bare>\d+\.\d+\.\d+\.\d+):\d+)$/;

/** Returns an address without a port, brackets or quotes. */
export function withoutPort(address: string): string {
  const text = address.replaceAll('"', '').trim();
  const { inBrackets, bare } = WITH_PORT.exec(text)?.groups ?? {};
  return inBrackets ?? bare ?? text;
}

/**
 * Names the visitor of an address: the same for all spellings of it, for each port, and for all addresses of one network
 * of IPv6. A text that is no address stands for itself.
 */
export function visitorOf(address: string): string {
  const text = withoutPort(address);
  if (!ipaddr.isValid(text)) return text;
  const parsed = ipaddr.process(text);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${withoutZone(parsed)}/${NETWORK_BITS}`).toString();
}

function withoutZone(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  return address.toNormalizedString().replace(/%.*$/, '');
}
