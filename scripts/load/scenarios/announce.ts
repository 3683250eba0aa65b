import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { seedChat } from '../chat-world.js';
import { latenciesOf, startCrew } from '../clients/crew.js';
import type { LineSpec, Target } from '../clients/line.js';
import { HOST, settings, startDatabase, startService } from '../installation.js';
import { percentiles } from '../latency.js';
import type { Figures } from '../metrics.js';
import { atMost, type Contender, medianOf, type Run, ratio, type Scenario } from '../scenario.js';
import { bareUws, startLocal } from '../socket-servers.js';
import { stampedText } from '../stamp.js';
import { openWindow, usedPer } from '../window.js';

const SOCKET_MEMBERS = 5_000;
const STREAMS = 2_000;

/** Most announcements in one measurement. */
const ANNOUNCEMENTS = 3;

const SOCKETS = 'to sockets';
const EVENT_STREAMS = 'to event streams';
const BARE_RESPONSE = 'bare res.write';

/** A server with those who listen to it, and how everybody is told something. */
interface Audience {
  target: Target;
  pids: number[];
  databasePid?: number;
  lines: LineSpec[];
  announce(content: string): Promise<void>;
}

async function measure(run: Run, start: () => Promise<Audience>): Promise<Figures> {
  const { stage, options } = run;
  const audience = await start();
  const { target, lines, announce } = audience;
  const times = Math.min(ANNOUNCEMENTS, options.seconds);
  const crew = await startCrew(stage, options.clients);
  const { failed, reason } = await crew.open(target, lines);
  if (failed > 0) throw new Error(`${failed} connections failed: ${reason}`);

  async function tellAll(count: number, first: number): Promise<void> {
    const { delivered } = await crew.read();
    for (let i = 0; i < count; i += 1) {
      await announce(stampedText(first + i, 80));
      await arrive(delivered + lines.length * (i + 1));
    }
  }
  /** What another process has written is looked for every few seconds: silence is no loss yet. */
  async function arrive(due: number): Promise<void> {
    const deadline = performance.now() + 20_000;
    while ((await crew.read()).delivered < due && performance.now() < deadline) await sleep(100);
  }
  await tellAll(1, 1);
  await crew.forget();
  const close = openWindow(audience, crew);
  await tellAll(times, 2);
  const used = close();
  const tally = await crew.read();
  return {
    ...usedPer(used, tally.delivered),
    delivered: tally.delivered,
    lost: lines.length * times - tally.delivered,
    ...percentiles(latenciesOf(tally).deliveries),
  };
}

/** The service, and `npm run announce` beside it. */
async function ourAudience({ stage }: Run, members: number, kind: 'socketio' | 'stream'): Promise<Audience> {
  const database = await startDatabase(stage);
  const { tokens } = await seedChat(database.uri, 0, members);
  const { actor, httpPort, gatewayPort } = await startService(stage, database.uri);
  return {
    target: {
      kind,
      host: HOST,
      port: kind === 'stream' ? httpPort : gatewayPort,
      event: 'notification',
    },
    pids: [actor.pid],
    databasePid: database.pid,
    lines: tokens.map((token): LineSpec => ({ token })),
    async announce(content) {
      const command = stage.fork('announce', 'announce.js', {
        args: [content],
        env: settings(stage, database.uri),
      });
      const [status] = (await once(command.child, 'exit')) as [number | null];
      if (status !== 0) throw new Error(`announce ended with ${status}: ${command.complaint()}`);
    },
  };
}

function service(part: string, kind: 'socketio' | 'stream', members: (run: Run) => number): Contender {
  return {
    name: 'this service',
    role: 'ours',
    part,
    measure: (run) => measure(run, () => ourAudience(run, members(run), kind)),
  };
}

const socketMembers = ({ options }: Run) => options.members ?? SOCKET_MEMBERS;
const streamMembers = ({ options }: Run) => options.streams ?? STREAMS;

/** A topic for each, as each member's notification has a number of its own. */
const barePublish: Contender = {
  name: bareUws().name,
  role: 'limit',
  part: SOCKETS,
  measure: (run) =>
    measure(run, async () => {
      const { target, pids, announce } = await bareUws().start(run, 0);
      return {
        target: { ...target, event: 'notification' },
        pids,
        lines: Array.from({ length: socketMembers(run) }, (_, i): LineSpec => ({ room: i + 1 })),
        announce: async (content) => announce?.(1, content),
      };
    }),
};

const bareWrite: Contender = {
  name: BARE_RESPONSE,
  role: 'limit',
  part: EVENT_STREAMS,
  measure: (run) =>
    measure(run, async () => {
      const { actor, port } = await startLocal(run.stage, 'event-stream');
      return {
        target: { kind: 'stream', host: HOST, port },
        pids: [actor.pid],
        lines: Array.from({ length: streamMembers(run) }, (): LineSpec => ({})),
        announce: async (content) => {
          actor.child.send({ announce: 1, content });
        },
      };
    }),
};

export const announce: Scenario = {
  name: 'announce',
  title:
    'One announcement to every member, each with a record of their own; latency from the command’s begin, which the service hears of within 5 s',
  columns: ['cpu', 'delivered', 'lost', 'p50', 'p99', 'p999', 'databaseCpu', 'clients'],

  contenders: () => [
    service(SOCKETS, 'socketio', socketMembers),
    barePublish,
    service(EVENT_STREAMS, 'stream', streamMembers),
    bareWrite,
  ],

  verdicts(results) {
    const cpu = (name: string, part: string) => medianOf(results, name, 'cpu', part);
    const mine = 'this service';
    return [
      atMost(
        'CPU per socket delivery, against bare publish',
        ratio(cpu(mine, SOCKETS), cpu(barePublish.name, SOCKETS)),
        1.5,
      ),
      atMost(
        'CPU per stream delivery, against bare res.write',
        ratio(cpu(mine, EVENT_STREAMS), cpu(BARE_RESPONSE, EVENT_STREAMS)),
        1.5,
      ),
    ];
  },
};
