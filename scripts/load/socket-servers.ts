import type { ConnectionSpec, Target } from './clients/connection.js';
import { HOST, startDatabase, startServer, startService } from './installation.js';
import { remoteTargetOf } from './options.js';
import { openRemoteRooms } from './remote-target.js';
import type { Role, Run } from './scenario.js';
import { type SeededRoom, seedChat } from './seed-chat.js';

/** A server that accepts connections. */
export interface RunningServer {
  target: Target;
  /** Processes whose CPU and memory are the server's; none for a remote target. */
  pids: number[];
  databasePid?: number;
  /** Absent for a server that accepts every room number without a token. */
  rooms?: SeededRoom[];
  /** Whether a sender receives its own messages, as in Socket.IO; otherwise senders need extra connections. */
  senderReceives: boolean;
  /** Sends a notification to everybody; servers of ours only. */
  announce?(content: string): Promise<void>;
}

export interface SocketServer {
  name: string;
  role: Role;
  /** Why it cannot be started on this machine. */
  missing?: string | undefined;
  /** @param rooms how many there have to be */
  start(run: Run, rooms: number): Promise<RunningServer>;
}

/** A connection of one of a room's two members. */
export function memberOf({ rooms }: RunningServer, roomIndex: number, side: 0 | 1): ConnectionSpec {
  const room = rooms?.[roomIndex];
  return room ? { room: room.no, token: room.tokens[side] } : { room: roomIndex + 1 };
}

/** Connections of so many members, both of each room. */
export function membersOf(server: RunningServer, count: number): ConnectionSpec[] {
  return Array.from({ length: count }, (_, i) => memberOf(server, i >> 1, i % 2 ? 1 : 0));
}

const socketTarget = (port: number): Target => ({ kind: 'socketio', host: HOST, port });

/** The service, or the remote target of the options. @param sharedCreator all rooms have the same creator */
export function ours({ execArgv = [] as string[], sharedCreator = false } = {}): SocketServer {
  return {
    name: 'this service',
    role: 'ours',
    async start({ group, options }, rooms) {
      const remote = remoteTargetOf(options);
      if (remote) {
        const { hostname, port } = new URL(remote.gateway);
        return {
          target: { kind: 'socketio', host: hostname, port: Number(port || 80) },
          pids: [],
          rooms: await openRemoteRooms(remote, rooms),
          senderReceives: true,
        };
      }
      const database = await startDatabase(group);
      const seeded = await seedChat(database.uri, rooms, { sharedCreator });
      const service = await startService(group, database.uri, execArgv);
      return {
        target: socketTarget(service.gatewayPort),
        pids: [service.process.pid],
        databasePid: database.pid,
        rooms: seeded.rooms,
        senderReceives: true,
      };
    },
  };
}

/** A server of servers/. @param options.stored stores messages in an embedded database */
export function local(
  name: string,
  role: Role,
  module: string,
  { args = [] as string[], stored = false, execArgv = [] as string[] } = {},
): SocketServer {
  return {
    name,
    role,
    async start({ group }, rooms) {
      const database = stored ? await startDatabase(group) : undefined;
      if (database) await seedChat(database.uri, rooms);
      const { process, port } = await startServer(
        group,
        module,
        database ? [...args, database.uri] : args,
        execArgv,
      );
      return {
        target: socketTarget(port),
        pids: [process.pid],
        ...(database ? { databasePid: database.pid } : {}),
        senderReceives: true,
        announce: (content) => process.request({ content }),
      };
    },
  };
}

export const bareUws = local('bare uWebSockets.js', 'limit', 'bare-uws');
export const storingUws = local('floor: bare uWS + grouped inserts', 'limit', 'bare-uws', { stored: true });
export const plainWs = local('plain ws', 'peer', 'plain-ws');
export const socketIoOnWs = local('Socket.IO on ws', 'peer', 'socketio', { args: ['ws'] });
export const textbook = local('textbook: Socket.IO on ws', 'peer', 'socketio', {
  args: ['ws'],
  stored: true,
});
/** @param execArgv flags of Node */
export const socketIoOnUws = (execArgv: string[] = []) =>
  local('bare Socket.IO on uWS', 'limit', 'socketio', { args: ['uws'], execArgv });
