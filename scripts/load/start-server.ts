import type { ConnectionSpec, Target } from './clients/connection.js';
import { HOST, type ServiceOptions, settings, startDatabase, startService } from './installation.js';
import type { ProcessGroup } from './process-group.js';
import type { Entry, Run } from './scenario.js';
import { seedChat } from './seed.js';

/** A server that accepts connections. */
export interface RunningServer {
  target: Target;
  /** Processes whose CPU and memory are the server's; none for a remote target. */
  pids: number[];
  databasePid?: number;
  /** Of REST and event streams; only of the service. */
  httpPort?: number;
  /** Connections of its members: both members of room 1, of room 2, and so on. */
  members: ConnectionSpec[];
  /** Whether a sender receives its own messages, as in Socket.IO; otherwise senders need extra connections. */
  senderReceives: boolean;
  /** Sends a notification to everybody. */
  announce?(content: string): Promise<void>;
}

export interface Server extends Entry {
  /** @param rooms number of two-party rooms */
  start(run: Run, rooms: number): Promise<RunningServer>;
}

async function announce(group: ProcessGroup, databaseUri: string, content: string): Promise<void> {
  const env = settings(group, databaseUri);
  const command = group.fork('announce', 'announce.js', { args: [content], env });
  const status = await command.exit();
  if (status !== 0) throw new Error(`announce exited with ${status}: ${command.stderr}`);
}

/** Starts the service. @param options.extra members without a room */
export async function startOurs(
  group: ProcessGroup,
  options: ServiceOptions & {
    rooms?: number;
    extra?: number;
    sharedCreator?: boolean;
    kind?: 'socketio' | 'stream';
  },
): Promise<RunningServer> {
  const { rooms = 0, kind = 'socketio' } = options;
  const database = await startDatabase(group);
  const members = await seedChat(database.uri, rooms, options);
  const { process, httpPort, gatewayPort } = await startService(group, database.uri, options);
  return {
    target: { kind, host: HOST, port: kind === 'stream' ? httpPort : gatewayPort },
    pids: [process.pid],
    databasePid: database.pid,
    httpPort,
    members,
    senderReceives: true,
    announce: (content) => announce(group, database.uri, content),
  };
}

/**
 * The service, or the remote target of the options.
 * @param options.sharedCreator all rooms have the same creator
 * @param options.engine what its gateway runs on; unset: its default, uWebSockets.js where that has a binary
 */
export function ours(
  options: { execArgv?: string[]; env?: Record<string, string>; sharedCreator?: boolean; engine?: 'ws' } = {},
): Server {
  const { engine, env: given, ...others } = options;
  return {
    name: engine ? `this service on ${engine}` : 'this service',
    role: 'ours',
    async start({ group, options, remote }, rooms) {
      const env: Record<string, string> = {
        ...given,
        ...(engine && { GATEWAY_ENGINE: engine }),
        ...(options.stages && { MESSAGE_STAGES: 'on' }),
      };
      if (!remote) return startOurs(group, { rooms, ...others, env });
      return { target: remote.sockets, pids: [], members: await remote.rooms(rooms), senderReceives: true };
    },
  };
}

/** Starts a server of servers/, which accepts any member. */
async function startLocal(
  group: ProcessGroup,
  module: string,
  { kind = 'socketio', ...options }: { kind?: 'socketio' | 'stream'; args?: string[]; execArgv?: string[] },
  members: ConnectionSpec[],
): Promise<RunningServer> {
  const { process, port } = await group.start(`servers/${module}`, { ...options, measured: true });
  return {
    target: { kind, host: HOST, port },
    pids: [process.pid],
    members,
    senderReceives: true,
    announce: (content) => process.request({ content }),
  };
}

/** Starts bare event streams. */
export function startBareStreams(
  group: ProcessGroup,
  count: number,
  execArgv: string[] = [],
): Promise<RunningServer> {
  const members = Array.from({ length: count }, () => ({}));
  return startLocal(group, 'event-stream', { kind: 'stream', execArgv }, members);
}

/** @param options.stored stores messages in an embedded database */
function local(
  entry: Entry,
  module: string,
  { args = [] as string[], stored = false, execArgv = [] as string[] } = {},
): Server {
  return {
    ...entry,
    async start({ group }, rooms) {
      const members = Array.from({ length: rooms * 2 }, (_, i) => ({ room: (i >> 1) + 1 }));
      if (!stored) return startLocal(group, module, { args, execArgv }, members);
      const { uri, pid } = await startDatabase(group);
      await seedChat(uri, rooms);
      const running = await startLocal(group, module, { args: [...args, uri], execArgv }, members);
      return { ...running, databasePid: pid };
    },
  };
}

/** Starts one of several Socket.IO servers on ws over Redis. */
export function startSocketIoOverRedis(group: ProcessGroup, redisUrl: string) {
  return group.start('servers/socketio', { args: [redisUrl], measured: true });
}

/** Starts one of several bare uWebSockets.js loops over Redis. */
export function startBareOverRedis(group: ProcessGroup, redisUrl: string) {
  return group.start('servers/bare-uws', { args: [redisUrl], measured: true });
}

/** Why contenders on uWebSockets.js cannot be measured. */
const uws: Pick<Entry, 'missing'> = await import('uWebSockets.js').then(
  () => ({}),
  () => ({ missing: 'uWebSockets.js has no binary for this Node' }),
);

export const bareUws = local({ name: 'bare uWebSockets.js', role: 'limit', ...uws }, 'bare-uws');
export const storingUws = local(
  { name: 'floor: bare uWS + grouped inserts', role: 'limit', ...uws },
  'bare-uws',
  { stored: true },
);
export const plainWs = local({ name: 'plain ws', role: 'peer' }, 'plain-ws');
export const textbook = local({ name: 'textbook: Socket.IO on ws', role: 'peer' }, 'socketio', {
  args: ['ws'],
  stored: true,
});
export const socketIoOnWs = (execArgv: string[] = []) =>
  local({ name: 'Socket.IO on ws', role: 'peer' }, 'socketio', { args: ['ws'], execArgv });
export const socketIoRecovering = local(
  { name: 'Socket.IO on ws, connection state recovery', role: 'peer' },
  'socketio',
  { args: ['recovering'] },
);
export const socketIoOnUws = (execArgv: string[] = []) =>
  local({ name: 'bare Socket.IO on uWS', role: 'limit', ...uws }, 'socketio', { args: ['uws'], execArgv });
