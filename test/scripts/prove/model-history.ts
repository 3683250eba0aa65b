import { seededRandom } from '../../../scripts/mutate/random.js';
import type { HistoryLine, SeenNotification } from '../../../scripts/prove/history.js';
import type { Client } from './model-lines.js';
import { ARTICLE_AUTHOR, MEMBERS, ModelRest, ROOMS } from './model-rest.js';
import { type ModelRoom, shown } from './model-service.js';

/** Writes the history of clients that use a ModelService at random times. */
class ModelRun extends ModelRest {
  readonly #sockets: Client[];
  readonly #streams: Client[];
  readonly #rest: Client[];
  /** Messages whose outcome a client does not know. */
  readonly #unknown: { client: Client; room: number; key: string; content: string }[] = [];

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
    this.#sockets = make('socket');
    this.#streams = make('stream');
    this.#rest = make('rest');
    this.service.onNotified = (member, n, notification) => this.#deliverNotification(member, n, notification);
  }

  #deliverNotification(member: number, n: number, notification: SeenNotification): void {
    for (const client of this.#sockets.filter((one) => one.isOpen && one.member === member))
      this.deliver(client, { door: 'socket', event: 'notification', notification });
    for (const client of this.#streams.filter((one) => one.isOpen && one.member === member)) {
      this.deliver(client, { door: 'stream', event: 'notification', n, notification });
      client.n = n;
    }
  }

  #inRoom(room: ModelRoom): Client[] {
    return this.#sockets.filter(({ name }) => room.sockets.has(name));
  }

  #changeRoom(room: ModelRoom): void {
    for (const client of this.#sockets.filter(
      ({ isOpen, member }) => isOpen && room.members.includes(member),
    ))
      this.deliver(client, {
        door: 'socket',
        event: 'room',
        state: this.service.state(room, client.member),
      });
  }

  #send(client: Client, door: string, room: ModelRoom, key: string, content: string): void {
    const known = this.call(client, door, { f: 'send', room: room.no, key, content }, () => {
      const isLost = this.isLost();
      // Half of the lost ones were never done.
      if (isLost && this.below(2) === 0) return undefined;
      const { message, isNew } = this.service.send(room, client.member, key, content);
      if (isNew) {
        for (const one of this.#inRoom(room)) {
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
      return isLost ? undefined : { id: message.id, ...(door === 'socket' ? { seq: message.seq } : {}) };
    });
    if (!known) this.#unknown.push({ client, room: room.no, key, content });
  }

  #tellRead(room: ModelRoom, reader: number): void {
    if (!this.service.markRead(room, reader)) return;
    for (const one of this.#inRoom(room))
      this.deliver(one, {
        door: 'socket',
        event: 'message:read',
        room: room.no,
        reader,
        seq: room.messages.length,
      });
    this.#changeRoom(room);
  }

  #join(client: Client, room: ModelRoom, after = client.cursors.get(room.no) ?? 0): void {
    const isNew = !this.service.isPresent(room, client.member);
    this.call(client, 'socket', { f: 'join', room: room.no, after }, () => {
      room.sockets.set(client.name, client.member);
      const messages = room.messages.slice(after).map((message) => shown(message, 'socket'));
      client.cursors.set(room.no, room.messages.length);
      return { seq: room.messages.length, messages, present: this.service.present(room), more: false };
    });
    if (isNew) this.#tellPresence(room, client.member, true);
    this.#tellRead(room, client.member);
  }

  #tellPresence(room: ModelRoom, who: number, present: boolean): void {
    for (const one of this.#inRoom(room))
      this.deliver(one, { door: 'socket', event: 'presence', room: room.no, who, present });
  }

  #take(client: Client, room: ModelRoom): void {
    if (!room.sockets.delete(client.name)) return;
    if (!this.service.isPresent(room, client.member)) this.#tellPresence(room, client.member, false);
  }

  #leave(client: Client, room: ModelRoom): void {
    this.call(client, 'socket', { f: 'leave', room: room.no }, () => {
      this.#take(client, room);
      return {};
    });
  }

  #connect(client: Client): void {
    this.call(client, 'socket', { f: 'connect' }, () => {
      client.isOpen = true;
      return {};
    });
  }

  #close(client: Client, door: 'socket' | 'stream'): void {
    const reason = this.below(2) === 0 ? 'client' : 'transport close';
    // A client that closes knows it before the service does.
    if (reason === 'client') this.t = Math.max(this.t, client.lastAt + 1);
    this.receive(client, { e: 'closed', client: client.name, door, reason }, reason === 'client' ? 0 : 30);
    client.isOpen = false;
    client.freeAt = client.lastAt;
    for (const room of this.service.rooms) this.#take(client, room);
  }

  #openStream(client: Client): void {
    const after = client.n;
    this.call(client, 'stream', { f: 'stream', ...(after === undefined ? {} : { after }) }, () => ({}));
    client.isOpen = true;
    const inbox = this.service.inbox(client.member);
    for (const { n, deleted: _, ...notification } of inbox.slice(after ?? inbox.length)) {
      this.deliver(client, { door: 'stream', event: 'notification', n, notification });
      client.n = n;
    }
    client.n ??= inbox.length;
  }

  #page(client: Client, room: ModelRoom, before?: string): void {
    const upTo = before === undefined ? room.messages.length : Number(before.split('-')[1]) - 1;
    this.call(client, 'rest', { f: 'messages', room: room.no, ...(before ? { before } : {}) }, () => {
      this.#tellRead(room, client.member);
      return {
        messages: room.messages.slice(Math.max(0, upTo - 50), upTo).map((message) => shown(message, 'rest')),
      };
    });
  }

  #newText(room: ModelRoom): [key: string, content: string] {
    this.texts += 1;
    return [`key-${this.texts}`, `message ${this.texts} of room ${room.no}`];
  }

  #step(): void {
    this.t += 1 + this.below(40);
    const member = MEMBERS[this.below(MEMBERS.length)] as number;
    const [socket, stream, rest] = [this.#sockets, this.#streams, this.#rest].map(
      (clients) => clients[member - 1],
    ) as [Client, Client, Client];
    const own = this.service.rooms.filter(({ members }) => members.includes(member));
    const room = own[this.below(own.length)] as ModelRoom;
    const isFree = (client: Client) => client.freeAt < this.t;
    const choice = this.below(100);
    if (choice < 75 && isFree(socket)) this.#stepSocket(socket, room, choice);
    else if (choice < 80 && isFree(stream)) {
      if (stream.isOpen && this.below(3) === 0) this.#close(stream, 'stream');
      else if (!stream.isOpen) this.#openStream(stream);
    } else if (isFree(rest)) this.#stepRest(rest, room);
  }

  #stepSocket(client: Client, room: ModelRoom, choice: number): void {
    if (!client.isOpen) this.#connect(client);
    else if (choice < 12) this.#join(client, room);
    else if (choice < 16) this.#leave(client, room);
    else if (choice < 18) this.#close(client, 'socket');
    else if (choice < 24 && this.#unknown.length > 0) {
      const index = this.#unknown.findIndex((one) => one.client === client);
      const [again] = index < 0 ? [] : this.#unknown.splice(index, 1);
      if (again) this.#send(client, 'socket', this.service.room(again.room), again.key, again.content);
    } else this.#send(client, 'socket', room, ...this.#newText(room));
  }

  #stepRest(client: Client, room: ModelRoom): void {
    const choice = this.below(9);
    if (choice === 0) this.list(client);
    else if (choice === 1) this.#page(client, room);
    else if (choice === 2) this.notifications(client);
    else if (choice === 3) this.article(client);
    else if (choice === 4) this.comments(client);
    else if (choice === 5) this.comment(client);
    else if (choice === 6) this.heart(client);
    else this.#send(client, 'push', room, ...this.#newText(room));
  }

  #enter(phase: string): void {
    this.t += 100;
    this.phase = phase;
    this.write({ e: 'phase', phase }, this.t);
    this.t += 100;
  }

  /** Everything that must happen at least once, whatever is chosen. */
  #begin(): void {
    for (const client of [...this.#sockets, ...this.#streams]) {
      if (this.#sockets.includes(client)) this.#connect(client);
      else this.#openStream(client);
    }
  }

  /** Ends with open sockets that are in their rooms and open streams. */
  #settle(): void {
    this.t += 100;
    for (const client of this.#streams) if (!client.isOpen) this.#openStream(client);
    for (const client of this.#sockets) {
      this.t += 100;
      if (!client.isOpen) this.#connect(client);
    }
    this.t += 15_000;
  }

  #readAll(): void {
    const step = (task: () => void) => {
      this.t += 100;
      task();
    };
    for (const client of this.#rest) {
      step(() => this.list(client));
      step(() => this.notifications(client));
    }
    for (const room of this.service.rooms) {
      for (const member of room.members) {
        const fresh = {
          ...(this.#sockets[member - 1] as Client),
          name: `fresh-${member}`,
          cursors: new Map(),
        };
        step(() => this.#join(fresh, room, 0));
        step(() => this.#leave(fresh, room));
        step(() => this.#page(this.#rest[member - 1] as Client, room));
      }
    }
    step(() => this.article(this.#rest[0] as Client));
    step(() => this.comments(this.#rest[0] as Client));
  }

  run(steps: number): HistoryLine[] {
    const header = {
      e: 'header',
      t: 0,
      format: 1,
      version: 'model',
      node: process.version,
      seed: 1,
      options: { faults: 'none' },
      startedAt: new Date(0).toISOString(),
      members: MEMBERS.map((no) => ({ no, nickname: `member ${no}` })),
      rooms: ROOMS,
      articles: [{ article: 1, author: ARTICLE_AUTHOR }],
    };
    this.write({ e: 'phase', phase: 'traffic' }, 1);
    this.#begin();
    for (let i = 0; i < steps; i += 1) this.#step();
    this.#enter('quiet');
    this.#settle();
    this.#enter('final');
    this.#readAll();
    this.t += 1_000;
    this.#enter('end');
    const inOrder = this.lines.sort((a, b) => a.t - b.t);
    return [header as HistoryLine, ...inOrder];
  }
}

/**
 * The history of a service that keeps every promise.
 * @param lost share of the requests whose outcome stays unknown, in a hundred
 */
export function modelHistory(seed: number, steps = 400, lost = 10): HistoryLine[] {
  return new ModelRun(seed, lost).run(steps);
}
