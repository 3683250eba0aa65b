import { Adapter } from 'socket.io-adapter';
import type { GatewaySocket } from './socket.js';

/*
 * Every change to the internals of Socket.IO; engineio-internals.ts and engine/ have those of Engine.IO and
 * uWebSockets.js (docs/decisions/patched-internals.md). The packages are pinned;
 * test/gateway/socketio-internals.test.ts fails if they change underneath.
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

/** The handshake of every admitted connection: nothing reads it any more. */
const ADMITTED = Object.freeze({});

/** Drops the handshake of an admitted connection, and with it the token. */
export function dropHandshake(socket: GatewaySocket): void {
  Object.assign(socket, { handshake: ADMITTED });
}

/**
 * Has these listeners called, with the connection as `this`, for all events that its client sends. Shared by all connections: `onAny`
 * would give each an array with room for 16.
 */
export function listenToAll(
  socket: GatewaySocket,
  listeners: readonly ((this: GatewaySocket, event: unknown, ...args: unknown[]) => void)[],
): void {
  Object.assign(socket, { _anyListeners: listeners });
}
