import type { SeenArticle } from '../../answers/articles.js';
import type { Fail, Header, Info, Invoke, Ok } from '../../history.js';
import { Versions } from './versions.js';

/** An article of a run. */
export interface ArticleRecord {
  readonly author: number;
  /** What it was published as, and edited to. */
  readonly versions: Versions;
  /** Address of its first image. */
  readonly thumbnail: string | undefined;
  id?: number;
  /** When it was acknowledged or first shown to anybody. */
  seenAt?: number;
  /** Whether its publication was refused. */
  refused?: boolean;
  /** When its deletion was first asked for, and acknowledged. */
  deletionAskedAt?: number;
  deletedAt?: number;
}

/** Title and text change together. */
export const textOf = ({ title, text }: Pick<SeenArticle, 'title' | 'text'>): string => `${title} / ${text}`;

/** All articles of a run. */
export class Articles {
  readonly #byId = new Map<number, ArticleRecord>();
  readonly #byTitle = new Map<string, ArticleRecord>();
  readonly #all: ArticleRecord[] = [];

  open({ articles }: Header): void {
    for (const { article, author, title, text, images } of articles) {
      const record = this.#add(author, { title, text }, Number.NEGATIVE_INFINITY, images[0]?.url);
      record.versions.ack(textOf({ title, text }), 0);
      Object.assign(record, { id: article, seenAt: 0 });
      this.#byId.set(article, record);
    }
  }

  #add(
    author: number,
    written: { title: string; text: string },
    t: number,
    thumbnail?: string,
  ): ArticleRecord {
    const record: ArticleRecord = { author, versions: new Versions(), thumbnail };
    record.versions.ask(textOf(written), t);
    this.#all.push(record);
    this.#byTitle.set(written.title, record);
    return record;
  }

  all(): readonly ArticleRecord[] {
    return this.#all;
  }

  byId(id: number): ArticleRecord | undefined {
    return this.#byId.get(id);
  }

  byTitle(title: string): ArticleRecord | undefined {
    return this.#byTitle.get(title);
  }

  /** The one that a list shows; undefined: none of the run's, as far as anybody can tell. */
  shown({ article, title }: SeenArticle): ArticleRecord | undefined {
    return this.#byId.get(article) ?? this.#byTitle.get(title);
  }

  asked(asked: Invoke): void {
    if (asked.f === 'publish') this.#add(asked.member, asked, asked.t);
    else if (asked.f === 'edit') {
      const record = this.#byId.get(asked.article);
      record?.versions.ask(textOf(asked), asked.t);
      if (record) this.#byTitle.set(asked.title, record);
    } else if (asked.f === 'unpublish') {
      const record = this.#byId.get(asked.article);
      if (record) record.deletionAskedAt ??= asked.t;
    }
  }

  answered(ok: Ok, asked: Invoke): void {
    if (asked.f === 'publish') {
      const record = this.#byTitle.get(asked.title);
      record?.versions.ack(textOf(asked), ok.t);
      if (record) record.seenAt ??= ok.t;
    } else if (asked.f === 'edit') this.#byId.get(asked.article)?.versions.ack(textOf(asked), ok.t);
    else if (asked.f === 'unpublish') {
      const record = this.#byId.get(asked.article);
      if (record) record.deletedAt ??= ok.t;
    } else if (ok.f === 'articles') for (const seen of ok.list) this.#see(seen, ok.t);
  }

  unanswered(outcome: Fail | Info, asked: Invoke): void {
    if (asked.f === 'publish') {
      const record = this.#byTitle.get(asked.title);
      record?.versions.miss(textOf(asked), outcome);
      if (record && outcome.e === 'fail') record.refused = true;
    } else if (asked.f === 'edit') this.#byId.get(asked.article)?.versions.miss(textOf(asked), outcome);
  }

  #see(seen: SeenArticle, t: number): void {
    const record = this.shown(seen);
    if (!record) return;
    record.seenAt ??= t;
    if (record.id !== undefined) return;
    record.id = seen.article;
    // An edit needs the number: what is shown first is what was first written.
    record.versions.ack(textOf(seen), t);
    this.#byId.set(seen.article, record);
  }
}
