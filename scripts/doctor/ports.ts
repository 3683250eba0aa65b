import { holderOf, portFault, tryPort } from '../../domain/platform/process/port-faults.js';
import type { Config } from '../../domain/platform/settings/config.js';
import { baseUrl } from '../start/welcome.js';
import { type Check, Fault, ok, type Shared, Skipped, shared, type Verdict } from './check.js';
import { judgeReadiness, readinessOf } from './readiness.js';
import { below, request } from './request.js';

/** What listens at a port of ours. */
type Port = { state: 'free' } | { state: 'serving'; base: string; pids: number[] };

/** The ports of clients. */
type PortName = 'HTTP_PORT' | 'GATEWAY_PORT';

/** @throws Fault naming who holds the port if it is not this service */
export async function inspectPort(
  { HOST }: Config,
  name: PortName | 'METRICS_PORT',
  port: number,
): Promise<Port> {
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
  return { state: 'serving', base, pids: pid ? [Number(pid)] : [] };
}

/** Judges by what listens at a port of ours, whether it is ready. */
export async function judgePort(port: Port, name: string): Promise<Verdict> {
  if (port.state === 'free') return ok(`${name} is free: nothing serves there now`);
  return judgeReadiness(`the service at ${port.base}`, await readinessOf(port.base));
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
  async function serving() {
    const ports = await Promise.all([http, gateway].map(({ port }) => port.read().catch(() => undefined)));
    return ports.filter((port) => port?.state === 'serving');
  }
  return {
    checks: [checkOf('http port', http), checkOf('gateway port', gateway)],
    httpBase: () => localBase(http),
    gatewayBase: () => localBase(gateway),
    /** Processes of the service that this user may see. */
    servingPids: async () => (await serving()).flatMap(({ pids }) => pids),
    isServing: async () => (await serving()).length > 0,
  };
}
