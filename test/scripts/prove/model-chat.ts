import { seededRandom } from '../../../scripts/mutate/random.js';
import type { SeenNotification } from '../../../scripts/prove/history.js';
import { ModelArticles } from './model-articles.js';
import type { Client } from './model-lines.js';
import { MEMBERS } from './model-rest.js';
import { type ModelRoom, shown } from './model-service.js';

/** The clients of members, and what they do by sockets and streams. */
export class ModelChat extends ModelArticles {
  readonly sockets: Client[];
  readonly streams: Client[];
  readonly rest: Client[];
  /** Messages whose outcome a client does not know. */
  readonly unknown: { client: Client; room: number; key: string; content: string }[] = [];

  constructor(seed: number, lost: number) {
    super(seededRandom(seed), lost);
    const make = (kind: string) =>
      MEMBERS.map(
        (member): Client => ({
          name: `${kind}-${member}`,
          member,
          process: `${kind}-process-${member % 2}`,
          freeAt: 0,
          lastAt: 0,
          isOpen: false,
          cursors: new Map(),
        }),
      );
    this.sockets = make('socket');
    this.streams = make('stream');
    this.rest = make('rest');
    this.service.onNotified = (member, n, notification) => this.#deliverNotification(member, n, notification);
  }

  #deliverNotification(member: number, n: number, notification: SeenNotification): void {
    for (const client of this.sockets.filter((one) => one.isOpen && one.member === member))
      this.deliver(client, { door: 'socket', event: 'notification', notification });
    for (const client of this.streams.filter((one) => one.isOpen && one.member === member)) {
      this.deliver(client, { door: 'stream', event: 'notification', n, notification });
      client.n = n;
    }
  }

  inRoom(room: ModelRoom): Client[] {
    return this.sockets.filter(({ name }) => room.sockets.has(name));
  }

  #changeRoom(room: ModelRoom): void {
    for (const client of this.sockets.filter(({ isOpen, member }) => isOpen && room.members.includes(member)))
      this.deliver(client, {
        door: 'socket',
        event: 'room',
        state: this.service.state(room, client.member),
      });
  }

  send(client: Client, door: string, room: ModelRoom, key: string, content: string): void {
    const known = this.call(client, door, { f: 'send', room: room.no, key, content }, () => {
      const isLost = this.isLost();
      // Half of the lost ones were never done.
      if (isLost && this.below(2) === 0) return undefined;
      const { message, isNew } = this.service.send(room, client.member, key, content);
      if (isNew) {
        for (const one of this.inRoom(room)) {
          this.deliver(one, {
            door: 'socket',
            event: 'message',
            room: room.no,
            message: shown(message, 'socket'),
          });
          one.cursors.set(room.no, message.seq);
        }
        this.#changeRoom(room);
      }
      const { id, seq, readCount, at } = shown(message, 'socket');
      return isLost ? undefined : { id, readCount, at, ...(door === 'socket' ? { seq } : {}) };
    });
    if (!known) this.unknown.push({ client, room: room.no, key, content });
  }

  #tellRead(room: ModelRoom, reader: number): void {
    if (!this.service.markRead(room, reader)) return;
    for (const one of this.inRoom(room))
      this.deliver(one, {
        door: 'socket',
        event: 'message:read',
        room: room.no,
        reader,
        seq: room.messages.length,
      });
    this.#changeRoom(room);
  }

  join(client: Client, room: ModelRoom, after = client.cursors.get(room.no) ?? 0): void {
    const isNew = !this.service.isPresent(room, client.member);
    const wasIn = room.sockets.has(client.name);
    this.call(client, 'socket', { f: 'join', room: room.no, after }, () => {
      room.sockets.set(client.name, client.member);
      const messages = room.messages.slice(after).map((message) => shown(message, 'socket'));
      client.cursors.set(room.no, room.messages.length);
      return { seq: room.messages.length, messages, present: this.service.present(room), more: false };
    });
    const reader = this.service.other(room, client.member);
    const seq = Math.min(room.reads.get(reader) ?? 0, after);
    if (!wasIn && seq > 0)
      this.deliver(client, { door: 'socket', event: 'message:read', room: room.no, reader, seq });
    if (isNew) this.#tellPresence(room, client.member, true);
    this.#tellRead(room, client.member);
  }

  /** Joins while the member's page is closed by REST: that is answered, too, and nothing is read. */
  joinAndLeave(client: Client, rest: Client, room: ModelRoom): void {
    const after = client.cursors.get(room.no) ?? 0;
    this.call(client, 'socket', { f: 'join', room: room.no, after }, () => {
      this.call(rest, 'rest', { f: 'leave', room: room.no }, () => {
        this.#take(client, room);
        return {};
      });
      const messages = room.messages.slice(after).map((message) => shown(message, 'socket'));
      const present = this.service.present(room);
      return { seq: room.messages.length, messages, present, more: false };
    });
  }

  /** Some of it gets lost. */
  type(client: Client, room: ModelRoom): void {
    const typing = this.below(2) === 0;
    this.call(client, 'socket', { f: 'typing', room: room.no, typing }, () => {
      for (const one of this.inRoom(room).filter(() => this.below(4) > 0))
        this.deliver(one, { door: 'socket', event: 'typing', room: room.no, who: client.member, typing });
      return {};
    });
  }

  #tellPresence(room: ModelRoom, who: number, present: boolean): void {
    for (const one of this.inRoom(room))
      this.deliver(one, { door: 'socket', event: 'presence', room: room.no, who, present });
  }

  #take(client: Client, room: ModelRoom): void {
    if (!room.sockets.delete(client.name)) return;
    if (!this.service.isPresent(room, client.member)) this.#tellPresence(room, client.member, false);
  }

  leave(client: Client, room: ModelRoom): void {
    this.call(client, 'socket', { f: 'leave', room: room.no }, () => {
      this.#take(client, room);
      return {};
    });
  }

  connect(client: Client): void {
    this.call(client, 'socket', { f: 'connect' }, () => {
      client.isOpen = true;
      return {};
    });
  }

  close(client: Client, door: 'socket' | 'stream'): void {
    const reason = this.below(2) === 0 ? 'client' : 'transport close';
    // A client that closes knows it before the service does.
    if (reason === 'client') this.t = Math.max(this.t, client.lastAt + 1);
    this.receive(client, { e: 'closed', client: client.name, door, reason }, reason === 'client' ? 0 : 30);
    client.isOpen = false;
    client.freeAt = client.lastAt;
    for (const room of this.service.rooms) this.#take(client, room);
  }

  openStream(client: Client): void {
    const after = client.n;
    const inbox = this.service.inbox(client.member);
    this.call(client, 'stream', { f: 'stream', ...(after === undefined ? {} : { after }) }, () => ({
      last: after ?? inbox.length,
    }));
    client.isOpen = true;
    for (const { n, deleted: _, ...notification } of inbox.slice(after ?? inbox.length)) {
      this.deliver(client, { door: 'stream', event: 'notification', n, notification });
      client.n = n;
    }
    client.n ??= inbox.length;
  }

  page(client: Client, room: ModelRoom, before?: string): void {
    const upTo = before === undefined ? room.messages.length : Number(before.split('-')[1]) - 1;
    const asked = { f: 'messages', room: room.no, limit: 50, ...(before ? { before } : {}) };
    this.call(client, 'rest', asked, () => {
      this.#tellRead(room, client.member);
      return {
        messages: room.messages.slice(Math.max(0, upTo - 50), upTo).map((message) => shown(message, 'rest')),
      };
    });
  }

  newText(room: ModelRoom): [key: string, content: string] {
    this.texts += 1;
    return [`key-${this.texts}`, `message ${this.texts} of room ${room.no}`];
  }
}
