import type { Clock } from '../kernel/clock.js';
import type { Check } from '../kernel/verification.js';
import { checkSequence, highestNumber } from '../platform/mongo/sequence.model.js';
import { AdoptionPost } from './adoption-post.model.js';
import { type ImportedPost, type ImportOutcome, importPosts, reservePostNumbers } from './import-posts.js';
import { createRenderList } from './list-render-records.js';
import { createPostDirectory } from './post-directory.js';
import { type AdoptionPostDraft, savePost } from './save-post.js';

export type { RenderRecord } from './adoption.presenter.js';
export type { ImportedPost, ImportOutcome } from './import-posts.js';
export type { AdoptionPostDraft } from './save-post.js';

/** Animals offered for adoption: the map's list, and what chats need of a post. Needs a connected database. */
export function createAdoption({ clock }: { clock: Clock }) {
  const renderList = createRenderList(clock);
  const posts = createPostDirectory();

  function changed(numbers: number[]): void {
    renderList.changed();
    for (const no of numbers) posts.forget(no);
  }

  return {
    listRenderRecords: renderList.listRenderRecords,
    findPost: posts.findPost,
    findPosts: posts.findPosts,
    /** Stores a post under the given number, which may exist, or the next one. @returns its number */
    async savePost(post: AdoptionPostDraft & { id?: number | undefined }): Promise<number> {
      const no = await savePost(clock, post);
      changed([no]);
      return no;
    },
    reservePostNumbers,
    /** Stores many posts, by number or natural key. @returns the outcomes, in order */
    async importPosts(imported: ImportedPost[]): Promise<ImportOutcome[]> {
      const { numbers, outcomes } = await importPosts(clock, imported);
      changed(numbers);
      return outcomes;
    },
  };
}

export type Adoption = ReturnType<typeof createAdoption>;

/** The area's checks: post numbers. */
export const checkAdoption = (): Check[] => [
  checkSequence('adoption', 'adoption', () => highestNumber(AdoptionPost)),
];
