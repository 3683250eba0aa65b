import { createCache } from '../platform/async/cache.js';

/** Ids that share an entry, a byte each. */
const PER_PAGE = 512;

/**
 * Marks of notifications by their ids, the latest used. Ids are consecutive over all processes, and an announcement has as many as
 * there are members: on pages each takes a byte or two, in a cache of its own it would take a hundred.
 */
export class NotedIds {
  readonly #pages: ReturnType<typeof createCache<number, Uint8Array>>;

  /** @param max most ids, in whole pages */
  constructor(max: number) {
    this.#pages = createCache(max / PER_PAGE);
  }

  /** @param mark a bit, besides those that the id has */
  add(id: number, mark: number): void {
    const no = Math.floor(id / PER_PAGE);
    let page = this.#pages.get(no);
    if (!page) {
      page = new Uint8Array(PER_PAGE);
      this.#pages.set(no, page);
    }
    page[id % PER_PAGE] = (page[id % PER_PAGE] as number) | mark;
  }

  /** Whether an id has one of these marks. */
  has(id: number, marks: number): boolean {
    const page = this.#pages.get(Math.floor(id / PER_PAGE));
    return page !== undefined && ((page[id % PER_PAGE] as number) & marks) !== 0;
  }
}
