import type { ConnectionSpec } from '../clients/connection.js';
import { startWorkerPool } from '../clients/worker-pool.js';
import { measureFlow, memoryOf } from '../measure.js';
import { type Figures, flowColumns } from '../metrics.js';
import { remoteTargetOf } from '../options.js';
import { mosquitto, nchan } from '../programs.js';
import type { Contender, Run, Scenario } from '../scenario.js';
import { bareUws, ours, plainWs, type RunningServer, type Server, socketIoOnWs } from '../start-server.js';
import { atLeast, atMost, combine, medianOf, onlyAt, ratio } from '../verdict.js';

const SIZES = [100, 1_000, 10_000];

/** The size at which all contenders are compared. */
const COMPARED = 1_000;

/** Deliveries per second without --rate, for all sizes that allow it. */
const DELIVERIES_PER_SECOND = 100_000;

/** Most messages per second: the messages of one room are stored one after another. */
const MAX_RATE = 400;

/** Messages sent at the same moment, each by another sender. */
const BURST = 20;

/** Characters of a message. */
const LENGTH = 100;

/** Connections of one room's two members, some of which send. */
function specsOf(server: RunningServer, size: number, senders: number): ConnectionSpec[] {
  const specs = Array.from({ length: size }, (_, i): ConnectionSpec => ({ ...server.members[i % 2] }));
  if (!server.senderReceives)
    return [...specs, ...Array.from({ length: senders }, () => ({ ...server.members[0], sender: true }))];
  for (const spec of specs.slice(0, senders)) spec.sender = true;
  return specs;
}

async function measure(server: Server, size: number, burst: number, run: Run): Promise<Figures> {
  const { group, options } = run;
  const running = await server.start(run, 1);
  const pool = await startWorkerPool(group, options.clients);
  const before = memoryOf(running);
  await pool.openAll(running.target, specsOf(running, size, burst));
  const memory = memoryOf(running) - before;
  const rate = options.rate ?? Math.min(MAX_RATE, DELIVERIES_PER_SECOND / size);
  const flow = { rate, burst, length: LENGTH, warmUpSeconds: 2, deliveriesPerMessage: size };
  const { figures } = await measureFlow(options, running, pool, flow);
  return { ...figures, memory: running.pids.length > 0 ? memory / size / 1_024 : undefined };
}

const partOf = (size: number, burst = 1) =>
  `${size.toLocaleString('en')} sockets${burst === 1 ? '' : `, bursts of ${burst}`}`;

const contender = (server: Server, size: number, burst = 1): Contender => ({
  ...server,
  part: partOf(size, burst),
  measure: (run) => measure(server, size, burst, run),
});

function comparison(size: number, burst?: number): Contender[] {
  const servers = [ours(), ours({ engine: 'ws' }), bareUws, plainWs, socketIoOnWs(), nchan, mosquitto];
  return servers.map((server) => contender(server, size, burst));
}

export const fanout: Scenario = {
  name: 'fanout',
  title: 'One room, many sockets: every message is delivered to each of them, ours stored first',
  columns: flowColumns,

  contenders(options) {
    const sizes = options.members ? [options.members] : SIZES;
    const compared = options.members ?? COMPARED;
    if (remoteTargetOf(options)) return sizes.map((size) => contender(ours(), size));
    return [
      ...sizes.flatMap((size) =>
        size === compared ? comparison(size) : [ours(), bareUws].map((server) => contender(server, size)),
      ),
      ...comparison(compared, BURST),
    ];
  },

  verdicts(results, options) {
    const cpu = ({ name }: Server, part: string) => medianOf(results, name, 'cpu', part);
    const bySize = SIZES.map((size) => cpu(ours(), partOf(size)));
    return onlyAt(options, { members: COMPARED, rate: DELIVERIES_PER_SECOND / COMPARED }, [
      ...[1, BURST].flatMap((burst) => {
        const part = partOf(COMPARED, burst);
        const mine = cpu(ours(), part);
        return [
          atMost(
            `${part}: CPU per delivery, against bare uWebSockets.js`,
            ratio(mine, cpu(bareUws, part)),
            1.4,
          ),
          atLeast(
            `${part}: CPU per delivery of Socket.IO on ws, against ours`,
            ratio(cpu(socketIoOnWs(), part), mine),
            4,
          ),
          atLeast(`${part}: CPU per delivery of nchan, against ours`, ratio(cpu(nchan, part), mine), 1),
        ];
      }),
      atMost(
        'CPU per delivery, highest against lowest of 100 to 10,000 sockets',
        combine(bySize, (...costs) => Math.max(...costs) / Math.min(...costs)),
        1.15,
      ),
    ]);
  },
};
