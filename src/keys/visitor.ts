import ipaddr from 'ipaddr.js';

/** Bits of an IPv6 address that name the network: one home or one host chooses the others. */
const NETWORK_BITS = 64;

/** An address with a port, as some proxies write it; IPv6 is in brackets, with or without a port. */
const WITH_PORT = /^(?:\[(?<inBrackets>[^\]]+)\](?::\d+)?|(?<bare>\d+\.\d+\.\d+\.\d+):\d+)$/;

/** Returns an address without a port, brackets or quotes. */
export function withoutPort(address: string): string {
  const text = address.replaceAll('"', '').trim();
  const { inBrackets, bare } = WITH_PORT.exec(text)?.groups ?? {};
  return inBrackets ?? bare ?? text;
}

/**
 * Names the visitor of an address: the same for all spellings of it, for each port, and for all addresses of one IPv6
 * network. A text that is no address stands for itself.
 */
export function visitorOf(address: string): string {
  const text = withoutPort(address);
  if (!ipaddr.isValid(text)) return text;
  const parsed = ipaddr.process(text);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const withoutZone = parsed.toNormalizedString().replace(/%.*$/, '');
  return ipaddr.IPv6.networkAddressFromCIDR(`${withoutZone}/${NETWORK_BITS}`).toString();
}
