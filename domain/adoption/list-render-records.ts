import type { Clock } from '../kernel/clock.js';
import { presentRenderRecord, type RenderRecord } from './adoption.presenter.js';
import { AdoptionPost } from './adoption-post.model.js';

/** Most posts the list holds, newest first: bounds its time and size (fault 44). */
const MAX_POSTS = 50_000;

/** How long, in ms, a list serves at least: what another process wrote is seen this late. */
const FRESH_MS = 2_000;

/** A list serves this many times as long as reading it took: reading it anew is at most 5 % of the time. */
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

export interface RenderList {
  /** All posts as the map renders them, newest first; the same array while nothing has changed. */
  listRenderRecords(): Promise<readonly RenderRecord[]>;
  /** Tells that this process has written a post. */
  changed(): void;
}

export function createRenderList(clock: Clock): RenderList {
  let generation = 0;
  let known: { generation: number; at: number; serves: number; records: Promise<RenderRecord[]> } | undefined;

  async function load(): Promise<RenderRecord[]> {
    const posts = await AdoptionPost.find({}, RENDERED_FIELDS).sort({ _id: -1 }).limit(MAX_POSTS).lean();
    return posts.map(presentRenderRecord);
  }

  return {
    listRenderRecords() {
      const age = known ? clock.now() - known.at : Number.NaN;
      if (known && known.generation === generation && age >= 0 && age < known.serves) return known.records;
      const startedAt = performance.now();
      const loading = { generation, at: clock.now(), serves: Number.POSITIVE_INFINITY, records: load() };
      known = loading;
      loading.records.then(
        () => {
          loading.serves = Math.max(FRESH_MS, FRESH_PER_COST * (performance.now() - startedAt));
        },
        () => {
          // A failure is not kept: the next call asks the database again.
          if (known === loading) known = undefined;
        },
      );
      return loading.records;
    },
    changed() {
      generation += 1;
    },
  };
}
