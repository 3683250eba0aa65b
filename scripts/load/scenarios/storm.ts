import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionSpec } from '../clients/connection.js';
import { startWorkerPool } from '../clients/worker-pool.js';
import type { Figures } from '../metrics.js';
import { elsewhere, type LoadOptions } from '../options.js';
import { atMost, type Contender, medianOf, type Run, ratio, type Scenario } from '../scenario.js';
import { local, ours, type SocketServer, socketIoOnWs } from '../socket-servers.js';
import { openWindow, usedPer } from '../window.js';

const MEMBERS = 5_000;

/** How long, in ms, the service accepts a token again unchecked, and a little more: nobody is known any more. */
const FORGOTTEN_MS = 11_000;

/** Time, in ms, a server has to notice that all are gone. */
const GONE_MS = 2_000;

/** Past every message's number: who comes back has missed nothing. */
const HAS_ALL = 1_000_000;

/** Length of the one message that is in every room. */
const LENGTH = 100;

/** What a client of Socket.IO waits for its connection. */
const PATIENCE_MS = 20_000;

async function measure(server: SocketServer, run: Run): Promise<Figures> {
  const { stage, options } = run;
  const members = options.members ?? MEMBERS;
  const served = await server.start(run, Math.ceil(members / 2));
  const crew = await startWorkerPool(stage, options.clients);
  const lines = Array.from({ length: members }, (_, i): ConnectionSpec => {
    const room = served.world?.rooms[i >> 1];
    return {
      room: room?.no ?? (i >> 1) + 1,
      ...(room ? { token: room.tokens[i & 1] as string } : {}),
      sender: i % 2 === 0,
    };
  });
  const first = await crew.open(served.target, lines);
  if (first.failed > 0) throw new Error(`${first.failed} connections failed: ${first.reason}`);
  await crew.flow({ seconds: 1, rate: members / 2, length: LENGTH });
  await crew.cut();
  await sleep(server.role === 'ours' ? Math.min(FORGOTTEN_MS, options.seconds * 2_000) : GONE_MS);
  const close = openWindow(served, crew);
  const again = lines.map((line) => ({ ...line, after: HAS_ALL }));
  const { opened, failed } = await crew.open(served.target, again, {
    atOnce: members,
    patienceMs: PATIENCE_MS,
  });
  const used = close();
  return {
    ...usedPer(used, opened),
    delivered: opened,
    lost: failed,
    perSecond: opened / used.seconds,
    duration: used.seconds,
  };
}

function contender(server: SocketServer): Contender {
  return { name: server.name, role: server.role, measure: (run) => measure(server, run) };
}

const BARE = 'bare Socket.IO on uWS';

export const storm: Scenario = {
  name: 'storm',
  title: 'Everybody reconnects and rejoins at the same moment; CPU per reconnect',
  columns: ['cpu', 'delivered', 'lost', 'perSecond', 'duration', 'databaseCpu', 'clients'],

  contenders(options: LoadOptions) {
    if (elsewhere(options)) return [contender(ours())];
    return [ours(), local(BARE, 'limit', 'socketio', ['uws']), socketIoOnWs()].map(contender);
  },

  verdicts(results) {
    const mine = ours().name;
    return [
      atMost('connections that timed out or failed', medianOf(results, mine, 'lost'), 0),
      atMost(
        'CPU per reconnect, against a bare Socket.IO connect and join',
        ratio(medianOf(results, mine, 'cpu'), medianOf(results, BARE, 'cpu')),
        2,
      ),
    ];
  },
};
