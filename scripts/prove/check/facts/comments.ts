import type { Fail, Header, Info, SeenComment } from '../../history.js';
import type { Asked } from '../rule.js';
import { Tally } from './tally.js';
import { Versions } from './versions.js';

/** A comment or reply that a client has asked for. */
export interface SentComment {
  readonly article: number;
  readonly author: number;
  /** As it was first written. */
  readonly content: string;
  readonly versions: Versions;
  readonly parent: number | undefined;
  readonly askedAt: number;
  /** Whom it notifies, where that is known and not its author. */
  readonly recipient: number | undefined;
  ackedAt?: number;
  refused: boolean;
  id?: number;
  /** When it was first shown, and its time there, local ms. */
  seenAt?: number;
  at?: number;
  /** The notification of it. */
  notification?: number;
  /** When its removal was first asked for, unless that was refused, and acknowledged. */
  removalAskedAt?: number | undefined;
  /** Whether that was before its notification had to be there: it needs none then. (domain/community/finish-comment.ts) */
  removedEarly?: boolean;
  removedAt?: number;
  /** Removals under way. */
  removals: number;
  /** Whether one may have been done, or may be yet. */
  mayBeRemoved: boolean;
}

/** The comments of an article. */
export interface Discussion {
  /** Those that are not asked to be removed. */
  readonly kept: Set<SentComment>;
  /** Those that count. */
  readonly live: Tally;
}

/** All comments of a run. */
export class Comments {
  /** Edits included. */
  readonly #byContent = new Map<string, SentComment>();
  readonly #byId = new Map<number, SentComment>();
  readonly #discussions = new Map<number, Discussion>();
  readonly #articleAuthors = new Map<number, number>();

  open({ articles }: Header): void {
    for (const { article, author } of articles) {
      this.#articleAuthors.set(article, author);
      this.ofArticle(article);
    }
  }

  all(): Iterable<SentComment> {
    return new Set(this.#byContent.values());
  }

  ofArticle(article: number): Discussion {
    const discussion = this.#discussions.get(article) ?? { kept: new Set(), live: new Tally() };
    this.#discussions.set(article, discussion);
    return discussion;
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
      versions: new Versions(),
      parent,
      askedAt: t,
      recipient: recipient === member ? undefined : recipient,
      refused: false,
      removals: 0,
      mayBeRemoved: false,
    };
    comment.versions.ask(content, t);
    this.#byContent.set(content, comment);
    const { kept, live } = this.ofArticle(article);
    kept.add(comment);
    live.mayCome();
  }

  ack({ content, article }: Asked<'comment'>, t: number): void {
    const comment = this.#byContent.get(content);
    if (!comment || comment.ackedAt !== undefined) return;
    comment.ackedAt = t;
    comment.versions.ack(content, t);
    if (comment.removalAskedAt === undefined) this.ofArticle(article).live.came();
  }

  miss({ content, article }: Asked<'comment'>, { e }: Fail | Info): void {
    const comment = this.#byContent.get(content);
    if (!comment || e !== 'fail') return;
    comment.refused = true;
    const { kept, live } = this.ofArticle(article);
    kept.delete(comment);
    live.went();
  }

  edit({ comment: id, content, t }: Asked<'editComment'>): void {
    const comment = this.#byId.get(id);
    if (!comment) return;
    comment.versions.ask(content, t);
    this.#byContent.set(content, comment);
  }

  edited({ comment: id, content }: Asked<'editComment'>, t: number): void {
    this.#byId.get(id)?.versions.ack(content, t);
  }

  notEdited({ comment: id, content }: Asked<'editComment'>, outcome: Fail | Info): void {
    this.#byId.get(id)?.versions.miss(content, outcome);
  }

  remove({ comment: id, article }: Asked<'uncomment'>, t: number): void {
    const comment = this.#byId.get(id);
    if (!comment) return;
    comment.removals += 1;
    if (comment.removalAskedAt !== undefined) return;
    comment.removalAskedAt = t;
    const { kept, live } = this.ofArticle(article);
    kept.delete(comment);
    if (comment.ackedAt !== undefined) live.mayGo();
  }

  removed({ comment: id, article }: Asked<'uncomment'>, t: number): void {
    const comment = this.#byId.get(id);
    if (!comment) return;
    comment.removals -= 1;
    if (comment.removedAt !== undefined) return;
    comment.removedAt = t;
    this.ofArticle(article).live.went();
  }

  /** It is there as before if it is refused, and no other removal may remove it. */
  notRemoved({ comment: id, article }: Asked<'uncomment'>, outcome: Fail | Info): void {
    const comment = this.#byId.get(id);
    if (!comment) return;
    comment.removals -= 1;
    // Of a removal that a proxy has repeated, the second is refused as not found.
    if (outcome.e === 'info' || outcome.status === 404) comment.mayBeRemoved = true;
    if (comment.removals > 0 || comment.mayBeRemoved || comment.removedAt !== undefined) return;
    if (comment.removalAskedAt === undefined) return;
    comment.removalAskedAt = undefined;
    comment.removedEarly = false;
    const { kept, live } = this.ofArticle(article);
    kept.add(comment);
    if (comment.ackedAt !== undefined) live.came();
  }

  see({ id, content, at }: SeenComment, t: number): void {
    const comment = this.#byContent.get(content);
    if (!comment || comment.id !== undefined) return;
    Object.assign(comment, { id, at, seenAt: t });
    // An edit needs the id: what is shown first is what was first written.
    comment.versions.ack(content, t);
    this.#byId.set(id, comment);
  }
}
