import { setTimeout as sleep } from 'node:timers/promises';
import { startWorkerPool } from '../clients/worker-pool.js';
import { figuresOf, startMeasuring } from '../measure.js';
import type { Figures } from '../metrics.js';
import { remoteTargetOf } from '../options.js';
import type { Run, Scenario } from '../scenario.js';
import { ours, type Server, socketIoOnUws, socketIoOnWs } from '../start-server.js';
import { atMost, medianOf, onlyAt, ratio } from '../verdict.js';

const MEMBERS = 5_000;

/** Longer than the service caches verified tokens, ms. */
const TOKENS_FORGOTTEN_MS = 11_000;

/** Time for a server to detect that all connections are closed, ms. */
const DISCONNECT_MS = 2_000;

/** Above every message number: clients that rejoin have missed nothing. */
const HAS_ALL = 1_000_000;

/** Characters of the one message in each room. */
const LENGTH = 100;

/** The connection timeout of Socket.IO's client, ms. */
const TIMEOUT_MS = 20_000;

async function measure(server: Server, run: Run): Promise<Figures> {
  const { group, options } = run;
  const members = options.members ?? MEMBERS;
  const running = await server.start(run, Math.ceil(members / 2));
  const pool = await startWorkerPool(group, options.clients);
  const specs = running.members.slice(0, members).map((spec, i) => ({ ...spec, sender: i % 2 === 0 }));
  await pool.openAll(running.target, specs);
  await pool.flow({ seconds: 1, rate: members / 2, length: LENGTH });
  await pool.cut();
  await sleep(
    server.role === 'ours' ? Math.min(TOKENS_FORGOTTEN_MS, options.seconds * 2_000) : DISCONNECT_MS,
  );
  const stop = startMeasuring(running, pool.pids);
  const again = specs.map((spec) => ({ ...spec, after: HAS_ALL }));
  const reconnect = { concurrency: members, timeoutMs: TIMEOUT_MS };
  const { opened, failed: lost, repeated } = await pool.open(running.target, again, reconnect);
  const usage = stop();
  return { ...figuresOf(usage, opened), lost, repeated, duration: usage.seconds };
}

const limit = socketIoOnUws();

export const storm: Scenario = {
  name: 'storm',
  title: 'Everybody reconnects and rejoins at the same moment; CPU per reconnect',
  columns: ['cpu', 'delivered', 'repeated', 'lost', 'perSecond', 'duration', 'databaseCpu', 'clients'],
  heeds: ['members'],
  isRemote: true,

  contenders: (options) =>
    (remoteTargetOf(options) ? [ours()] : [ours(), limit, socketIoOnWs()]).map((server) => ({
      ...server,
      measure: (run) => measure(server, run),
    })),

  verdicts(results, options) {
    const cpu = ({ name }: Server) => medianOf(results, name, 'cpu');
    return onlyAt(options, { members: MEMBERS }, [
      atMost(
        'CPU per reconnect, against a bare Socket.IO connect and join',
        ratio(cpu(ours()), cpu(limit)),
        2,
      ),
    ]);
  },
};
