import type { Clock } from '../kernel/clock.js';
import { fitting } from '../kernel/list-size.js';
import { presentRenderRecord, type RenderRecord } from './adoption.presenter.js';
import { AdoptionPost } from './adoption-post.model.js';

/** Most posts in the list, the newest ones: bounds its time and size (fault 44). */
export const MAX_POSTS = 50_000;

/** Most bytes of JSON in the list: 300 a post, and twice what posts take. */
export const MAX_BYTES = 16 * 1024 * 1024;

/** Shortest time, ms, a list is used: other processes' posts are seen this much later. */
const FRESH_MS = 2_000;

/** A list is used this many times as long as reading it took, so that reading takes at most 5 % of the time. */
const FRESH_PER_COST = 20;

const RENDERED_FIELDS = {
  name: 1,
  age: 1,
  kind: 1,
  latitude: 1,
  longitude: 1,
  thumbnail: 1,
  modal: 1,
} as const;

async function readRenderRecords(): Promise<RenderRecord[]> {
  const posts = await AdoptionPost.find({}, RENDERED_FIELDS).sort({ _id: -1 }).limit(MAX_POSTS).lean();
  return fitting(posts.map(presentRenderRecord), MAX_BYTES);
}

interface RenderList {
  records: Promise<RenderRecord[]>;
  readAt: number;
  /** How long it is used, ms. */
  lifetime: number;
}

/** The posts as the map renders them, cached. */
export function createRenderList(clock: Clock) {
  let current: RenderList | undefined;

  function read(): RenderList {
    const startedAt = performance.now();
    const list = { records: readRenderRecords(), readAt: clock.now(), lifetime: Number.POSITIVE_INFINITY };
    list.records.then(
      () => {
        list.lifetime = Math.max(FRESH_MS, FRESH_PER_COST * (performance.now() - startedAt));
      },
      () => {
        // A failure is not cached: the next call reads the database again.
        if (current === list) current = undefined;
      },
    );
    return list;
  }

  return {
    /**
     * All posts, newest first, at most 50,000. The same array while nothing has changed, so that its
     * serialised form may be cached by identity.
     */
    listRenderRecords(): Promise<readonly RenderRecord[]> {
      const age = current ? clock.now() - current.readAt : Number.NaN;
      if (!current || !(age >= 0 && age < current.lifetime)) current = read();
      return current.records;
    },
    /** To be called after this process wrote posts. */
    changed(): void {
      current = undefined;
    },
  };
}
