import { runProcess } from '../domain/run-process.js';
import { pushes, requests } from '../gateway/protocol.js';
import { createLiveEmitter } from '../gateway/socket-live.js';
import { HttpServer } from './server.js';

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
