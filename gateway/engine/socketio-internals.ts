import { Adapter } from 'socket.io-adapter';
import type { GatewaySocket } from '../connection/socket.js';

/*
 * Every change to the internals of Socket.IO; engineio-internals.ts and engine/ have those of Engine.IO and
 * uWebSockets.js (docs/decisions/patched-internals.md). The packages are pinned;
 * test/gateway/engine/socketio-internals.test.ts fails if they change underneath.
 */

/** Packet types. (Socket.IO protocol, 5) */
export const EVENT = 2;
export const ACK = 3;

type Packet = Parameters<Adapter['broadcast']>[0];

const NOBODY: Set<string> = new Set();
const LOCAL = Object.freeze({ local: true });

/** Sends a packet to this process's sockets in a Socket.IO room. */
export function publishByAdapter(adapter: Adapter, room: string, packet: Packet): void {
  adapter.broadcast(packet, { rooms: new Set([room]), except: NOBODY, flags: LOCAL });
}

/** Sends an event to a room on every process, this one by `interceptBroadcasts`. */
export function broadcastEverywhere(adapter: Adapter, room: string, data: unknown[]): void {
  adapter.broadcast({ type: EVENT, data }, { rooms: new Set([room]), except: NOBODY, flags: {} });
}

/**
 * Takes what `broadcastEverywhere` is about to deliver to this process's sockets. Every adapter does so through
 * the base adapter's `broadcast`, which Socket.IO replaces by a native publish when attached to uWebSockets.js.
 * Events flagged `local` pass: they are in order already.
 *
 * Call once per process, after the engine is attached; `io.close` undoes it.
 *
 * @param take gets the event's room and its data
 */
export function interceptBroadcasts(take: (room: string, data: unknown[]) => void): void {
  const { broadcast } = Adapter.prototype;
  Adapter.prototype.broadcast = function (this: Adapter, packet, opts): void {
    const [room] = opts.rooms;
    if (opts.flags?.local || room === undefined) broadcast.call(this, packet, opts);
    else take(room, packet.data ?? []);
  };
}

/** What an admitted connection has in place of its own: nothing reads or adds to it any more. */
const UNUSED = {
  handshake: Object.freeze({}),
  /** Acknowledgements that this process waits for: it asks for none. */
  acks: new Map<number, never>(),
  /** Middleware of the one connection. */
  fns: Object.freeze([]),
};

/** The request of every admitted connection. */
const ADMITTED = Object.freeze({ headers: Object.freeze({}), connection: Object.freeze({}) });

/** Where Engine.IO and Socket.IO keep listeners of a connection, in arrays with room for 17. */
interface Kept {
  conn: { request: object; cleanupFn: (() => void)[] };
  client: { decoder: { _callbacks: { $decoded: (() => void)[] } } };
}

/**
 * Releases what an admitted connection does not need: its handshake, with the token; its request; and the spare room of lists.
 */
export function releaseUnused(socket: GatewaySocket): void {
  Object.assign(socket, UNUSED);
  const { conn, client } = socket as unknown as Kept;
  conn.request = ADMITTED;
  conn.cleanupFn = [...conn.cleanupFn];
  const { _callbacks: callbacks } = client.decoder;
  callbacks.$decoded = [...callbacks.$decoded];
}

/** A listener that is called with the connection as `this`. */
type Listener<T extends unknown[]> = (this: GatewaySocket, ...args: T) => void;

/** Listeners of all connections. */
export interface SharedListeners {
  /** For all events that a client sends. */
  any: Listener<[event: unknown, ...args: unknown[]]>;
  disconnect: Listener<[reason: string]>;
  /** Also called for an event of this name that a client sends. */
  error: Listener<[error: unknown]>;
}

/**
 * Has the same listeners called for every connection that it is given, in place of its own: `onAny` would give each an array with
 * room for 16, and `on` an object. To add or remove one of a single connection throws from then on.
 */
export function createSharedListening({ any, ...events }: SharedListeners): (socket: GatewaySocket) => void {
  const shared = {
    _anyListeners: Object.freeze([any]),
    _events: Object.freeze(Object.assign(Object.create(null), events)),
    _eventsCount: Object.keys(events).length,
  };
  return (socket) => {
    Object.assign(socket, shared);
  };
}
