import type { Domain } from '../../domain/domain.js';
import { openDomain } from '../../domain/open-domain.js';
import type { Logger } from '../../domain/platform/observe/logger.js';
import { serveOwnPort } from '../../domain/platform/observe/metrics/own-port.js';
import { nameProcess } from '../../domain/platform/observe/metrics.js';
import { startTracing } from '../../domain/platform/observe/tracing.js';
import type { Shutdown } from '../../domain/platform/process/shutdown.js';
import type { Config } from '../../domain/platform/settings/config.js';
import { pushes, requests } from '../../gateway/protocol.js';
import { Gateway } from '../../gateway/server.js';
import { HttpServer } from '../../http/server.js';

export interface RunningService {
  domain: Domain;
  httpPort: number;
  gatewayPort: number;
}

/**
 * Runs the whole service in this process: REST, event streams and sockets over one domain layer.
 *
 * @param mongoUri the database; it is not closed
 * @param shutdown gets the steps of its stop: accept no more, end open connections, and disconnect from the database
 * @param prepare runs once both ports are held, and before the service is ready
 * @throws Error naming a port that cannot be bound, or a database that does not answer
 */
export async function runService(
  config: Config,
  logger: Logger,
  mongoUri: string,
  shutdown: Shutdown,
  prepare?: (domain: Domain) => Promise<void>,
): Promise<RunningService> {
  nameProcess('service');
  const endTracing = await startTracing('service', config, logger);
  const gateway = await Gateway.open(config, logger);
  const http = new HttpServer(config, logger);
  let httpPort = 0;
  let gatewayPort = 0;
  let own: Awaited<ReturnType<typeof serveOwnPort>>;

  async function openPorts(domain: Domain, probe: () => Promise<void>): Promise<void> {
    // The gateway first: the documents and the demo page name its port.
    gatewayPort = await gateway.listen(domain, probe);
    httpPort = await http.listen(domain, probe, { port: gatewayPort, requests, pushes });
    own = await serveOwnPort('service', config, probe, logger);
    await prepare?.(domain);
  }

  const opening = openDomain({
    ...{ config, logger, mongoUri, shutdown },
    live: gateway.live,
    verifies: true,
    prepare: openPorts,
    // The embedded database has no other service (claim-data-dir.ts).
    bringing: config.MONGODB_URI ? 'nothing' : 'finish',
  });
  const { domain, close } = await opening.catch(async (error) => {
    own?.close();
    await http.drain();
    await gateway.close();
    await endTracing();
    throw error;
  });
  shutdown.add('sockets', () => gateway.drain());
  shutdown.add('http', () => http.drain());
  shutdown.add('domain', close);
  shutdown.add('gateway', () => gateway.close());
  shutdown.add('metrics', () => own?.close());
  shutdown.add('traces', endTracing);
  return { domain, httpPort, gatewayPort };
}
