import { startTcpProxy, type TcpProxy } from '../command/tcp-proxy.js';
import { handleCommands, reportReady } from '../load/worker-process.js';
import type { ProxyCommand } from './proxies.js';

/**
 * The proxies of a run. In a process of their own: the one of the clients may be busy for seconds, in which every process of
 * the service would lose Redis, and the checker would know of no fault.
 */
const proxies = new Map<number, TcpProxy>();

handleCommands(async (command: ProxyCommand) => {
  if ('target' in command) {
    const proxy = await startTcpProxy(() => command.target);
    proxies.set(proxy.port, proxy);
    return proxy.port;
  }
  const proxy = proxies.get(command.port);
  if (!proxy) throw new Error(`no proxy at port ${command.port}`);
  return proxy[command.act]();
});
reportReady();
