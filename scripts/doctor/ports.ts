import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Config } from '../../domain/platform/config.js';
import { isFree } from '../command/ports.js';
import { baseUrl } from '../start/welcome.js';
import { type Check, Fault, failure, ok, type Shared, Skipped, shared, type Verdict } from './check.js';
import { below, messageOf, request } from './request.js';

/** The state LISTEN in /proc/net/tcp. (proc(5)) */
const LISTEN = '0A';

/** Inodes of the sockets that listen on a port. */
function listeningInodes(port: number): Set<string> {
  const inodes = new Set<string>();
  for (const table of ['tcp', 'tcp6']) {
    for (const line of readFileSync(`/proc/net/${table}`, 'utf8').split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (state === LISTEN && parseInt(local.split(':')[1] ?? '', 16) === port) inodes.add(inode);
    }
  }
  return inodes;
}

function holds(pid: string, inodes: Set<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((file) => {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${file}`)) ?? [];
      return inode !== undefined && inodes.has(inode);
    });
  } catch {
    // Another user's, or it has ended.
    return false;
  }
}

/** The processes that listen on a port, as far as this user may see them. */
function listenersOn(port: number): { pid: number; name: string }[] {
  try {
    const inodes = listeningInodes(port);
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && holds(name, inodes));
    return pids.map((pid) => ({
      pid: Number(pid),
      name: readFileSync(`/proc/${pid}/comm`, 'utf8').trim(),
    }));
  } catch {
    return [];
  }
}

/** What listens at a port of ours. */
type Port = { state: 'free' } | { state: 'serving'; base: string; pids: number[]; notReady?: string };

type PortName = 'HTTP_PORT' | 'GATEWAY_PORT';

/** @throws Fault naming who holds the port if it is not this service */
async function inspectPort({ HOST }: Config, name: PortName, port: number): Promise<Port> {
  if (port === 0) throw new Skipped(`${name}=0 picks a free port`);
  let free: boolean;
  try {
    free = await isFree(HOST, port);
  } catch (error) {
    throw new Fault((error as Error).message, 'set HOST to an address of this machine');
  }
  if (free) return { state: 'free' };
  const holders = listenersOn(port);
  const base = baseUrl(HOST, port);
  const alive = await request(below(base, '/healthz')).catch(() => undefined);
  if (alive?.status !== 200 || !/^\{"up":true\}\s*$/.test(alive.body)) {
    const who = holders.map(({ pid, name }) => `process ${pid} (${name})`).join(', ') || 'another program';
    throw new Fault(`${HOST}:${port} is taken by ${who}`, `stop it, or set ${name} to another port`);
  }
  const pids = holders.map(({ pid }) => pid);
  const ready = await request(below(base, '/readyz'));
  if (ready.status === 200) return { state: 'serving', base, pids };
  return { state: 'serving', base, pids, notReady: messageOf(ready.body) };
}

function judgePort(port: Port, name: PortName): Verdict {
  if (port.state === 'free') return ok(`${name} is free: nothing serves there now`);
  if (port.notReady === undefined) return ok(`the service answers at ${port.base}, and is ready`);
  return failure(
    `the service at ${port.base} is not ready: ${port.notReady}`,
    'docs/operations.md, the runbooks: the database or Redis is down, or it stops',
  );
}

/** A port and what listens there. */
interface Inspected {
  name: PortName;
  port: Shared<Port>;
}

/** @throws Skipped if no service answers there */
async function localBase({ name, port }: Inspected): Promise<string> {
  const found = await port.given();
  if (found.state === 'serving') return found.base;
  throw new Skipped(`no service answers at ${name}, and no --url is given`);
}

/** Both ports, and the base addresses and processes of a service that answers there. */
export function inspectPorts(config: () => Config) {
  const inspected = (name: PortName, other?: PortName): Inspected => ({
    name,
    port: shared(`the service does not answer at ${name}`, async () => {
      const { [name]: port, [other ?? name]: taken } = config();
      if (other && port === taken && port > 0)
        throw new Fault(`${name} is ${other}, ${port}`, 'set another port');
      return inspectPort(config(), name, port);
    }),
  });
  const http = inspected('HTTP_PORT');
  const gateway = inspected('GATEWAY_PORT', 'HTTP_PORT');
  const checkOf = (checkName: string, { name, port }: Inspected): Check => ({
    name: checkName,
    run: async () => judgePort(await port.read(), name),
  });
  return {
    checks: [checkOf('http port', http), checkOf('gateway port', gateway)],
    httpBase: () => localBase(http),
    gatewayBase: () => localBase(gateway),
    /** Processes of the service that this user may see. */
    async servingPids(): Promise<number[]> {
      const ports = await Promise.all([http, gateway].map(({ port }) => port.read().catch(() => undefined)));
      return ports.flatMap((port) => (port?.state === 'serving' ? port.pids : []));
    },
  };
}
