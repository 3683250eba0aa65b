import { isIPv6 } from 'node:net';

/** The calling program; links a call without a token to an earlier authenticated one. */
export interface Client {
  /** IP address; from X-Forwarded-For only behind a trusted proxy. */
  readonly address: string;
  readonly userAgent: string;
  /**
   * Set if an untrusted proxy forwarded the call: the address is then the proxy's and identifies nobody
   * behind it.
   */
  readonly proxied?: true;
}

/** An IPv4-mapped IPv6 address, as Node writes it. */
const MAPPED = /^::ffff:(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/**
 * The canonical form of an address: IPv4-mapped ones as IPv4, IPv6 shortened (RFC 5952). uWebSockets.js
 * writes all eight groups, Node does not.
 */
function plainAddress(address: string): string {
  // The fast paths: nearly every request has one of these two.
  if (!address.includes(':')) return address;
  if (MAPPED.test(address)) return address.slice('::ffff:'.length);
  if (!isIPv6(address) || address.includes('%')) return address;
  const short = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  if (!mapped) return short;
  const [high, low] = [Number.parseInt(mapped[1] as string, 16), Number.parseInt(mapped[2] as string, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The address seen by the outermost of our proxies. */
function forwardedAddress(remote: string, forwardedFor: string, hops: number): string {
  const chain = [...forwardedFor.split(',').map((part) => part.trim()), remote].filter(Boolean);
  return chain[Math.max(0, chain.length - 1 - hops)] ?? remote;
}

/**
 * Identifies the caller, in the same way for both ports.
 *
 * @param remote the peer's address
 * @param forwardedFor the X-Forwarded-For header, to which each proxy appends its peer
 * @param hops trusted proxies in front; only the addresses they appended are used
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
