import type { Config } from '../../domain/platform/config.js';
import { holderOf, portFault, tryPort } from '../../domain/platform/port-faults.js';
import { baseUrl } from '../start/welcome.js';
import { type Check, Fault, failure, ok, type Shared, Skipped, shared, type Verdict } from './check.js';
import { below, messageOf, request } from './request.js';

/** What listens at a port of ours. */
type Port = { state: 'free' } | { state: 'serving'; base: string; pids: number[]; notReady?: string };

type PortName = 'HTTP_PORT' | 'GATEWAY_PORT';

/** @throws Fault naming who holds the port if it is not this service */
async function inspectPort({ HOST }: Config, name: PortName, port: number): Promise<Port> {
  if (port === 0) throw new Skipped(`${name}=0 picks a free port`);
  const error = await tryPort(HOST, port);
  if (!error) return { state: 'free' };
  const fault = portFault(name, HOST, port, error);
  if (error.code !== 'EADDRINUSE') throw new Fault(fault, 'set HOST to an address of this machine');
  const base = baseUrl(HOST, port);
  const alive = await request(below(base, '/healthz')).catch(() => undefined);
  if (alive?.status !== 200 || !/^\{"up":true\}\s*$/.test(alive.body))
    throw new Fault(fault, `stop it, or set ${name} to another port`);
  const [, pid] = /^process (\d+)/.exec(holderOf(HOST, port) ?? '') ?? [];
  const pids = pid ? [Number(pid)] : [];
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
