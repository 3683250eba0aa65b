import { createCache } from '../platform/cache.js';
import { AdoptionPost } from './adoption-post.model.js';

/** What a chat about a post needs of it. */
export interface PostFacts {
  no: number;
  title: string;
  /** Number of the member who offers the animal. */
  authorNo: number;
}

/** How long, in ms, another process's change of a title may stay unseen here. */
const FRESH_MS = 5_000;

/** Posts by number, for those who show many of them often. */
export interface PostDirectory {
  findPost(no: number): Promise<PostFacts | undefined>;
  /** The posts with these numbers; numbers without a post are left out. */
  findPosts(numbers: Iterable<number>): Promise<Map<number, PostFacts>>;
  /** Tells that this process has written a post. */
  forget(no: number): void;
}

/** @param max posts held in memory */
export function createPostDirectory(max = 10_000): PostDirectory {
  const cache = createCache<number, PostFacts>(max, FRESH_MS);
  /** Moves with every local write: what was read before one is not kept. */
  let generation = 0;

  async function findPosts(numbers: Iterable<number>): Promise<Map<number, PostFacts>> {
    const found = new Map<number, PostFacts>();
    const missing: number[] = [];
    for (const no of new Set(numbers)) {
      const post = cache.get(no);
      if (post) found.set(no, post);
      else missing.push(no);
    }
    if (missing.length === 0) return found;
    const begun = generation;
    const posts = await AdoptionPost.find({ _id: { $in: missing } }, { title: 1, authorNo: 1 }).lean();
    for (const { _id: no, title, authorNo } of posts) {
      const post = { no, title, authorNo };
      if (begun === generation) cache.set(no, post);
      found.set(no, post);
    }
    return found;
  }

  return {
    findPosts,
    async findPost(no) {
      return (await findPosts([no])).get(no);
    },
    forget(no) {
      generation += 1;
      cache.delete(no);
    },
  };
}
