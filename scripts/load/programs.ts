import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import type { ConnectionKind } from './clients/connection.js';
import { HOST } from './installation.js';
import { processTree } from './process-figures.js';
import { freePort, type ManagedProcess, type ProcessGroup } from './process-group.js';
import type { SocketServer } from './socket-servers.js';

/** Programs of other projects: peers, and the Redis of several gateways. */

const NGINX = '/usr/sbin/nginx';
const NCHAN = '/usr/lib/nginx/modules/ngx_nchan_module.so';
const MOSQUITTO = '/usr/sbin/mosquitto';
const REDIS = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'redis-server'))
  .find((path) => existsSync(path));

const notInstalled = (debianPackage: string) => `not installed (Debian: ${debianPackage})`;

/** Why Redis cannot be started; undefined if it can. */
export const redisMissing = REDIS ? undefined : notInstalled('redis-server');

/** Starts a program and waits until it accepts connections on the port. */
async function startProgram(
  group: ProcessGroup,
  path: string,
  port: number,
  args: string[],
): Promise<ManagedProcess> {
  const program = group.spawn(path.split('/').at(-1) as string, path, args);
  const accepts = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, HOST, () => {
        socket.destroy();
        resolve(true);
      }).once('error', () => resolve(false));
    });
  await program.waitUntil(accepts);
  return program;
}

/** @returns the URL of a Redis that stores nothing on disk */
export async function startRedis(group: ProcessGroup): Promise<string> {
  const port = await freePort();
  const args = ['--bind', HOST, '--port', String(port), '--dir', group.folder];
  await startProgram(group, REDIS as string, port, [...args, '--save', '', '--appendonly', 'no']);
  return `redis://${HOST}:${port}`;
}

/** @param configure writes the configuration file. @returns arguments of the program */
function peer(
  name: string,
  path: string,
  missing: string | undefined,
  target: { kind: ConnectionKind; path?: string; sendPath?: string },
  {
    config,
    args,
  }: { config(port: number, folder: string): string; args(file: string, folder: string): string[] },
): SocketServer {
  return {
    ...{ name, missing, role: 'peer' },
    async start({ group }) {
      const port = await freePort();
      const file = join(group.folder, 'peer.conf');
      writeFileSync(file, config(port, group.folder));
      const { pid } = await startProgram(group, path, port, args(file, group.folder));
      return { target: { ...target, host: HOST, port }, pids: processTree(pid), senderReceives: false };
    },
  };
}

/** nginx with nchan: one worker, WebSocket for subscribers and publishers, nothing stored. */
export const nchan = peer(
  'nchan',
  NGINX,
  existsSync(NGINX)
    ? existsSync(NCHAN)
      ? undefined
      : notInstalled('libnginx-mod-nchan')
    : notInstalled('nginx'),
  { kind: 'plain', path: '/sub?room=1', sendPath: '/pub?room=1' },
  {
    config: (port, folder) => `load_module ${NCHAN};
daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid ${folder}/nginx.pid; error_log stderr error;
events { worker_connections 19000; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
  nchan_shared_memory_size 256M;
  server {
    listen ${HOST}:${port} backlog=4096;
    location = /sub { nchan_subscriber websocket; nchan_channel_id $arg_room; }
    location = /pub { nchan_publisher websocket; nchan_channel_id $arg_room; nchan_store_messages off; }
  }
}
`,
    args: (file, folder) => ['-p', folder, '-c', file, '-e', 'stderr'],
  },
);

/** mosquitto: MQTT 3.1.1 at QoS 0 over TCP, nothing stored. */
export const mosquitto = peer(
  'mosquitto (MQTT, QoS 0)',
  MOSQUITTO,
  existsSync(MOSQUITTO) ? undefined : notInstalled('mosquitto'),
  { kind: 'mqtt' },
  {
    config: (port) => `listener ${port} ${HOST}
allow_anonymous true
persistence false
user root
log_type error
set_tcp_nodelay true
`,
    args: (file) => ['-c', file],
  },
);
