import type { Domain } from '../../domain/domain.js';
import { openDomain } from '../../domain/open-domain.js';
import type { Config } from '../../domain/platform/config.js';
import type { Logger } from '../../domain/platform/logger.js';
import { nameProcess } from '../../domain/platform/metrics.js';
import { Shutdown } from '../../domain/platform/shutdown.js';
import { pushes, requests } from '../../gateway/protocol.js';
import { Gateway } from '../../gateway/server.js';
import { HttpServer } from '../../http/server.js';

export interface RunningService {
  domain: Domain;
  httpPort: number;
  gatewayPort: number;
  shutdown: Shutdown;
}

/**
 * Runs the whole service in this process: REST, event streams and sockets over one domain layer. Its shutdown
 * first stops accepting, then ends open connections, and disconnects from the database last.
 *
 * @param mongoUri the database; it is not closed
 * @param prepare runs before anything is served
 * @throws Error naming a port that is taken, or a database that does not answer
 */
export async function runService(
  config: Config,
  logger: Logger,
  mongoUri: string,
  prepare?: (domain: Domain) => Promise<void>,
): Promise<RunningService> {
  nameProcess('service');
  const shutdown = new Shutdown(logger, config.SHUTDOWN_TIMEOUT_MS);
  const gateway = await Gateway.open(config, logger);
  const http = new HttpServer(config, logger);
  const { domain, probe, close } = await openDomain({
    ...{ config, logger, mongoUri, shutdown, prepare },
    live: gateway.live,
  });
  shutdown.add('sockets', () => gateway.drain());
  shutdown.add('http', () => http.drain());
  shutdown.add('domain', close);
  shutdown.add('gateway', () => gateway.close());
  try {
    // The gateway first: the documents and the demo page name its port.
    const gatewayPort = await gateway.listen(domain, probe);
    const sockets = { port: gatewayPort, requests, pushes };
    const httpPort = await http.listen(domain, probe, sockets);
    return { domain, httpPort, gatewayPort, shutdown };
  } catch (error) {
    await http.drain();
    await gateway.close();
    await close();
    throw error;
  }
}
