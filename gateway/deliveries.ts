import { LRUCache } from 'lru-cache';
import { Adapter } from 'socket.io-adapter';
import type { Domain } from '../domain/domain.js';
import type { MessagePayload, NotificationView, RoomView } from '../domain/kernel/live.js';
import { metrics } from '../domain/platform/metrics.js';
import type { Sequencer } from './sequencer.js';

/** A packet on its way to this process's sockets, as far as it concerns us. */
type Broadcast = Adapter['broadcast'];
type Packet = Parameters<Broadcast>[0];
type Options = Parameters<Broadcast>[1];

function isMessage(value: unknown): value is MessagePayload {
  const { chatNo, seq, id } = (value ?? {}) as Partial<MessagePayload>;
  return Number.isSafeInteger(chatNo) && Number.isSafeInteger(seq) && typeof id === 'string';
}

/** Most room states remembered by their version; one takes some 100 bytes. */
const MAX_VERSIONS = 50_000;

/**
 * Keeps older states of a room from arriving behind newer ones: each process tells what it has read,
 * and one that reads or sends late would have the last word until something else changes.
 */
function createNewest(): (room: string, version: unknown) => boolean {
  const versions = new LRUCache<string, number>({ max: MAX_VERSIONS });
  return (room, version) => {
    if (typeof version !== 'number') return true;
    if (version < (versions.get(room) ?? 0)) return false;
    versions.set(room, version);
    return true;
  };
}

/**
 * What a broadcast is delivered with. Socket.IO's native publish reaches every WebSocket of a room by
 * itself, and then looks through all of the room's sockets for long-polling ones, at a third of what its
 * work in JavaScript costs (docs/performance.md): where nobody polls, that look is left out.
 */
function createDelivery(polling: () => number): (adapter: Adapter, packet: Packet, opts: Options) => void {
  const deliver = Adapter.prototype.broadcast;
  const direct = new WeakMap<Adapter, Adapter>();

  /** The adapter as it is, but for that look. */
  function withoutLook(adapter: Adapter): Adapter {
    const known = direct.get(adapter);
    if (known) return known;
    const made = Object.create(adapter, { apply: { value: () => {} } }) as Adapter;
    direct.set(adapter, made);
    return made;
  }

  return (adapter, packet, opts) => {
    const native = opts.rooms.size <= 1 && (opts.except?.size ?? 0) === 0;
    deliver.call(native && polling() === 0 ? withoutLook(adapter) : adapter, packet, opts);
  };
}

const NOBODY: ReadonlySet<string> = new Set();
const LOCAL = Object.freeze({ local: true });

/** Sends a packet to this process's sockets in one room, without the operators that Socket.IO makes for a call. */
export function broadcastHere(adapter: Pick<Adapter, 'broadcast'>, room: string, packet: Packet): void {
  adapter.broadcast(packet, { rooms: new Set([room]), except: NOBODY as Set<string>, flags: LOCAL });
}

/**
 * Puts the sequencer in front of everything that is delivered to this process's sockets.
 *
 * Whatever adapter is in use, what it delivers here, its own or another process's, goes through the
 * base adapter's `broadcast`, the method that Socket.IO itself replaces by a native publish. What was
 * addressed to this process alone (`local`) is in its right place already and passes.
 *
 * To be called after `io.attachApp`, once per process; `io.close` undoes it.
 *
 * @param polling how many connections of this process are long-polling ones
 */
export function interceptDeliveries(
  { chat, notifications }: Domain,
  sequencer: Sequencer,
  polling: () => number,
): void {
  const deliver = createDelivery(polling);
  const isNewest = createNewest();

  Adapter.prototype.broadcast = function (this: Adapter, packet: Packet, opts: Options): void {
    const pass = () => deliver(this, packet, opts);
    const [event, payload, version] = (packet.data ?? []) as [string?, unknown?, unknown?];
    if (opts.flags?.local) {
      pass();
    } else if (event === 'message') {
      if (!isMessage(payload)) {
        metrics.pushesDropped.inc({ reason: 'malformed' });
        return;
      }
      sequencer.offer(payload, () => {
        chat.heard(payload);
        pass();
      });
    } else if (event === 'message:read') {
      const { chatNo, memberNo, seq } = payload as { chatNo: number; memberNo: number; seq: number };
      chat.heardRead(chatNo, memberNo, seq);
      pass();
    } else if (event === 'room') {
      if (version === undefined) pass();
      // The version is for us; the client gets the documented element alone.
      else if (isNewest(`${[...opts.rooms]} ${(payload as RoomView).chatNo}`, version)) {
        deliver(this, { ...packet, data: [event, payload] }, opts);
      }
    } else if (event === 'notification') {
      if (notifications.heard((payload as NotificationView).id)) pass();
    } else {
      pass();
    }
  };
}
