import { setTimeout as sleep } from 'node:timers/promises';
import { startWorkerPool } from '../clients/worker-pool.js';
import { figuresOf, startMeasuring, sum } from '../measure.js';
import type { Figures } from '../metrics.js';
import { rampOf, remoteTargetOf, shareOf } from '../options.js';
import type { Run, Scenario } from '../scenario.js';
import { ours, type Server, socketIoOnUws, socketIoOnWs } from '../start-server.js';
import { atMost, medianOf, notJudged, onlyAt, ratio } from '../verdict.js';

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
  const ramp = rampOf(options);
  const members = shareOf(options, ramp?.to ?? options.members ?? MEMBERS);
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
  const atOnce = ramp ? shareOf(options, ramp.from) : members;
  const opened = [await pool.open(running.target, again.slice(0, atOnce), reconnect)];
  if (ramp)
    opened.push(
      await pool.open(running.target, again.slice(atOnce), { ...reconnect, overSeconds: ramp.seconds }),
    );
  const usage = stop();
  const [connected, lost] = [sum(opened.map((one) => one.opened)), sum(opened.map((one) => one.failed))];
  const repeated = sum(opened.map((one) => one.repeated));
  return { ...figuresOf(usage, connected), lost, repeated, duration: usage.seconds };
}

const limit = socketIoOnUws();

export const storm: Scenario = {
  name: 'storm',
  title: 'Everybody reconnects and rejoins at the same moment, or as --ramp says; CPU per reconnect',
  columns: ['cpu', 'delivered', 'repeated', 'lost', 'perSecond', 'duration', 'databaseCpu', 'clients'],
  heeds: ['members', 'ramp'],
  isRemote: true,

  contenders: (options) =>
    (remoteTargetOf(options) ? [ours()] : [ours(), limit, socketIoOnWs()]).map((server) => ({
      ...server,
      measure: (run) => measure(server, run),
    })),

  verdicts(results, options) {
    const cpu = ({ name }: Server) => medianOf(results, name, 'cpu');
    const cost = [
      atMost(
        'CPU per reconnect, against a bare Socket.IO connect and join',
        ratio(cpu(ours()), cpu(limit)),
        2,
      ),
    ];
    return rampOf(options)
      ? notJudged(cost, 'the bound is meant for everybody at the same moment, not for --ramp')
      : onlyAt(options, { members: MEMBERS }, cost);
  },
};
