import { endOnSignals } from '../domain/platform/process/shutdown.js';

endOnSignals();
// Loading the rest takes most of a start.
const [{ runProcess }, { pushes, requests }, { createLiveEmitter }, { HttpServer }] = await Promise.all([
  import('../domain/run-process.js'),
  import('../gateway/protocol.js'),
  import('../gateway/socket-live.js'),
  import('./server.js'),
]);

/** One of several HTTP processes: REST and event streams. Its pushes reach sockets through the gateways. */
await runProcess('http', async ({ config, logger, redis, shutdown, open }) => {
  const http = new HttpServer(config, logger);
  const { domain, probe, close } = await open(createLiveEmitter(redis, config.REDIS_ADAPTER));
  shutdown.add('http', () => http.drain());
  shutdown.add('domain', close);
  const sockets = { port: config.GATEWAY_PORT, requests, pushes };
  const port = await http.listen(domain, probe, sockets);
  logger.info({ host: config.HOST, port }, 'REST and event streams are served');
  return probe;
});
