import { Server } from 'socket.io';
import type { Adapter } from 'socket.io-adapter';
import type { Domain } from '../domain/domain.js';
import type {
  Live,
  MessagePayload,
  NotificationView,
  ReadPosition,
  RoomMark,
  RoomView,
} from '../domain/kernel/live.js';
import { chatRoom, memberNoOf, memberRoom } from '../domain/kernel/socket-rooms.js';
import { metrics } from '../domain/platform/metrics.js';
import type { RedisConnection } from '../domain/platform/redis/connection.js';
import { type AdapterKind, createSocketAdapter } from '../domain/platform/socket-adapter.js';
import type { ServerEvents } from './protocol.js';
import type { RoomViews } from './room-views.js';
import type { Sequencer } from './sequencer.js';
import type { GatewayServer } from './socket.js';
import { broadcastEverywhere, interceptBroadcasts, type Publisher } from './socketio-internals.js';

type Payload<E extends keyof ServerEvents> = Parameters<ServerEvents[E]>[0];

/** An event as clients get it; the note is for gateways only, which order and merge by it. */
type Push =
  | [event: 'message', payload: MessagePayload, note?: undefined]
  | [event: 'message:read', payload: Payload<'message:read'>, others: number]
  | [event: 'typing', payload: Payload<'typing'>, note?: undefined]
  | [event: 'presence', payload: Payload<'presence'>, version: number]
  | [event: 'room', payload: RoomView, mark: RoomMark]
  | [event: 'notification', payload: NotificationView, note?: undefined];

/** What a gateway needs to deliver to its own sockets. */
export interface LocalSockets {
  chat: Pick<Domain['chat'], 'noteMessage' | 'acceptPresence'>;
  notifications: Pick<Domain['notifications'], 'acceptPush'>;
  sequencer: Pick<Sequencer, 'offer' | 'offerRead' | 'offerPresence'>;
  views: Pick<RoomViews, 'offer'>;
  publisher: Pick<Publisher, 'event'>;
}

const areWhole = (...values: unknown[]) => values.every((value) => Number.isSafeInteger(value));

/** Whether a push from the bus has the documented form: a broken or foreign process may publish anything. */
function isWellFormed(room: string, [event, payload, note]: unknown[]): boolean {
  const { id, chatNo, seq, memberNo, present } = (payload ?? {}) as Record<string, unknown>;
  switch (event) {
    case 'message':
      return areWhole(chatNo, seq) && typeof id === 'string';
    case 'message:read':
      return areWhole(chatNo, memberNo, seq, note);
    case 'presence':
      return areWhole(chatNo, memberNo, note) && typeof present === 'boolean';
    case 'room': {
      const mark = (note ?? {}) as Partial<RoomMark>;
      return areWhole(memberNoOf(room), chatNo, mark.seq, mark.read);
    }
    case 'notification':
      return areWhole(id);
    default:
      return true;
  }
}

const EVENTS = new Set<unknown>(['message', 'message:read', 'typing', 'presence', 'room', 'notification']);

/**
 * The domain's port to sockets over Socket.IO. Each push goes to one room and excludes nobody: only that form
 * becomes a native uWebSockets.js publish, at a fifth of the cost of sending to each socket. Senders
 * recognise their own messages by `clientId`.
 *
 * With several processes a push travels over the adapter's bus, and every gateway, the sending one included,
 * delivers what its adapter receives. A single process delivers at once.
 */
export class SocketLive implements Live {
  readonly #io: Pick<GatewayServer, 'of'>;
  readonly #adapter: Adapter;
  readonly #shared: boolean;
  #local: LocalSockets | undefined;

  /** @param shared whether the adapter connects several processes */
  constructor(io: Pick<GatewayServer, 'of'>, shared: boolean) {
    this.#io = io;
    this.#adapter = io.of('/').adapter;
    this.#shared = shared;
  }

