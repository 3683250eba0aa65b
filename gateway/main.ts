import { endOnSignals } from '../domain/platform/process/shutdown.js';

endOnSignals();
// Loading the rest takes most of a start.
const [{ runProcess }, { Gateway }] = await Promise.all([
  import('../domain/run-process.js'),
  import('./server.js'),
]);

/** One of several gateways: Socket.IO only, on a port that they share. */
await runProcess('gateway', async ({ config, logger, redis, shutdown, open }) => {
  const gateway = await Gateway.open(config, logger, redis);
  const { domain, probe, close } = await open(gateway.live);
  shutdown.add('sockets', () => gateway.drain());
  shutdown.add('domain', close);
  shutdown.add('gateway', () => gateway.close());
  const port = await gateway.listen(domain, probe);
  logger.info({ host: config.HOST, port }, 'sockets are served');
  return probe;
});
