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
import {
  type AdapterKind,
  createSocketBus,
  type SocketBus,
} from '../domain/platform/cluster/socket-adapter.js';
import { lostPushes } from '../domain/platform/observe/lost-pushes.js';
import { stagesOf } from '../domain/platform/observe/message-stages.js';
import { metrics } from '../domain/platform/observe/metrics.js';
import { laterStep } from '../domain/platform/observe/tracing.js';
import type { RedisConnection } from '../domain/platform/redis/connection.js';
import type { GatewayServer } from './connection/socket.js';
import type { Publisher } from './engine/engine.js';
import { broadcastEverywhere, interceptBroadcasts } from './engine/socketio-internals.js';
import type { RoomComparer } from './order/compare-rooms.js';
import type { RoomViews } from './order/room-views.js';
import type { Sequencer } from './order/sequencer.js';
import { type Push, readPush } from './pushes.js';

/** What a gateway needs to deliver to its own sockets. */
export interface LocalSockets {
  chat: Pick<Domain['chat'], 'noteMessage' | 'acceptPresence' | 'checkPresence'>;
  notifications: Pick<Domain['notifications'], 'acceptPush' | 'pollSoon'>;
  sequencer: Pick<Sequencer, 'offer' | 'offerRead' | 'offerChange'>;
  views: Pick<RoomViews, 'offer' | 'check'>;
  comparer: Pick<RoomComparer, 'compareSoon' | 'compareMember'>;
  publisher: Pick<Publisher, 'event'>;
}

/**
 * The domain's port to sockets over Socket.IO. Each push goes to one room and excludes nobody: only that form
 * becomes a native uWebSockets.js publish. Senders recognise their own messages by `id`.
 *
 * With several processes a push travels over the adapter's bus, and every gateway, the sending one included,
 * delivers it. A single process delivers at once. What other processes push is only believed if it is signed:
 * anybody who reaches Redis can publish. (docs/decisions/messages-between-processes.md)
 */
export class SocketLive implements Live {
  readonly #io: Pick<GatewayServer, 'of'>;
  readonly #adapter: Adapter;
  readonly #bus: SocketBus | undefined;
  #local: LocalSockets | undefined;

  /** @param bus connects several processes, over the adapter of `io` */
  constructor(io: Pick<GatewayServer, 'of'>, bus?: SocketBus) {
    this.#io = io;
    this.#adapter = io.of('/').adapter;
    this.#bus = bus;
  }

