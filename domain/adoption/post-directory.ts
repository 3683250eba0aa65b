import { createCache } from '../platform/async/cache.js';
import { AdoptionPost } from './adoption-post.model.js';

/** What a chat needs of the post it is about. */
export interface PostFacts {
  no: number;
  title: string;
  /** Number of the member who offers the animal. */
  authorNo: number;
}

/** Longest time, ms, until a title changed by another process is seen here. */
const FRESH_MS = 5_000;

/** Posts by number, cached. */
export function createPostDirectory() {
  const cache = createCache<number, PostFacts>(10_000, FRESH_MS);
  /** Raised by every local write: what was read before is not cached. */
  let generation = 0;

  /** The posts with these numbers; unknown numbers are left out. */
  async function findPosts(numbers: Iterable<number>): Promise<Map<number, PostFacts>> {
    const found = new Map<number, PostFacts>();
    const missing: number[] = [];
    for (const no of new Set(numbers)) {
      const post = cache.get(no);
      if (post) found.set(no, post);
      else missing.push(no);
    }
    if (missing.length === 0) return found;
    const startedIn = generation;
    const posts = await AdoptionPost.find({ _id: { $in: missing } }, { title: 1, authorNo: 1 }).lean();
    for (const { _id: no, title, authorNo } of posts) {
      const post = { no, title, authorNo };
      if (startedIn === generation) cache.set(no, post);
      found.set(no, post);
    }
    return found;
  }

  return {
    findPosts,
    async findPost(no: number): Promise<PostFacts | undefined> {
      return cache.get(no) ?? (await findPosts([no])).get(no);
    },
    /** To be called after this process wrote a post. */
    forget(no: number): void {
      generation += 1;
      cache.delete(no);
    },
  };
}
