import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Audience, broadcastColumns, durationOf, measureBroadcasts } from '../broadcasts.js';
import type { Target } from '../clients/connection.js';
import { HOST, startDatabase, startGateway, startService } from '../installation.js';
import type { ManagedProcess } from '../process-group.js';
import { redisMissing, startRedis, storingNchan } from '../programs.js';
import type { Contender, Measured, Run, Scenario } from '../scenario.js';
import { seedChat } from '../seed.js';
import {
  bareUws,
  ours,
  type Server,
  socketIoOnWs,
  socketIoRecovering,
  startSocketIoOverRedis,
} from '../start-server.js';

/** Rolling restarts during the broadcasts: after a quarter, a half and three quarters of them. */
const RESTARTS = 3;

/** Processes of an installation that is restarted one after another. */
const PROCESSES = 2;

/** Time to start servers, to connect, and to wait for what does not come, s. */
const OTHER_SECONDS = 30;

const ALONE = 'one process, restarted';
const ROLLING = 'two processes over Redis, restarted one after another';

/** An audience whose servers can be restarted. */
interface Restartable extends Audience {
  /** Stops each process and starts it again. @param moved tells where the servers are now */
  restart(moved: (targets: Target[]) => Promise<void>): Promise<void>;
}

/** Stops processes that another module started, and waits for their end. */
async function stopAll(pids: number[]): Promise<void> {
  for (const pid of pids) if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGTERM');
  while (pids.some((pid) => existsSync(`/proc/${pid}`))) await sleep(10);
}

/** A server that stores nothing which outlives it. */
async function startPeer(server: Server, run: Run): Promise<Restartable> {
  let running = await server.start(run, 1);
  return {
    ...{ targets: [running.target], members: running.members },
    async restart(moved) {
      await stopAll(running.pids);
      running = await server.start(run, 1);
      await moved([running.target]);
    },
  };
}

async function startOurs({ group }: Run): Promise<Restartable> {
  const { uri } = await startDatabase(group);
  const members = await seedChat(uri, 1);
  const start = () => startService(group, uri);
  let { process, gatewayPort } = await start();
  const targetsNow = (): Target[] => [{ kind: 'socketio', host: HOST, port: gatewayPort }];
  return {
    ...{ targets: targetsNow(), members },
    async restart(moved) {
      await process.stop();
      ({ process, gatewayPort } = await start());
      await moved(targetsNow());
    },
  };
}

/** @param start starts the i-th process */
async function startSeveral(
  members: Audience['members'],
  start: (i: number) => Promise<{ process: ManagedProcess; port: number }>,
): Promise<Restartable> {
  const running: Awaited<ReturnType<typeof start>>[] = [];
  for (let i = 0; i < PROCESSES; i += 1) running.push(await start(i));
  const targetsNow = () => running.map(({ port }): Target => ({ kind: 'socketio', host: HOST, port }));
  return {
    ...{ targets: targetsNow(), members },
    async restart(moved) {
      for (const [i, { process }] of running.entries()) {
        await process.stop();
        running[i] = await start(i);
        await moved(targetsNow());
      }
    },
  };
}

async function startOurGateways({ group }: Run): Promise<Restartable> {
  const { uri } = await startDatabase(group);
  const members = await seedChat(uri, 1);
  const redis = { url: await startRedis(group), adapter: 'classic' as const };
  return startSeveral(members, (i) => startGateway(group, `gateway-${i + 1}`, uri, redis));
}

async function startSocketIos({ group }: Run): Promise<Restartable> {
  const url = await startRedis(group);
  return startSeveral([{ room: 1 }, { room: 1 }], () => startSocketIoOverRedis(group, url));
}

async function measure(start: (run: Run) => Promise<Restartable>, run: Run): Promise<Measured> {
  const installation = await start(run);
  const pauseMs = (durationOf(run.options) * 1_000) / (RESTARTS + 1);
  return measureBroadcasts(run, installation, async (...pools) => {
    const begin = performance.now();
    for (let i = 1; i <= RESTARTS; i += 1) {
      await sleep(Math.max(0, begin + i * pauseMs - performance.now()));
      await installation.restart(async (targets) => {
        for (const pool of pools) await pool.retarget(targets);
      });
    }
  });
}

export const deploy: Scenario = {
  name: 'deploy',
  title:
    '120 broadcasts and three restarts meanwhile; clients come back as that of Socket.IO does, after 0.5 to 1.5 s with the default --seconds: what each ends up with; latency from its first attempt to come back until a message that it missed arrives',
  columns: broadcastColumns,
  heeds: ['members'],
  turnSeconds: (options) => durationOf(options) + OTHER_SECONDS,

  contenders: () => [
    { name: ours().name, role: 'ours', part: ALONE, measure: (run) => measure(startOurs, run) },
    ...[socketIoRecovering, socketIoOnWs(), bareUws, storingNchan].map(
      (server): Contender => ({
        ...server,
        part: ALONE,
        measure: (run) => measure((one) => startPeer(server, one), run),
      }),
    ),
    {
      ...{ name: ours().name, role: 'ours', part: ROLLING, missing: redisMissing },
      measure: (run) => measure(startOurGateways, run),
    },
    {
      ...{ name: 'Socket.IO on ws, Redis adapter', role: 'peer', part: ROLLING, missing: redisMissing },
      measure: (run) => measure(startSocketIos, run),
    },
  ],

  // Who ends up with less than everything has lost something.
  verdicts: () => [],
};
