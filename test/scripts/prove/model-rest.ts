import { type Client, ModelLines } from './model-lines.js';
import { ModelService } from './model-service.js';

export const ROOMS: { room: number; members: [number, number] }[] = [
  { room: 1, members: [1, 2] },
  { room: 2, members: [3, 4] },
  { room: 3, members: [1, 3] },
];
export const MEMBERS = [1, 2, 3, 4];
export const ARTICLE_AUTHOR = 4;

/** The calls of clients by REST but those of a room. */
export class ModelRest extends ModelLines {
  readonly service = new ModelService(ROOMS);
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
    const rooms = this.service.rooms.filter(({ members }) => members.includes(member));
    this.call(client, 'rest', { f: 'rooms' }, () => ({
      rooms: rooms.map((room) => this.service.state(room, member)),
    }));
  }

  notifications(client: Client): void {
    this.call(client, 'rest', { f: 'notifications' }, () => ({
      notifications: this.service.list(client.member),
    }));
  }

  article(client: Client): void {
    this.call(client, 'rest', { f: 'article', article: 1 }, () => {
      this.service.views += 1;
      const comments = this.service.comments.filter(({ deleted }) => !deleted).length;
      return { views: this.service.views, likes: this.service.hearts.size, comments };
    });
  }

  comments(client: Client): void {
    this.call(client, 'rest', { f: 'comments', article: 1 }, () => ({
      comments: this.service.comments.map((comment) => ({ ...comment, likes: 0 })),
    }));
  }

  comment(client: Client): void {
    this.texts += 1;
    const content = `comment ${this.texts}`;
    const tops = this.service.comments.filter(({ parent }) => parent === undefined);
    const parent = this.below(3) === 0 ? tops[this.below(Math.max(1, tops.length))]?.id : undefined;
    if (parent !== undefined) this.comments(client);
    const body = { f: 'comment', article: 1, content, ...(parent === undefined ? {} : { parent }) };
    this.call(client, 'rest', body, () => {
      const isLost = this.isLost();
      if (!isLost || this.below(2) === 0)
        this.service.comment(client.member, ARTICLE_AUTHOR, content, parent);
      return isLost ? undefined : {};
    });
  }

  heart(client: Client): void {
    const { hearts } = this.service;
    const f = hearts.has(client.member) ? 'unheart' : 'heart';
    this.call(client, 'rest', { f, target: 'article', id: 1 }, () => {
      if (f === 'heart') hearts.add(client.member);
      else hearts.delete(client.member);
      return { count: hearts.size };
    });
  }
}
