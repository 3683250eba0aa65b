/** Says why a port cannot be opened, and by which process it is held. */
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer, isIPv4 } from 'node:net';
import { basename } from 'node:path';

/** State of a listening socket in /proc/net/tcp. */
const LISTEN = '0A';

/** Binds a port exclusively, and releases it. @returns why that fails */
export async function tryPort(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer();
  server.listen({ host, port, exclusive: true });
  try {
    await once(server, 'listening');
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
  server.close();
  await once(server, 'close');
  return undefined;
}

/** Runs a read of /proc, which other systems lack, and which hides the processes of other users. */
function read<T>(from: () => T): T | undefined {
  try {
    return from();
  } catch {
    return undefined;
  }
}

/** The sockets that listen on a port of an address, as links of /proc/PID/fd name them. */
function listenersOf(host: string, port: number): Set<string> {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  // In the order of the machine's bytes: little-endian wherever Node runs.
  const hexHost = Buffer.from(isIPv4(host) ? host.split('.').map(Number).reverse() : [])
    .toString('hex')
    .toUpperCase();
  const lines = ['tcp', 'tcp6'].flatMap(
    (file) =>
      read(() => readFileSync(`/proc/net/${file}`, 'utf8'))
        ?.split('\n')
        .slice(1) ?? [],
  );
  const sockets = lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/ +/);
    const [address = '', at] = local.split(':');
    const isHere = address.endsWith(hexHost) || /^0+$/.test(address) || host === '0.0.0.0';
    return at === hexPort && state === LISTEN && isHere ? [`socket:[${inode}]`] : [];
  });
  return new Set(sockets);
}

/** Pid and program of a process. Other arguments than Node's script may be secrets. */
function describe(pid: string): string {
  const [program = '', ...args] = read(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')) ?? [];
  const script = /^node/.test(basename(program)) ? args.find((arg) => /\.[cm]?js$/.test(arg)) : undefined;
  const names = [basename(program.split(' ')[0] ?? ''), script].filter(Boolean).join(' ');
  return `process ${pid}${names ? ` (${names})` : ''}`;
}

/** The process that listens on a port, where the system tells: on Linux, for processes of the same user. */
export function holderOf(host: string, port: number): string | undefined {
  const sockets = listenersOf(host, port);
  if (sockets.size === 0) return undefined;
  const pids = (read(() => readdirSync('/proc')) ?? []).filter((name) => /^\d+$/.test(name));
  const pid = pids.find((one) => {
    const folder = `/proc/${one}/fd`;
    const files = read(() => readdirSync(folder)) ?? [];
    return files.some((file) => sockets.has(read(() => readlinkSync(`${folder}/${file}`)) ?? ''));
  });
  return pid && describe(pid);
}

/**
 * The line for an address that cannot be bound.
 * @param setting that names the port
 */
export function portFault(
  setting: string,
  host: string,
  port: number,
  { code, message }: NodeJS.ErrnoException,
): string {
  switch (code) {
    case 'EADDRINUSE': {
      const holder = holderOf(host, port);
      return `${setting}: ${host}:${port} is taken${holder ? ` by ${holder}` : ''}`;
    }
    case 'EADDRNOTAVAIL':
      return `HOST: ${host} is not an address of this machine`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST: ${host} is not an address, and no name that this machine knows`;
    case 'EACCES':
      return `${setting}: this user may not open port ${port} of ${host}`;
    default:
      return `${setting}: ${host}:${port} cannot be bound: ${message}`;
  }
}
