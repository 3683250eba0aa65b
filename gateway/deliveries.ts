import { Adapter } from 'socket.io-adapter';
import type { Domain } from '../domain/domain.js';
import type { MessagePayload, NotificationView, RoomMark, RoomView } from '../domain/kernel/live.js';
import { memberNoOf } from '../domain/kernel/socket-rooms.js';
import { metrics } from '../domain/platform/metrics.js';
import type { RoomNews } from './room-news.js';
import type { Sequencer } from './sequencer.js';

/** A packet on its way to this process's sockets, as far as it concerns us. */
type Broadcast = Adapter['broadcast'];
type Packet = Parameters<Broadcast>[0];
type Options = Parameters<Broadcast>[1];

function isMessage(value: unknown): value is MessagePayload {
  const { chatNo, seq, id } = (value ?? {}) as Partial<MessagePayload>;
  return Number.isSafeInteger(chatNo) && Number.isSafeInteger(seq) && typeof id === 'string';
}

interface ReadEvent {
  chatNo: number;
  memberNo: number;
  seq: number;
}

/** @param others how many of the messages read are the other party's: what gateways are told beside the event */
function isRead(value: unknown, others: unknown): value is ReadEvent {
  const { chatNo, memberNo, seq } = (value ?? {}) as Partial<ReadEvent>;
  return [chatNo, memberNo, seq, others].every((number) => Number.isSafeInteger(number));
}

interface PresenceEvent {
  chatNo: number;
  memberNo: number;
  present: boolean;
}

/** @param version what gateways are told beside the event */
function isPresence(value: unknown, version: unknown): value is PresenceEvent {
  const { chatNo, memberNo, present } = (value ?? {}) as Partial<PresenceEvent>;
  return (
    typeof present === 'boolean' &&
    [chatNo, memberNo, version].every((number) => Number.isSafeInteger(number))
  );
}

/** @param mark what gateways are told beside the event */
function isRoom(value: unknown, mark: unknown): value is RoomView {
  const { seq, read } = (mark ?? {}) as Partial<RoomMark>;
  return [(value as RoomView | null)?.chatNo, seq, read].every((number) => Number.isSafeInteger(number));
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

/** The packet type of an event. (Socket.IO protocol, 5) */
const EVENT = 2;

/** Sends an event to this process's sockets in one room; where there are none, nothing is encoded. */
export function emitHere(adapter: Adapter, room: string, event: string, payload: unknown): void {
  if (adapter.rooms.has(room)) broadcastHere(adapter, room, { type: EVENT, data: [event, payload] });
}

/**
 * Puts the sequencer and the room news in front of everything that is delivered to this process's sockets.
 *
 * Whatever adapter is in use, what it delivers here, its own or another process's, goes through the
 * base adapter's `broadcast`, the method that Socket.IO itself replaces by a native publish. What was
 * addressed to this process alone (`local`) is in its right place already and passes; presence waits like
 * any for joins that are under way.
 *
 * To be called after `io.attachApp`, once per process; `io.close` undoes it.
 *
 * @param polling how many connections of this process are long-polling ones
 */
export function interceptDeliveries(
  { chat, notifications }: Domain,
  sequencer: Sequencer,
  news: RoomNews,
  polling: () => number,
): void {
  const deliver = createDelivery(polling);

  function dropMalformed(): void {
    metrics.pushesDropped.inc({ reason: 'malformed' });
  }

  Adapter.prototype.broadcast = function (this: Adapter, packet: Packet, opts: Options): void {
    const pass = () => deliver(this, packet, opts);
    const [event, payload, note] = (packet.data ?? []) as [string?, unknown?, unknown?];
    /** Without the note, which is for us: clients get the documented event alone. */
    const passBare = () => deliver(this, { ...packet, data: [event, payload] }, opts);
    if (opts.flags?.local) {
      if (event === 'presence') sequencer.offerPresence((payload as PresenceEvent).chatNo, pass);
      else pass();
    } else if (event === 'message') {
      if (!isMessage(payload)) {
        dropMalformed();
        return;
      }
      sequencer.offer(payload, () => {
        chat.heard(payload);
        pass();
      });
    } else if (event === 'message:read') {
      if (!isRead(payload, note)) {
        dropMalformed();
        return;
      }
      const { chatNo, memberNo, seq } = payload;
      sequencer.offerRead(chatNo, { memberNo, seq, others: note as number }, passBare);
    } else if (event === 'room') {
      const memberNo = memberNoOf([...opts.rooms][0] ?? '');
      if (memberNo === undefined || !isRoom(payload, note)) dropMalformed();
      else news.offer(memberNo, payload.chatNo, note as RoomMark, passBare);
    } else if (event === 'presence') {
      if (!isPresence(payload, note)) {
        dropMalformed();
        return;
      }
      const { chatNo, memberNo, present } = payload;
      if (chat.heardPresence(chatNo, memberNo, present, note as number)) {
        sequencer.offerPresence(chatNo, passBare);
      }
    } else if (event === 'notification') {
      if (notifications.acceptPush((payload as NotificationView).id)) pass();
    } else {
      pass();
    }
  };
}
