import { existsSync, writeFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { freePort, isListening } from '../command/ports.js';
import type { Target } from './clients/connection.js';
import { HOST } from './installation.js';
import { processTree } from './process-figures.js';
import type { ManagedProcess, ProcessGroup } from './process-group.js';
import type { RunningServer, Server } from './start-server.js';

/** Third-party programs: two peers, and the Redis of several gateways. */

const NGINX = '/usr/sbin/nginx';
const NCHAN = '/usr/lib/nginx/modules/ngx_nchan_module.so';
const MOSQUITTO = '/usr/sbin/mosquitto';

const onPath = (name: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));

const REDIS = onPath('redis-server');

/** Why a program cannot be started; undefined if it can. */
function missing(path: string | undefined, debianPackage: string): string | undefined {
  return path && existsSync(path) ? undefined : `not installed (Debian: ${debianPackage})`;
}

export const redisMissing = missing(REDIS, 'redis-server');

/** Limits the files of a running process. */
export const prlimitMissing = missing(onPath('prlimit'), 'util-linux');

/** Starts a program and waits until it accepts connections. */
async function startProgram(
  group: ProcessGroup,
  path: string,
  port: number,
  args: string[],
): Promise<ManagedProcess> {
  const program = group.spawn(basename(path), path, args);
  await program.waitUntil(() => isListening(HOST, port));
  return program;
}

/** Starts a Redis on a port of this machine that stores nothing on disk. @returns its process */
export function startRedisAt(group: ProcessGroup, port: number): Promise<ManagedProcess> {
  const args = ['--bind', HOST, '--port', String(port), '--dir', group.folder];
  return startProgram(group, REDIS as string, port, [...args, '--save', '', '--appendonly', 'no']);
}

/** Starts a Redis that stores nothing on disk. @returns its URL */
export async function startRedis(group: ProcessGroup): Promise<string> {
  const port = await freePort();
  await startRedisAt(group, port);
  return `redis://${HOST}:${port}`;
}

/** Starts a peer with one room, in which senders receive nothing. */
async function startPeer(
  group: ProcessGroup,
  path: string,
  config: string,
  argsOf: (configFile: string) => string[],
  target: Target,
): Promise<RunningServer> {
  const file = join(group.folder, 'peer.conf');
  writeFileSync(file, config);
  const { pid } = await startProgram(group, path, target.port, argsOf(file));
  return { target, pids: processTree(pid), members: [{ room: 1 }, { room: 1 }], senderReceives: false };
}

/** nginx with nchan: one worker, WebSocket for subscribers and publishers. @param stored whether it keeps messages */
async function startNchan(group: ProcessGroup, stored: boolean): Promise<RunningServer> {
  const port = await freePort();
  const { folder } = group;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const storage = stored ? 'nchan_message_buffer_length 1000' : 'nchan_store_messages off';
  const config = `load_module ${NCHAN};
daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid ${folder}/nginx.pid; error_log stderr error;
events { worker_connections 19000; }
http {
  access_log off; ${temporary.join(' ')}
  nchan_shared_memory_size 256M;
  server {
    listen ${HOST}:${port} backlog=4096;
    location = /sub { nchan_subscriber websocket; nchan_channel_id $arg_room; nchan_subscriber_first_message newest; }
    location = /pub { nchan_publisher websocket; nchan_channel_id $arg_room; ${storage}; }
  }
}
`;
  const paths = {
    path: '/sub?room=1',
    sendPath: '/pub?room=1',
    ...(stored && { protocol: 'ws+meta.nchan' }),
  };
  const target = { kind: 'plain', host: HOST, port, ...paths } as const;
  return startPeer(group, NGINX, config, (file) => ['-p', folder, '-c', file, '-e', 'stderr'], target);
}

const nchanMissing = missing(NGINX, 'nginx') ?? missing(NCHAN, 'libnginx-mod-nchan');

/** nchan without storage. */
export const nchan: Server = {
  name: 'nchan',
  role: 'peer',
  missing: nchanMissing,
  start: ({ group }) => startNchan(group, false),
};

/** nchan with the last messages in memory, from which its clients resume. */
export const storingNchan: Server = {
  name: 'nchan, last messages in memory',
  role: 'peer',
  missing: nchanMissing,
  start: ({ group }) => startNchan(group, true),
};

/** mosquitto: MQTT 3.1.1 at QoS 0 over TCP, nothing stored. */
export const mosquitto: Server = {
  name: 'mosquitto (MQTT, QoS 0)',
  role: 'peer',
  missing: missing(MOSQUITTO, 'mosquitto'),
  async start({ group }) {
    const port = await freePort();
    const config = `listener ${port} ${HOST}
allow_anonymous true
persistence false
user root
log_type error
set_tcp_nodelay true
`;
    return startPeer(group, MOSQUITTO, config, (file) => ['-c', file], { kind: 'mqtt', host: HOST, port });
  },
};
