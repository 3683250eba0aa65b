import type { Header } from '../history.js';

type Of<K extends 'members' | 'rooms' | 'articles'> = Header[K][number];

/** Who and what a run is about, as its header names it. */
export class World {
  readonly #members = new Map<number, Of<'members'>>();
  readonly #rooms = new Map<number, Of<'rooms'>>();
  readonly #articles = new Map<number, Of<'articles'>>();

  readonly #sales = new Set<number>();

  open({ members, rooms, articles }: Pick<Header, 'members' | 'rooms' | 'articles'>): void {
    for (const member of members) this.#members.set(member.no, member);
    for (const room of rooms) {
      this.#rooms.set(room.room, room);
      this.#sales.add(room.saleNo);
    }
    for (const article of articles) this.#articles.set(article.article, article);
  }

  member(no: number): Of<'members'> | undefined {
    return this.#members.get(no);
  }

  room(no: number): Of<'rooms'> | undefined {
    return this.#rooms.get(no);
  }

  /** Whether a room of the header is about this post. */
  isSale(no: number): boolean {
    return this.#sales.has(no);
  }

  article(no: number): Of<'articles'> | undefined {
    return this.#articles.get(no);
  }
}
