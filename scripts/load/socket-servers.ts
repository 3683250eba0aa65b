import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type ChatWorld, seedChat } from './chat-world.js';
import type { Target } from './clients/connection.js';
import { HOST, profiling, startDatabase, startService } from './installation.js';
import { elsewhere } from './options.js';
import { processTree } from './process-figures.js';
import { freePort, messageOf, type ProcessGroup, until } from './process-group.js';
import { openRemoteWorld } from './remote-target.js';
import type { Role, Run } from './scenario.js';

/** A server that has started and takes connections. */
export interface Served {
  target: Target;
  /** Processes whose CPU and memory are the server's; none where it runs elsewhere. */
  pids: number[];
  databasePid?: number;
  /** Members and rooms; servers without any take every room number. */
  world?: ChatWorld;
  /** Whether a sender is one of those who listen, as in Socket.IO; else it has a connection of its own. */
  senderListens: boolean;
  /** Tells a server of ours to send n notifications to everybody. */
  announce?(n: number, content: string): void;
}

export interface SocketServer {
  name: string;
  role: Role;
  missing?: string | undefined;
  /** @param rooms how many rooms there have to be */
  start(run: Run, rooms: number): Promise<Served>;
}

/** A compiled server of ours under servers/, ready when it tells its port. */
export async function startLocal(
  stage: ProcessGroup,
  module: string,
  args: string[] = [],
  execArgv: string[] = [],
) {
  const actor = stage.fork(module, `load/servers/${module}.js`, {
    args,
    execArgv: [...profiling(stage, module), ...execArgv],
  });
  const { port } = await messageOf<{ port: number }>(
    actor,
    (m) => typeof (m as { port?: unknown }).port === 'number',
  );
  return { actor, port };
}

function socketTarget(port: number): Target {
  return { kind: 'socketio', host: HOST, port };
}

/**
 * The service; with `--http` and `--gateway`, the one that runs there.
 * @param oneAuthor whether every room is with the same member
 */
export function ours(execArgv: string[] = [], oneAuthor = false): SocketServer {
  return {
    name: 'this service',
    role: 'ours',
    async start({ stage, options }, rooms) {
      const there = elsewhere(options);
      if (there) {
        const { hostname, port } = new URL(there.gateway);
        return {
          target: { kind: 'socketio', host: hostname, port: Number(port || 80) },
          pids: [],
          world: await openRemoteWorld(there, rooms),
          senderListens: true,
        };
      }
      const database = await startDatabase(stage);
      const world = await seedChat(database.uri, rooms, { oneAuthor });
      const service = await startService(stage, database.uri, execArgv);
      return {
        target: socketTarget(service.gatewayPort),
        pids: [service.actor.pid],
        databasePid: database.pid,
        world,
        senderListens: true,
      };
    },
  };
}

/**
 * A server of servers/.
 * @param stored whether it stores messages, in an embedded database of its own
 */
export function local(
  name: string,
  role: Role,
  module: string,
  args: string[] = [],
  stored = false,
  execArgv: string[] = [],
): SocketServer {
  return {
    name,
    role,
    async start({ stage }, rooms) {
      let uri: string[] = [];
      let databasePid: number | undefined;
      if (stored) {
        const database = await startDatabase(stage);
        await seedChat(database.uri, rooms);
        uri = [database.uri];
        databasePid = database.pid;
      }
      const { actor, port } = await startLocal(stage, module, [...args, ...uri], execArgv);
      return {
        target: socketTarget(port),
        pids: [actor.pid],
        ...(databasePid === undefined ? {} : { databasePid }),
        senderListens: true,
        announce: (announce, content) => {
          actor.child.send({ announce, content });
        },
      };
    },
  };
}

export const bareUws = (stored = false) =>
  local(
    stored ? 'floor: bare uWS + grouped inserts' : 'bare uWebSockets.js',
    'limit',
    'bare-uws',
    [],
    stored,
  );
export const plainWs = () => local('plain ws', 'peer', 'plain-ws');
export const socketIoOnWs = (stored = false) =>
  local(stored ? 'textbook: Socket.IO on ws' : 'Socket.IO on ws', 'peer', 'socketio', ['ws'], stored);

const NGINX = '/usr/sbin/nginx';
const NCHAN = '/usr/lib/nginx/modules/ngx_nchan_module.so';
const MOSQUITTO = '/usr/sbin/mosquitto';

function firstMissing(needed: [path: string, hint: string][]): string | undefined {
  return needed.find(([path]) => !existsSync(path))?.[1];
}

function accepts(port: number): () => Promise<boolean> {
  return () =>
    new Promise((resolve) => {
      const socket = connect(port, HOST);
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
}

/** nginx with nchan: one worker, WebSocket on both ends, nothing kept. */
export function nchan(): SocketServer {
  return {
    name: 'nchan',
    role: 'peer',
    missing: firstMissing([
      [NGINX, 'not installed (Debian: nginx)'],
      [NCHAN, 'not installed (Debian: libnginx-mod-nchan)'],
    ]),
    async start({ stage }) {
      const port = await freePort();
      const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((kind) => `${kind}_temp_path ${join(stage.folder, kind)};`)
        .join('\n');
      const file = join(stage.folder, 'nginx.conf');
      writeFileSync(
        file,
        `load_module ${NCHAN};
daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid ${join(stage.folder, 'nginx.pid')}; error_log stderr error;
events { worker_connections 19000; }
http {
  access_log off; ${temp}
  nchan_shared_memory_size 256M;
  server {
    listen ${HOST}:${port} backlog=4096;
    location = /sub { nchan_subscriber websocket; nchan_channel_id $arg_room; }
    location = /pub { nchan_publisher websocket; nchan_channel_id $arg_room; nchan_store_messages off; }
  }
}
`,
      );
      const actor = stage.spawn('nginx', NGINX, ['-p', stage.folder, '-c', file, '-e', 'stderr']);
      await until('nginx', accepts(port), actor);
      return {
        target: { kind: 'plain', host: HOST, port, path: '/sub?room=1', sendPath: '/pub?room=1' },
        pids: processTree(actor.pid),
        senderListens: false,
      };
    },
  };
}

/** mosquitto: MQTT 3.1.1 at quality 0 over TCP, nothing kept. */
export function mosquitto(): SocketServer {
  return {
    name: 'mosquitto (MQTT, QoS 0)',
    role: 'peer',
    missing: firstMissing([[MOSQUITTO, 'not installed (Debian: mosquitto)']]),
    async start({ stage }) {
      const port = await freePort();
      const file = join(stage.folder, 'mosquitto.conf');
      writeFileSync(
        file,
        `listener ${port} ${HOST}\nallow_anonymous true\npersistence false\nuser root\nlog_type error\nset_tcp_nodelay true\n`,
      );
      const actor = stage.spawn('mosquitto', MOSQUITTO, ['-c', file]);
      await until('mosquitto', accepts(port), actor);
      return { target: { kind: 'mqtt', host: HOST, port }, pids: [actor.pid], senderListens: false };
    },
  };
}
