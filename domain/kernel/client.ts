import { isIPv6 } from 'node:net';

/** The program at the other end: what links a call without a token to an earlier authenticated one. */
export interface Client {
  /** IP address; from X-Forwarded-For only behind a trusted proxy. */
  readonly address: string;
  readonly userAgent: string;
  /**
   * Set where a proxy that is not one of ours passed the call on: the address is then the proxy's, shared
   * by everybody behind it, and tells nobody apart.
   */
  readonly proxied?: true;
}

/** An IPv4 address that came in through an IPv6 socket, as Node writes it. */
const MAPPED = /^::ffff:(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/**
 * An address in its one spelling: an IPv4 address that came in through an IPv6 socket as plain IPv4, an
 * IPv6 address shortened (RFC 5952). uWebSockets.js writes all eight groups out and Node does not.
 */
function plainAddress(address: string): string {
  // Nearly every address is one of these two, and both are read at every request.
  if (!address.includes(':')) return address;
  if (MAPPED.test(address)) return address.slice('::ffff:'.length);
  if (!isIPv6(address) || address.includes('%')) return address;
  const short = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  if (!mapped) return short;
  const [high, low] = [Number.parseInt(mapped[1] as string, 16), Number.parseInt(mapped[2] as string, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The address that the outermost of our own proxies saw. */
function forwardedAddress(remote: string, forwardedFor: string, hops: number): string {
  const chain = [...forwardedFor.split(',').map((part) => part.trim()), remote].filter(Boolean);
  return chain[Math.max(0, chain.length - 1 - hops)] ?? remote;
}

/**
 * Who is calling, the same for both ports so that they agree on it.
 *
 * @param remote the peer of the connection
 * @param forwardedFor the X-Forwarded-For header: each proxy appended the peer it saw
 * @param hops how many proxies in front are ours; only what those appended is believed
 */
export function identifyClient(
  remote: string,
  forwardedFor: string | undefined,
  userAgent: string | undefined,
  hops: number,
): Client {
  const address = hops === 0 ? remote : forwardedAddress(remote, forwardedFor ?? '', hops);
  return {
    address: plainAddress(address).slice(0, 64),
    userAgent: (userAgent ?? '').slice(0, 512),
    ...(hops === 0 && forwardedFor ? { proxied: true } : {}),
  };
}
