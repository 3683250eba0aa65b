import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';

/** The calling program; links a call without a token to an earlier authenticated one. */
export interface Client {
  /** IP address; from X-Forwarded-For only behind a trusted proxy. */
  readonly address: string;
  readonly userAgent: string;
  /** Set if the address may be that of a proxy which TRUST_PROXY does not count: it identifies nobody behind it. */
  readonly proxied?: true;
  /**
   * Set for a page of an origin that CORS_ORIGINS does not name: a browser sends its member's cookie, and has its
   * member's address, whatever page makes the request.
   */
  readonly foreign?: true;
}

/**
 * Headers that only proxies send: RFC 9110 (7.6.3), RFC 7239, and those by which servers, load balancers and CDNs
 * name the caller or the host that it asked for.
 */
const PROXY_HEADERS = [
  'x-forwarded-for',
  'forwarded',
  'x-real-ip',
  'via',
  'x-forwarded-host',
  'cf-connecting-ip',
  'true-client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'fastly-client-ip',
  'fly-client-ip',
  'x-azure-clientip',
  'x-envoy-external-address',
  'x-original-forwarded-for',
] as const;

/** The headers that identify a client; Node joins repeated ones. */
export type ClientHeaders = {
  [name in 'user-agent' | 'origin' | (typeof PROXY_HEADERS)[number]]?: string | undefined;
};

/** An IPv4-mapped IPv6 address, as Node writes it. */
const MAPPED = /^::ffff:(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** An address as some proxies forward it (Azure, IIS): with the port of the caller, IPv6 in brackets. */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d*)?|([\d.]+):\d*)$/;

/**
 * IPv4 within IPv6, shortened: as the system writes IPv4 (RFC 4291, 2.5.5.2), and as NAT64 does (RFC 6052, 2.1), whose
 * callers would otherwise all be of one network. Its zeros may be part of the `::`.
 */
const IPV4_WITHIN = /^(?:::ffff:(?=[^:]+:)|64:ff9b::)(?:([0-9a-f]{1,4}):)?([0-9a-f]{0,4})$/;

/**
 * The canonical form of an address: IPv4 within IPv6 as IPv4, IPv6 shortened (RFC 5952), without a port. uWebSockets.js
 * writes all eight groups, Node does not.
 */
function plainAddress(written: string): string {
  // The fast paths: nearly every request has one of these two.
  if (!written.includes(':')) return written;
  if (MAPPED.test(written)) return written.slice('::ffff:'.length);
  const [, inBrackets, ipv4] = WITH_PORT.exec(written) ?? [];
  const address = inBrackets ?? ipv4 ?? written;
  if (!isIPv6(address) || address.includes('%')) return address;
  const short = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const within = IPV4_WITHIN.exec(short);
  if (!within) return short;
  const [high, low] = within.slice(1).map((group) => Number.parseInt(group || '0', 16)) as [number, number];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/**
 * Whom limits count: an IPv4 address, or of an IPv6 address its /64 network, which a single customer has to
 * itself (RFC 6177).
 *
 * @param address as `identifyClient` yields it
 */
export function networkOf(address: string): string {
  if (!address.includes(':') || !isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const rest = tail.split(':').filter(Boolean);
  const zeros = Array.from({ length: 8 - groups.length - rest.length }, () => '0');
  return `${[...groups, ...zeros, ...rest].slice(0, 4).join(':')}::/64`;
}

/** The addresses a request came through, the peer last: each proxy appends its own peer to X-Forwarded-For. */
function chainOf(remote: string, forwardedFor: string): string[] {
  return [...forwardedFor.split(',').map((part) => part.trim()), remote].filter(Boolean);
}

/** Whether a proxy says that it forwards the request. */
export function isForwarded(headers: ClientHeaders): boolean {
  return PROXY_HEADERS.some((name) => headers[name]);
}

/**
 * Identifies the caller, in the same way for both ports.
 *
 * @param remote the peer's address
 * @param headers of X-Forwarded-For, only what the trusted proxies appended is used
 * @param hops trusted proxies in front
 * @param isKnownPage whether CORS_ORIGINS names an origin
 */
export function identifyClient(
  remote: string,
  headers: ClientHeaders,
  hops: number,
  isKnownPage: (origin: string) => boolean,
): Client {
  const chain = hops === 0 ? [remote] : chainOf(remote, headers['x-forwarded-for'] ?? '');
  const first = Math.max(0, chain.length - 1 - hops);
  const proxied = hops === 0 ? isForwarded(headers) : chain.length <= hops;
  return {
    address: plainAddress(chain[first] ?? remote).slice(0, 64),
    userAgent: (headers['user-agent'] ?? '').slice(0, 512),
    ...(proxied ? { proxied: true } : {}),
    ...(headers.origin && !isKnownPage(headers.origin) ? { foreign: true } : {}),
  };
}

/**
 * The same for all calls of one client; undefined for one that identifies nobody. A hash, so that Redis holds no
 * addresses.
 */
export function clientHash({ address, userAgent, proxied, foreign }: Client): string | undefined {
  if (proxied || foreign) return undefined;
  return hash('sha256', `${address}\n${userAgent}`, 'base64url').slice(0, 27);
}
