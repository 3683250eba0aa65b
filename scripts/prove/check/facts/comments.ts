import type { Fail, Header, Info, SeenComment } from '../../history.js';
import type { Asked } from '../rule.js';

/** A comment or reply that a client has asked for. */
export interface SentComment {
  readonly article: number;
  readonly author: number;
  readonly content: string;
  readonly parent: number | undefined;
  readonly askedAt: number;
  /** Whom it notifies, where that is known and not its author. */
  readonly recipient: number | undefined;
  ackedAt?: number;
  refused: boolean;
  id?: number;
  /** The notification of it. */
  notification?: number;
  /** When its removal was first asked for, and acknowledged. */
  removalAskedAt?: number;
  removedAt?: number;
}

/** All comments of a run. */
export class Comments {
  readonly #byContent = new Map<string, SentComment>();
  readonly #byId = new Map<number, SentComment>();
  readonly #ofArticle = new Map<number, SentComment[]>();
  readonly #articleAuthors = new Map<number, number>();

  open({ articles }: Header): void {
    for (const { article, author } of articles) this.#articleAuthors.set(article, author);
  }

  all(): IterableIterator<SentComment> {
    return this.#byContent.values();
  }

  ofArticle(article: number): readonly SentComment[] {
    return this.#ofArticle.get(article) ?? [];
  }

  byContent(content: string): SentComment | undefined {
    return this.#byContent.get(content);
  }

  byId(id: number): SentComment | undefined {
    return this.#byId.get(id);
  }

  ask({ article, member, content, parent, t }: Asked<'comment'>): void {
    if (this.#byContent.has(content)) return;
    const recipient =
      parent === undefined ? this.#articleAuthors.get(article) : this.#byId.get(parent)?.author;
    const comment: SentComment = {
      article,
      author: member,
      content,
      parent,
      askedAt: t,
      recipient: recipient === member ? undefined : recipient,
      refused: false,
    };
    this.#byContent.set(content, comment);
    const others = this.#ofArticle.get(article);
    if (others) others.push(comment);
    else this.#ofArticle.set(article, [comment]);
  }

  ack({ content }: Asked<'comment'>, t: number): void {
    const comment = this.#byContent.get(content);
    if (comment) comment.ackedAt ??= t;
  }

  miss({ content }: Asked<'comment'>, { e }: Fail | Info): void {
    const comment = this.#byContent.get(content);
    if (comment) comment.refused = e === 'fail';
  }

  remove({ comment: id }: Asked<'uncomment'>, t: number): void {
    const comment = this.#byId.get(id);
    if (comment) comment.removalAskedAt ??= t;
  }

  removed({ comment: id }: Asked<'uncomment'>, t: number): void {
    const comment = this.#byId.get(id);
    if (comment) comment.removedAt ??= t;
  }

  see({ id, content }: SeenComment): void {
    const comment = this.#byContent.get(content);
    if (!comment || comment.id !== undefined) return;
    comment.id = id;
    this.#byId.set(id, comment);
  }
}
