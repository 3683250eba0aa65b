import { answersTo, tries } from '../../../scripts/prove/intrusions.js';
import { type Client, ModelLines } from './model-lines.js';
import { ModelService } from './model-service.js';

export const ROOMS = [
  [1, 1, 2],
  [2, 3, 4],
  [3, 1, 3],
].map(([room = 0, creator = 0, joiner = 0]) => ({
  ...{ room, creator, joiner, saleNo: room, saleTitle: `sale of room ${room}` },
}));
export const MEMBERS = [1, 2, 3, 4];
export const ARTICLE_AUTHOR = 4;

/** The member some of whose bookmarks have no answer. */
const LOSING = 2;

/** The calls of clients by REST but those of a room. */
export class ModelRest extends ModelLines {
  readonly service = new ModelService(ROOMS, () => Math.round(this.t));
  phase = 'traffic';
  texts = 0;
  /** Share of requests whose outcome is unknown, in a hundred. */
  readonly lost: number;

  constructor(below: (limit: number) => number, lost: number) {
    super(below);
    this.lost = lost;
  }

  isLost(): boolean {
    return this.phase === 'traffic' && this.below(100) < this.lost;
  }

  list(client: Client): void {
    const { member } = client;
    this.call(client, 'rest', { f: 'rooms' }, () => ({
      rooms: this.service.roomsOf(member, true).map((room) => ({
        ...this.service.state(room, member),
        ...(room.opened ? { opened: room.opened } : {}),
      })),
    }));
  }

  /** Asks about the post of a room. */
  openRoom(client: Client, { saleNo, saleTitle, creator }: (typeof ROOMS)[0]): void {
    this.call(client, 'rest', { f: 'openRoom', sale: saleNo, creator }, () => {
      this.service.open({ creator, joiner: client.member, saleNo, saleTitle });
      return {};
    });
  }

  notifications(client: Client): void {
    this.call(client, 'rest', { f: 'notifications' }, () => ({
      notifications: this.service.list(client.member),
    }));
  }

  check(client: Client, notification: number): void {
    this.call(client, 'rest', { f: 'check', notification }, () => {
      this.service.change(client.member, notification, { checked: true });
      return {};
    });
  }

  delete(client: Client, notification: number): void {
    this.call(client, 'rest', { f: 'delete', notifications: [notification] }, () => {
      this.service.change(client.member, notification, { deleted: true });
      return {};
    });
  }

  comments(client: Client): void {
    this.call(client, 'rest', { f: 'comments', article: 1 }, () => ({
      comments: this.service.listComments(),
    }));
  }

  /** Tries something that is not the member's to do. */
  intrude(client: Client, { call, manner } = tries[this.below(tries.length)] as (typeof tries)[0]): void {
    this.call(client, 'rest', { f: 'intrude', call, manner, on: 1 }, () => {
      const [answer = ''] = answersTo(call, manner);
      const [status, code] = answer.split(' ');
      return code ? { status: Number(status), code } : {};
    });
  }

  /** A comment to reply to, or none. */
  parent(): number | undefined {
    const tops = this.service.comments.filter(({ parent, deleted }) => parent === undefined && !deleted);
    return this.below(3) === 0 ? tops[this.below(Math.max(1, tops.length))]?.id : undefined;
  }

  comment(client: Client, parent?: number): void {
    this.texts += 1;
    const content = `comment ${this.texts}`;
    if (parent !== undefined) this.comments(client);
    const body = { f: 'comment', article: 1, content, ...(parent === undefined ? {} : { parent }) };
    this.call(client, 'rest', body, () => {
      const isLost = this.isLost();
      if (!isLost || this.below(2) === 0)
        this.service.comment(client.member, ARTICLE_AUTHOR, content, parent);
      return isLost ? undefined : {};
    });
  }

  /** Removes one of the member's own comments, which they have seen. */
  uncomment(
    client: Client,
    mine = this.service.comments.find(({ author, deleted }) => author === client.member && !deleted),
  ): void {
    if (!mine) return;
    this.comments(client);
    this.call(client, 'rest', { f: 'uncomment', article: 1, comment: mine.id }, () => {
      mine.deleted = true;
      return {};
    });
  }

  /** @param f what is asked for; by default what is not so yet */
  heart(client: Client, key = 'article 1', f = this.#hasHeart(client, key) ? 'unheart' : 'heart'): void {
    const [target = '', id] = key.split(' ');
    this.call(client, 'rest', { f, target, id: Number(id) }, () => {
      const { hearts } = this.service;
      if (this.#hasHeart(client, key) === (f === 'heart'))
        return { code: f === 'heart' ? 'ALREADY_HEARTED' : 'HEART_NOT_FOUND' };
      if (f === 'heart') hearts.add(`${client.member} of ${key}`);
      else hearts.delete(`${client.member} of ${key}`);
      return { count: this.service.likes(key) };
    });
  }

  #hasHeart({ member }: Client, key: string): boolean {
    return this.service.hearts.has(`${member} of ${key}`);
  }

  bookmark(client: Client, f = this.service.bookmarks.has(client.member) ? 'unbookmark' : 'bookmark'): void {
    this.call(client, 'rest', { f, article: 1 }, () => {
      const { bookmarks } = this.service;
      // The others' are certain: mutations change them.
      const isLost = client.member === LOSING && this.isLost();
      if (isLost && this.below(2) === 0) return undefined;
      if (bookmarks.has(client.member) && f === 'bookmark')
        return isLost ? undefined : { code: 'ALREADY_BOOKMARKED' };
      if (f === 'bookmark') bookmarks.add(client.member);
      else bookmarks.delete(client.member);
      return isLost ? undefined : {};
    });
  }
}
