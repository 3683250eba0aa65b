import { runProcess } from '../domain/run-process.js';
import { listCloseReasons } from '../gateway/close-reasons.js';
import { clientEvents } from '../gateway/events/index.js';
import { createLiveEmitter } from '../gateway/socket-live.js';
import { createHttpServer } from './server.js';

/** One HTTP process of several: REST and event streams. Its pushes reach sockets through the gateways. */
await runProcess('http', async ({ config, logger, redis, shutdown, open }) => {
  const http = createHttpServer(config, logger);
  const { domain, probe, close } = await open(createLiveEmitter(redis, config.REDIS_ADAPTER));
  shutdown.add('http', () => http.drain());
  shutdown.add('domain', close);
  const sockets = { port: config.GATEWAY_PORT, events: clientEvents, closeReasons: listCloseReasons() };
  const port = await http.listen(domain, probe, sockets);
  logger.info({ host: config.HOST, port }, 'REST and event streams are served');
});
