import { type Client, type ClientHeaders, identifyClient, isForwarded } from '../../kernel/client.js';
import { createOriginPolicy } from '../../kernel/origins.js';
import type { Logger } from '../observe/logger.js';
import type { Config } from '../settings/config.js';

/** Processes that have logged a proxy, by their logger: both ports of one identify clients. */
const warned = new WeakSet<Logger>();

/**
 * @returns a function that identifies the caller by the peer's address and the headers. It logs the first request that
 *   was forwarded by a proxy which TRUST_PROXY does not count
 */
export function createClientIdentifier(
  { TRUST_PROXY, CORS_ORIGINS }: Pick<Config, 'TRUST_PROXY' | 'CORS_ORIGINS'>,
  logger: Logger,
): (remote: string, headers: ClientHeaders) => Client {
  // `*` allows every origin and names none.
  const isKnownPage = createOriginPolicy(CORS_ORIGINS?.filter((origin) => origin !== '*'));
  return (remote, headers) => {
    const client = identifyClient(remote, headers, TRUST_PROXY, isKnownPage);
    if (client.proxied && !warned.has(logger) && isForwarded(headers)) {
      warned.add(logger);
      logger.warn(
        { trusted: TRUST_PROXY },
        'a proxy forwards requests that TRUST_PROXY does not count: no such caller is known without a token, and all share the limits of one address. Set TRUST_PROXY to the number of proxies in front, each of which has to append to X-Forwarded-For',
      );
    }
    return client;
  };
}
