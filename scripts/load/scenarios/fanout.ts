import type { ConnectionSpec } from '../clients/connection.js';
import { startWorkerPool } from '../clients/worker-pool.js';
import { measureFlow, memoryOf } from '../measure.js';
import { type Figures, flowColumns } from '../metrics.js';
import { remoteTargetOf } from '../options.js';
import { mosquitto, nchan } from '../programs.js';
import type { Contender, Run, Scenario } from '../scenario.js';
import { bareUws, ours, plainWs, type RunningServer, type Server, socketIoOnWs } from '../start-server.js';
import { atLeast, atMost, combine, medianOf, notJudged, onlyAt, ratio, type Verdict } from '../verdict.js';
import { WARM_UP_SENDERS, warmUp } from '../warm-up.js';

const SIZES = [100, 1_000, 10_000];

/** The size at which all contenders are compared, and another one for bursts. */
const COMPARED = 1_000;
const FEWER = 200;

/** Deliveries per second without --rate, for all sizes that allow it. */
const DELIVERIES_PER_SECOND = 100_000;

/** Most messages per second: the messages of one room are stored one after another. */
const MAX_RATE = 400;

/** Messages per second without --rate. */
const rateOf = (size: number) => Math.min(MAX_RATE, DELIVERIES_PER_SECOND / size);

/** Messages sent at the same moment. */
interface Burst {
  messages: number;
  senders: number;
}

const SINGLE: Burst = { messages: 1, senders: 1 };
/** As in a busy channel, and as a client that was offline sends what it kept. */
const OF_MANY: Burst = { messages: 20, senders: 20 };
const OF_ONE: Burst = { messages: 4, senders: 1 };

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

async function measure(server: Server, size: number, burst: Burst, run: Run): Promise<Figures> {
  const { group, options } = run;
  // A second one for the warm-up. An installation that runs already needs none.
  const running = await server.start(run, run.remote ? 1 : 2);
  const pool = await startWorkerPool(group, options.clients);
  const others = { ...running, members: running.members.slice(2) };
  if (!run.remote)
    await warmUp(pool, [{ ...running, specs: specsOf(others, WARM_UP_SENDERS, WARM_UP_SENDERS) }], options);
  const before = memoryOf(running);
  await pool.openAll(running.target, specsOf(running, size, burst.senders));
  const memory = memoryOf(running) - before;
  const rate = options.rate ?? rateOf(size);
  const flow = {
    rate,
    burst: burst.messages,
    length: LENGTH,
    warmUpSeconds: 2,
    deliveriesPerMessage: size,
  };
  const { figures } = await measureFlow(options, running, pool, flow);
  return { ...figures, memory: running.pids.length > 0 ? memory / size / 1_024 : undefined };
}

function partOf(size: number, { messages, senders }: Burst = SINGLE): string {
  const bursts = messages === 1 ? '' : `, bursts of ${messages}`;
  return `${size.toLocaleString('en')} sockets${bursts}${messages > senders ? ' from one sender' : ''}`;
}

const contender = (server: Server, size: number, burst = SINGLE): Contender => ({
  ...server,
  part: partOf(size, burst),
  measure: (run) => measure(server, size, burst, run),
});

function comparison(size: number, burst?: Burst): Contender[] {
  const servers = [ours(), ours({ engine: 'ws' }), bareUws, plainWs, socketIoOnWs(), nchan, mosquitto];
  return servers.map((server) => contender(server, size, burst));
}

const withLimit = (size: number, burst?: Burst): Contender[] =>
  [ours(), bareUws].map((server) => contender(server, size, burst));

/** CPU per delivery against bare uWebSockets.js, at most. */
const AGAINST_LIMIT: [size: number, burst: Burst, bound: number][] = [
  [COMPARED, SINGLE, 1.25],
  [10_000, SINGLE, 1.15],
  [COMPARED, OF_MANY, 1.3],
  [COMPARED, OF_ONE, 1.3],
  [FEWER, OF_MANY, 1.6],
];

export const fanout: Scenario = {
  name: 'fanout',
  title: 'One room, many sockets: every message is delivered to each of them, ours stored first',
  columns: flowColumns,
  heeds: ['members', 'rate', 'stages'],
  isRemote: true,

  contenders(options) {
    const sizes = options.members ? [options.members] : SIZES;
    const compared = options.members ?? COMPARED;
    if (remoteTargetOf(options)) return sizes.map((size) => contender(ours(), size));
    return [
      ...sizes.flatMap((size) => (size === compared ? comparison(size) : withLimit(size))),
      ...comparison(compared, OF_MANY),
      ...withLimit(compared, OF_ONE),
      ...(options.members ? [] : withLimit(FEWER, OF_MANY)),
    ];
  },

  verdicts(results, options) {
    const cpu = ({ name }: Server, part: string) => medianOf(results, name, 'cpu', part);
    const bySize = SIZES.map((size) => cpu(ours(), partOf(size)));
    const at = (size: number, verdicts: Verdict[]) =>
      onlyAt(options, { members: COMPARED, rate: rateOf(size) }, verdicts);
    const acrossSizes = atMost(
      'CPU per delivery, highest against lowest of 100 to 10,000 sockets',
      combine(bySize, (...costs) => Math.max(...costs) / Math.min(...costs)),
      1.15,
    );
    return [
      ...AGAINST_LIMIT.flatMap(([size, burst, bound]) => {
        const part = partOf(size, burst);
        const value = ratio(cpu(ours(), part), cpu(bareUws, part));
        return at(size, [atMost(`${part}: CPU per delivery, against bare uWebSockets.js`, value, bound)]);
      }),
      ...[SINGLE, OF_MANY].flatMap((burst) => {
        const part = partOf(COMPARED, burst);
        const mine = cpu(ours(), part);
        return at(COMPARED, [
          atLeast(
            `${part}: CPU per delivery of Socket.IO on ws, against ours`,
            ratio(cpu(socketIoOnWs(), part), mine),
            4,
          ),
          atLeast(`${part}: CPU per delivery of nchan, against ours`, ratio(cpu(nchan, part), mine), 1),
        ]);
      }),
      ...(options.rate === undefined
        ? at(COMPARED, [acrossSizes])
        : notJudged([acrossSizes], 'the bound is meant for the rates of all sizes, not for one --rate')),
    ];
  },
};
