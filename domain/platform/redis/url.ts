import type { ConnectionOptions } from 'node:tls';

interface Address {
  host: string;
  port: number;
}

/** A parsed REDIS_URL. Passwords are decoded; `tls` is set for `rediss`. */
export interface RedisTarget {
  kind: 'single' | 'sentinel' | 'cluster';
  /** The server; for Sentinel the sentinels, for Cluster the first nodes to contact. */
  addresses: [Address, ...Address[]];
  /** Database number; 0 for Cluster. */
  db: number;
  username?: string;
  password?: string;
  tls?: ConnectionOptions;
  /** Sentinel: name of the master. */
  master?: string;
  /** Sentinel: the sentinels' password. */
  sentinelPassword?: string;
}

const FORM = /^redis(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(\/[^?#]*)?(?:\?([^#]*))?$/;

const DEFAULT_PORTS = { single: 6379, sentinel: 26_379, cluster: 6379 };

/** @throws Error for anything but `host`, `host:port` or `[IPv6]:port` */
function parseAddress(text: string, defaultPort: number): Address {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(text);
  const port = match?.[3] === undefined ? defaultPort : Number(match[3]);
  if (!match || port < 1 || port > 65_535) throw new Error('each server must be host:port');
  return { host: (match[1] ?? match[2]) as string, port };
}

/** @throws Error unless the last part of the path is a database number */
function parseDb(text: string | undefined): number {
  if (!text) return 0;
  if (!/^\d{1,4}$/.test(text)) throw new Error('the database must be a number');
  return Number(text);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new Error('user and password must be percent-encoded', { cause: error });
  }
}

/** `user:password`, `:password`, or a password alone. */
function parseCredentials(text: string): Pick<RedisTarget, 'username' | 'password'> {
  const colon = text.indexOf(':');
  const username = colon > 0 ? decode(text.slice(0, colon)) : '';
  const password = decode(text.slice(colon + 1));
  return { ...(username ? { username } : {}), ...(password ? { password } : {}) };
}

/**
 * Reads a REDIS_URL:
 *
 *     redis://[user:password@]host[:port][/db]                                one server
 *     redis+sentinel://[user:password@]host[:port],host[:port]/master[/db]    Redis Sentinel
 *     redis+cluster://[user:password@]host[:port],host[:port]                 Redis Cluster
 *
 * `rediss` instead of `redis` uses TLS; `?sentinelPassword=…` sets the sentinels' password.
 *
 * @throws Error with one line that does not contain the URL, which has a password
 */
export function parseRedisUrl(url: string): RedisTarget {
  const match = FORM.exec(url);
  if (!match) throw new Error('must look like redis://[user:password@]host:port/db');
  const [, secure, scheme, credentials, hosts = '', path = '', query] = match;
  const kind = (scheme ?? 'single') as RedisTarget['kind'];
  const addresses = hosts.split(',').map((host) => parseAddress(host.trim(), DEFAULT_PORTS[kind]));
  if (kind === 'single' && addresses.length > 1) {
    throw new Error('several servers need redis+sentinel:// or redis+cluster://');
  }
  const parts = path.split('/').filter(Boolean);
  const master = kind === 'sentinel' ? decode(parts.shift() ?? '') : undefined;
  if (master === '') throw new Error('redis+sentinel:// needs the name of the master after the servers');
  if (parts.length > 1) throw new Error('the path holds too many parts');
  const db = parseDb(parts[0]);
  if (kind === 'cluster' && db !== 0) throw new Error('Redis Cluster has no databases but 0');
  const sentinelPassword = new URLSearchParams(query).get('sentinelPassword');
  return {
    kind,
    addresses: addresses as [Address, ...Address[]],
    db,
    ...(credentials ? parseCredentials(credentials) : {}),
    ...(secure ? { tls: {} } : {}),
    ...(master ? { master } : {}),
    ...(sentinelPassword ? { sentinelPassword } : {}),
  };
}