  /** Starts to deliver to this process's sockets; until then a push reaches other processes only. */
  serve(local: LocalSockets): void {
    this.#local = local;
    lostPushes.count(this.#bus?.isSigned ?? true);
    if (!this.#bus) return;
    const { isSigned } = this.#bus;
    interceptBroadcasts((room, data) => this.#deliver(room, data as Push));
    this.#bus.receive(
      (room) => this.#adapter.rooms.has(room),
      (room, data) => {
        const push = readPush(room, data);
        if (isSigned) this.#deliver(room, push);
        else this.#heed(local, room, push);
      },
      (room) => {
        const memberNo = memberNoOf(room);
        // What was pushed to a chat room is found by its writer's report, or by the regular comparison.
        if (memberNo !== undefined) local.comparer.compareMember(memberNo);
      },
    );
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
    this.#local?.sequencer.offerChange(chatNo, () =>
      this.#local?.publisher.event(chatRoom(chatNo), 'presence', { chatNo, memberNo, present }),
    );
  }

  notificationHere(memberNo: number, view: NotificationView, json: string): boolean {
    const room = memberRoom(memberNo);
    const isHere = this.#adapter.rooms.has(room);
    if (isHere) this.#local?.publisher.event(room, 'notification', view, json);
    return isHere;
  }

  isConnected(memberNo: number): boolean {
    return this.#adapter.rooms.has(memberRoom(memberNo));
  }

  connectedSince(memberNo: number): number {
    const { sockets } = this.#io.of('/');
    const ids = [...(this.#adapter.rooms.get(memberRoom(memberNo)) ?? [])];
    return Math.min(...ids.map((id) => sockets.get(id)?.handshake.issued ?? Number.POSITIVE_INFINITY));
  }

  connectionsIn(chatNo: number): number {
    return this.#adapter.rooms.get(chatRoom(chatNo))?.size ?? 0;
  }

  readonly isInRoom = (chatNo: number, connection: string): boolean =>
    this.#adapter.rooms.get(chatRoom(chatNo))?.has(connection) ?? false;

  removeFromRoom(chatNo: number, connection: string): void {
    void this.#io.of('/').sockets.get(connection)?.leave(chatRoom(chatNo));
  }

  #send(room: string, push: Push): void {
    // Counted here: a native publish passes no hook of Socket.IO.
    metrics.broadcasts.inc({ event: push[0] });
    if (this.#bus) broadcastEverywhere(this.#adapter, room, push);
    else this.#deliver(room, push);
  }

  /** Passes a push to this process's sockets, in its order and without the note. */
  #deliver(room: string, push: Push): void {
    if (!this.#local) return;
    const { chat, notifications, sequencer, views, publisher } = this.#local;
    let shown: Push[1] = push[1];
    const publish = laterStep(`deliver ${push[0]}`, () => publisher.event(room, push[0], shown));
    switch (push[0]) {
      case 'message': {
        const [, payload] = push;
        const stages = stagesOf(payload);
        stages?.end('publish');
        const deliver = () => {
          stages?.end('sequence');
          // A single process wrote it itself.
          if (this.#bus) chat.noteMessage(payload);
          publish();
          stages?.endWhenWritten();
        };
        sequencer.offer(payload, deliver);
        break;
      }
      case 'message:read': {
        const [, { chatNo, memberNo, seq }, others] = push;
        sequencer.offerRead(chatNo, { memberNo, seq, others }, publish);
        break;
      }
      case 'presence': {
        const [, { chatNo, memberNo, present }, version] = push;
        if (chat.acceptPresence(chatNo, memberNo, present, version)) sequencer.offerChange(chatNo, publish);
        break;
      }
      case 'room': {
        const [, view, mark] = push;
        const show = (merged: RoomView) => {
          shown = merged;
          publish();
        };
        // In one write with the messages that it follows.
        sequencer.offerChange(view.chatNo, () => views.offer(memberNoOf(room) as number, view, mark, show));
        break;
      }
      case 'notification':
        lostPushes.came('notification', room, push[1].id);
        if (notifications.acceptPush(push[1].id)) publish();
        break;
      default:
        publish();
    }
  }

  /** Reads what a push announces that anybody may have published: of the push itself only `typing` is shown. */
  #heed(
    { chat, notifications, sequencer, views, comparer, publisher }: LocalSockets,
    room: string,
    push: Push,
  ): void {
    switch (push[0]) {
      case 'message':
        sequencer.offer(push[1]);
        break;
      case 'message:read':
        comparer.compareSoon(push[1].chatNo);
        break;
      case 'presence':
        chat.checkPresence(push[1].chatNo);
        break;
      case 'room': {
        const memberNo = memberNoOf(room) as number;
        if (!views.check(memberNo, push[1].chatNo)) comparer.compareMember(memberNo);
        break;
      }
      case 'notification':
        notifications.pollSoon();
        break;
      default:
        publisher.event(room, push[0], push[1]);
    }
  }
}

/**
 * The port of a process without sockets: its pushes reach the gateways over the bus. A Socket.IO server that
 * never listens, because the emitter package speaks to the classic adapter only.
 */
export function createLiveEmitter(redis: RedisConnection, kind: AdapterKind): Live {
  const bus = createSocketBus(redis, kind, false);
  return new SocketLive(new Server({ adapter: bus.adapter as never }), bus);
}
