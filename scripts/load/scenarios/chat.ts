import type { ConnectionSpec } from '../clients/connection.js';
import type { DatabaseCommand } from '../clients/database-worker.js';
import { startWorkerPool } from '../clients/worker-pool.js';
import { startDatabase } from '../installation.js';
import { figuresOf, measureFlow, measureWork, memoryOf } from '../measure.js';
import { type Figures, flowColumns } from '../metrics.js';
import { remoteTargetOf } from '../options.js';
import type { Contender, Measured, Run, Scenario } from '../scenario.js';
import { seedChat } from '../seed.js';
import { ours, type RunningServer, type Server, storingUws, textbook } from '../start-server.js';
import { atLeast, atMost, medianOf, onlyAt, ratio } from '../verdict.js';

const ROOMS = 2_000;

/** Messages per second. */
const PACED = 2_000;
const LOW = 20;

/** Characters of a message. */
const LENGTH = 100;
const WARM_UP_SECONDS = 3;

const UNPACED = 'throughput, as fast as acks allow';
const ABSENT = 'one absent author, throughput';
const DRIVER = 'bare driver, insertOne alone';

const partOf = (rate?: number) => (rate === undefined ? UNPACED : `${rate.toLocaleString('en')} messages/s`);

/** Both members of each room, of whom the creator sends; or the joiners alone, who send. */
function specsOf({ members }: RunningServer, creatorAbsent: boolean): ConnectionSpec[] {
  const isCreator = (i: number) => i % 2 === 0;
  return members
    .map((member, i) => ({ ...member, sender: isCreator(i) !== creatorAbsent }))
    .filter((_, i) => !(creatorAbsent && isCreator(i)));
}

/** @param creatorAbsent the creator is not connected and is notified of each message */
async function measure(
  server: Server,
  rate: number | undefined,
  run: Run,
  creatorAbsent = false,
): Promise<Measured> {
  const { group, options } = run;
  const rooms = options.rooms ?? ROOMS;
  const running = await server.start(run, rooms);
  const pool = await startWorkerPool(group, options.clients);
  const before = memoryOf(running);
  const specs = specsOf(running, creatorAbsent);
  const deliveriesPerMessage = specs.length / rooms;
  await pool.openAll(running.target, specs);
  const memory = memoryOf(running) - before;
  const flow = { rate, length: LENGTH, warmUpSeconds: WARM_UP_SECONDS, deliveriesPerMessage };
  const { usage, counts, figures } = await measureFlow(options, running, pool, flow);
  return {
    ...figures,
    ...figuresOf(usage, counts.acked, counts.ackTimes),
    delivered: counts.delivered,
    afterEnd: counts.ackedLate,
    lost: (figures.lost ?? 0) + counts.sent - counts.acked - counts.refused,
    memory: running.pids.length > 0 ? memory / specs.length / 1_024 : undefined,
  };
}

/** The driver alone: one insertOne per message, at the same rate. */
async function measureDriver(rate: number, { group, options }: Run): Promise<Figures> {
  const rooms = options.rooms ?? ROOMS;
  const database = await startDatabase(group);
  await seedChat(database.uri, rooms);
  const args = [database.uri, '0', String(rooms)];
  const { process } = await group.start('clients/database-worker', { args, measured: true });
  const command: Omit<DatabaseCommand, 'seconds'> = { work: 'insert', rate, length: LENGTH };
  const measured = { pids: [process.pid], databasePid: database.pid };
  return measureWork(options, measured, process, command, { warmUpSeconds: WARM_UP_SECONDS });
}

const contender = (server: Server, rate?: number): Contender => ({
  ...server,
  part: partOf(rate),
  ...(rate === undefined && { throughput: true }),
  measure: (run) => measure(server, rate, run),
});

const driver = (rate: number): Contender => ({
  ...{ name: DRIVER, role: 'limit', part: partOf(rate) },
  measure: (run) => measureDriver(rate, run),
});

/** A popular post: everybody writes to its author, who is not connected. */
const absentAuthor: Contender = {
  ...ours(),
  part: ABSENT,
  throughput: true,
  measure: (run) => measure(ours({ sharedCreator: true }), undefined, run, true),
};

export const chat: Scenario = {
  name: 'chat',
  title:
    'Two-party rooms: each message is stored, acknowledged and delivered twice; CPU per message, latency until acknowledged',
  columns: flowColumns,
  heeds: ['rooms', 'rate', 'stages'],
  isRemote: true,

  contenders(options) {
    const paced = options.rate ?? PACED;
    if (remoteTargetOf(options)) return [contender(ours()), contender(ours(), paced)];
    const servers = [ours(), ours({ engine: 'ws' }), storingUws, textbook];
    return [
      ...servers.map((server) => contender(server)),
      ...servers.map((server) => contender(server, paced)),
      driver(paced),
      absentAuthor,
      ...(options.rate === undefined ? [contender(ours(), LOW), driver(LOW)] : []),
    ];
  },

  verdicts(results, options) {
    const cpu = ({ name }: Server, part = UNPACED) => medianOf(results, name, 'cpu', part);
    const paced = partOf(PACED);
    const againstDriver = (metric: 'p50' | 'p99', part: string) =>
      ratio(medianOf(results, ours().name, metric, part), medianOf(results, DRIVER, metric, part));
    return onlyAt(options, { rooms: ROOMS }, [
      atLeast("the textbook server's CPU per message, against ours", ratio(cpu(textbook), cpu(ours())), 5),
      atMost('CPU per message, against the floor', ratio(cpu(ours()), cpu(storingUws)), 1.7),
      ...onlyAt(options, { rate: PACED }, [
        atMost(
          `at ${paced}: CPU per message, against the floor`,
          ratio(cpu(ours(), paced), cpu(storingUws, paced)),
          1.4,
        ),
        atMost(
          `at ${paced}: CPU per message, against the textbook server`,
          ratio(cpu(ours(), paced), cpu(textbook, paced)),
          1,
        ),
        atMost("acknowledged p99, against the bare driver's", againstDriver('p99', paced), 4),
        atMost(
          "at low rate: acknowledged p50, against the bare driver's",
          againstDriver('p50', partOf(LOW)),
          4,
        ),
      ]),
    ]);
  },
};
