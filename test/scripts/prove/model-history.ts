import type { Header, HistoryLine } from '../../../scripts/prove/history.js';
import { ModelChat } from './model-chat.js';
import type { Client } from './model-lines.js';
import { ARTICLE_AUTHOR, MEMBERS, ROOMS } from './model-rest.js';
import type { ModelRoom } from './model-service.js';
import { articleOf, membersOf, withRests } from './whole-lines.js';

/** The member who deletes notifications. */
const DELETING = 2;

/** Time, ms, after which everything must have arrived, and nobody counts as present who has gone. */
const QUIET_MS = 60_000;

/** Time, ms, after which nobody counts as present who has left, and some. */
const GONE_MS = 41_000;

/** Writes the history of clients that use a ModelService at random times. */
class ModelRun extends ModelChat {
  #step(): void {
    this.t += 1 + this.below(40);
    const member = MEMBERS[this.below(MEMBERS.length)] as number;
    const [socket, stream, rest] = [this.sockets, this.streams, this.rest].map(
      (clients) => clients[member - 1],
    ) as [Client, Client, Client];
    const own = this.service.rooms.filter(({ members }) => members.includes(member));
    const room = own[this.below(own.length)] as ModelRoom;
    const isFree = (client: Client) => client.freeAt < this.t;
    const choice = this.below(100);
    if (choice === 74 && isFree(socket) && isFree(rest) && socket.isOpen)
      this.joinAndLeave(socket, rest, room);
    else if (choice < 75 && isFree(socket)) this.#stepSocket(socket, room, choice);
    else if (choice < 80 && isFree(stream)) {
      if (stream.isOpen && this.below(3) === 0) this.close(stream, 'stream');
      else if (!stream.isOpen) this.openStream(stream);
    } else if (isFree(rest)) this.#stepRest(rest, room);
  }

  #stepSocket(client: Client, room: ModelRoom, choice: number): void {
    if (!client.isOpen) this.connect(client);
    else if (choice < 12) this.join(client, room);
    else if (choice < 16) this.leave(client, room);
    else if (choice < 18) this.close(client, 'socket');
    else if (choice < 20 && room.sockets.has(client.name)) this.type(client, room);
    else if (choice < 24 && this.unknown.length > 0) {
      const index = this.unknown.findIndex((one) => one.client === client);
      const [again] = index < 0 ? [] : this.unknown.splice(index, 1);
      if (again) this.send(client, 'socket', this.service.room(again.room), again.key, again.content);
    } else this.send(client, 'socket', room, ...this.newText(room));
  }

  #stepRest(client: Client, room: ModelRoom): void {
    const choice = this.below(13);
    if (choice === 0) this.list(client);
    else if (choice === 1) this.page(client, room);
    else if (choice === 2) this.notifications(client);
    else if (choice === 3) this.article(client);
    else if (choice === 4) this.comments(client);
    else if (choice === 5) this.comment(client, this.parent());
    else if (choice === 6) this.heart(client);
    else if (choice === 7) this.bookmark(client);
    else if (choice === 8) this.#stepRarely(client);
    else if (choice === 9) this.intrude(client);
    else this.send(client, 'push', room, ...this.newText(room));
  }

  #stepRarely(client: Client): void {
    const [newest] = this.service.list(client.member);
    const choice = this.below(8);
    if (choice === 0) this.uncomment(client);
    else if (choice === 1) this.editComment(client);
    else if (choice === 2) this.publish(client);
    else if (choice === 3) this.edit(client);
    else if (choice === 4) this.unpublish(client);
    else if (choice === 5) this.articleList(client, this.below(2) === 0 ? 'recent' : 'like', 1, 2);
    else if (newest && client.member === DELETING) {
      this.notifications(client);
      this.delete(client, newest.id);
    }
  }

  #enter(phase: string): void {
    this.t += 100;
    this.phase = phase;
    this.write({ e: 'phase', phase }, this.t);
    this.t += 100;
  }

  /** Everybody is connected, and one sends a message to who has not been in the room yet. */
  #begin(): void {
    for (const client of [...this.sockets, ...this.streams]) {
      if (this.sockets.includes(client)) this.connect(client);
      else this.openStream(client);
    }
    const [room, sender] = [this.service.room(1), this.sockets[0] as Client];
    this.phase = 'begin';
    this.send(sender, 'socket', room, ...this.newText(room));
    // It is answered before anybody may read it.
    this.t += 100;
    this.phase = 'traffic';
  }

  /** One after another. */
  #inTurn(...tasks: (() => void)[]): void {
    for (const task of tasks) {
      this.t += 100;
      task();
    }
  }

  /**
   * What mutations change, whatever was chosen before: each thing happens once at least, and everything is answered. Who opened
   * the room stays in it, and in the second one the other party, too.
   */
  #talk(room: ModelRoom): void {
    const [one, other] = room.members.map((member) => this.sockets[member - 1]) as [Client, Client];
    const [mine, theirs] = room.members.map((member) => this.rest[member - 1]) as [Client, Client];
    const send = () => this.send(one, 'socket', room, ...this.newText(room));
    this.#inTurn(
      () => this.leave(one, room),
      () => this.leave(other, room),
      () => this.join(one, room),
      () => this.join(other, room),
      () => this.list(mine),
      () => this.list(theirs),
      ...[send, send, send],
      () => this.type(other, room),
    );
    if (room.no === 2) return;
    this.#inTurn(
      () => this.leave(other, room),
      ...[send, send],
      () => this.page(theirs, room),
      () => this.notifications(theirs),
      send,
    );
  }

  #discuss(): void {
    const [, , third, fourth] = this.rest as [Client, Client, Client, Client];
    const comment = () => this.comment(third);
    const heart = () => this.heart(third, 'article 1', 'heart');
    const bookmark = () => this.bookmark(third, 'bookmark');
    if (this.service.hearts.has('3 of article 1')) this.#inTurn(() => this.heart(third));
    this.#inTurn(() => this.uncommentAnswered(third));
    this.#inTurn(
      ...[comment, comment, comment, heart, heart, bookmark, bookmark],
      () => this.comments(third),
      () => this.article(third),
      () => this.intrude(third, { call: 'room:join', manner: 'foreign' }),
      () => this.notifications(fourth),
      () => this.check(fourth, this.service.list(fourth.member)[0]?.id ?? 0),
      () => this.notifications(fourth),
    );
  }

  /** Members publish, change and delete articles, and ask about a post. */
  #publishAll(): void {
    const [first, , third, fourth] = this.rest as [Client, Client, Client, Client];
    const [post] = ROOMS as [(typeof ROOMS)[0]];
    const list = (order: 'recent' | 'like', page: number, size: number) => () =>
      this.articleList(first, order, page, size);
    this.#inTurn(
      ...[() => this.publish(third), () => this.publish(third), () => this.publish(fourth)],
      ...[list('recent', 1, 50), () => this.edit(third), () => this.unpublish(fourth)],
      ...[list('recent', 1, 1), list('recent', 2, 1)],
      ...[() => this.openRoom(fourth, post), () => this.openRoom(fourth, post)],
      ...[() => this.render(first), () => this.render(third), () => this.me(first)],
      () => this.editComment(third),
      () => this.publish(third),
    );
  }

  /** Ends with everybody connected and everything answered. */
  #conclude(): void {
    this.phase = 'conclusion';
    for (const client of this.streams) if (!client.isOpen) this.#inTurn(() => this.openStream(client));
    for (const client of this.sockets) if (!client.isOpen) this.#inTurn(() => this.connect(client));
    for (const room of this.service.rooms) this.#talk(room);
    this.#discuss();
    this.#publishAll();
    this.#readLate(this.service.room(1));
  }

  /** Who has left the room long ago reads it, and is sent another message. */
  #readLate(room: ModelRoom): void {
    const [one, other] = room.members as [number, number];
    const reader = this.rest[other - 1] as Client;
    const send = () => this.send(this.sockets[one - 1] as Client, 'socket', room, ...this.newText(room));
    this.t += GONE_MS;
    this.#inTurn(
      send,
      () => this.list(reader),
      () => this.page(reader, room),
      send,
    );
  }

  #readAll(): void {
    for (const client of this.rest)
      this.#inTurn(
        () => this.list(client),
        () => this.notifications(client),
      );
    for (const room of this.service.rooms) {
      for (const member of room.members) {
        const fresh = {
          ...(this.sockets[member - 1] as Client),
          name: `fresh-${member}`,
          cursors: new Map(),
        };
        this.#inTurn(
          () => this.join(fresh, room, 0),
          () => this.leave(fresh, room),
          () => this.page(this.rest[member - 1] as Client, room),
        );
      }
    }
    const [first] = this.rest as [Client];
    this.#inTurn(
      () => this.articleList(first, 'recent', 1, 20),
      () => this.articleList(first, 'like', 1, 20),
      () => this.article(first),
      () => this.comments(first),
      ...this.rest.map((client) => () => this.bookmark(client, 'bookmark')),
    );
  }

  run(steps: number): HistoryLine[] {
    const header: Header = {
      e: 'header',
      t: 0,
      format: 2,
      version: 'model',
      node: process.version,
      seed: 1,
      options: { faults: 'none' },
      startedAt: new Date(0).toISOString(),
      localOffsetMs: 0,
      members: membersOf(MEMBERS),
      rooms: structuredClone(ROOMS),
      articles: [articleOf(ARTICLE_AUTHOR)],
    };
    this.write({ e: 'phase', phase: 'traffic' }, 1);
    this.#begin();
    for (let i = 0; i < steps; i += 1) this.#step();
    this.#conclude();
    this.#enter('quiet');
    this.t += QUIET_MS;
    this.#enter('final');
    this.#readAll();
    this.t += 1_000;
    this.#enter('end');
    const inOrder = this.lines.sort((a, b) => a.t - b.t);
    return withRests([header, ...inOrder]);
  }
}

/**
 * The history of a service that keeps every promise.
 * @param lost share of the requests whose outcome stays unknown, in a hundred
 */
export function modelHistory(seed: number, steps = 400, lost = 10): HistoryLine[] {
  return new ModelRun(seed, lost).run(steps);
}
