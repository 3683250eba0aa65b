import { isIPv6 } from 'node:net';

/** The program at the other end: what links a call without a token to an earlier authenticated one. */
export interface Client {
  /** IP address; from X-Forwarded-For only behind a trusted proxy. */
  readonly address: string;
  readonly userAgent: string;
}

/** An IPv4 address that came in through an IPv6 socket, in any spelling, as plain IPv4. */
function plainAddress(address: string): string {
  const short = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (short?.[1]) return short[1];
  // uWebSockets.js spells all eight groups out: 0000:0000:0000:0000:0000:ffff:7f00:0001.
  const long = isIPv6(address) ? /^(?:0+:){5}ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address) : null;
  if (!long) return address;
  const [high, low] = [Number.parseInt(long[1] as string, 16), Number.parseInt(long[2] as string, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
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
  const chain = [...(forwardedFor ?? '').split(',').map((part) => part.trim()), remote].filter(Boolean);
  const address = hops === 0 ? remote : (chain[Math.max(0, chain.length - 1 - hops)] ?? remote);
  return { address: plainAddress(address).slice(0, 64), userAgent: (userAgent ?? '').slice(0, 512) };
}