  /** Starts to deliver to this process's sockets; until then a push reaches other processes only. */
  serve(local: LocalSockets): void {
    this.#local = local;
    if (!this.#shared) return;
    interceptBroadcasts((room, data, pass) => {
      if (!EVENTS.has(data[0])) pass();
      else if (isWellFormed(room, data)) this.#deliver(room, data as Push);
      else metrics.pushesDropped.inc({ reason: 'malformed' });
    });
  }

  message(payload: MessagePayload): void {
    this.#send(chatRoom(payload.chatNo), ['message', payload]);
  }

  messageRead(chatNo: number, { memberNo, seq, others }: ReadPosition): void {
    this.#send(chatRoom(chatNo), ['message:read', { chatNo, memberNo, seq }, others]);
  }

  /** An arrow function, as is `isInRoom`: presence takes both without their object. */
  readonly presence = (chatNo: number, memberNo: number, present: boolean, version: number): void =>
    this.#send(chatRoom(chatNo), ['presence', { chatNo, memberNo, present }, version]);

  typing(chatNo: number, memberNo: number, typing: boolean): void {
    this.#send(chatRoom(chatNo), ['typing', { chatNo, memberNo, typing }]);
  }

  room(memberNo: number, view: RoomView, mark: RoomMark): void {
    this.#send(memberRoom(memberNo), ['room', view, mark]);
  }

  notification(memberNo: number, view: NotificationView): void {
    this.#send(memberRoom(memberNo), ['notification', view]);
  }

  presenceHere(chatNo: number, memberNo: number, present: boolean): void {
    this.#local?.sequencer.offerPresence(chatNo, () =>
      this.#local?.publisher.event(chatRoom(chatNo), 'presence', { chatNo, memberNo, present }),
    );
  }

  notificationHere(memberNo: number, view: NotificationView): void {
    this.#local?.publisher.event(memberRoom(memberNo), 'notification', view);
  }

  readonly isInRoom = (chatNo: number, connection: string): boolean =>
    this.#adapter.rooms.get(chatRoom(chatNo))?.has(connection) ?? false;

  removeFromRoom(chatNo: number, connection: string): void {
    void this.#io.of('/').sockets.get(connection)?.leave(chatRoom(chatNo));
  }

  #send(room: string, push: Push): void {
    // Counted here: a native publish passes no hook of Socket.IO.
    metrics.broadcasts.inc({ event: push[0] });
    if (this.#shared) broadcastEverywhere(this.#adapter, room, push);
    else this.#deliver(room, push);
  }

  /** Passes a push to this process's sockets, in its order and without the note. */
  #deliver(room: string, push: Push): void {
    if (!this.#local) return;
    const { chat, notifications, sequencer, views, publisher } = this.#local;
    const [event, payload, note] = push;
    const publish = () => publisher.event(room, event, payload);
    switch (event) {
      case 'message':
        sequencer.offer(payload, () => {
          // A single process wrote it itself.
          if (this.#shared) chat.noteMessage(payload);
          publish();
        });
        break;
      case 'message:read': {
        const { chatNo, memberNo, seq } = payload;
        sequencer.offerRead(chatNo, { memberNo, seq, others: note }, publish);
        break;
      }
      case 'presence': {
        const { chatNo, memberNo, present } = payload;
        if (chat.acceptPresence(chatNo, memberNo, present, note)) sequencer.offerPresence(chatNo, publish);
        break;
      }
      case 'room':
        views.offer(memberNoOf(room) as number, payload.chatNo, note, publish);
        break;
      case 'notification':
        if (notifications.acceptPush(payload.id)) publish();
        break;
      default:
        publish();
    }
  }
}

/**
 * The port of a process without sockets: its pushes reach the gateways over the bus. A Socket.IO server that
 * never listens, because the emitter package speaks to the classic adapter only.
 */
export function createLiveEmitter(redis: RedisConnection, kind: AdapterKind): Live {
  return new SocketLive(new Server({ adapter: createSocketAdapter(redis, kind) as never }), true);
}
