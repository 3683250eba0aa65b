import type { Clock } from '../kernel/clock.js';
import type { RenderRecord } from './adoption.presenter.js';
import { type ImportedPost, type ImportOutcome, importPosts, reservePostNumbers } from './import-posts.js';
import { createRenderList } from './list-render-records.js';
import { createPostDirectory, type PostDirectory } from './post-directory.js';
import { type AdoptionPostDraft, savePost } from './save-post.js';

export type { RenderRecord } from './adoption.presenter.js';
export type { ImportedPost, ImportOutcome } from './import-posts.js';
export type { AdoptionPostDraft } from './save-post.js';
export { checkAdoption } from './verify-adoption.js';

/** Animals offered for adoption: the listing, and what chats need to know of a post. */
export interface Adoption extends Pick<PostDirectory, 'findPost' | 'findPosts'> {
  /**
   * All posts as the map renders them, newest first, at most 50,000. The same array is returned while
   * nothing has changed, so its serialised form may be kept by identity.
   */
  listRenderRecords(): Promise<readonly RenderRecord[]>;
  /** Stores a new post. @returns its number */
  createPost(draft: AdoptionPostDraft): Promise<number>;
  /** Stores a post under a given number, new or not, or under the next one. @returns its number */
  savePost(post: AdoptionPostDraft & { id?: number | undefined }): Promise<number>;
  /** To be called before an import whose posts bring numbers along, with the highest of them. */
  reservePostNumbers(highest: number): Promise<void>;
  /** Stores many posts, each under its number or its natural key. @returns what became of each, in order */
  importPosts(posts: ImportedPost[]): Promise<ImportOutcome[]>;
}

/** Needs a connected database (platform/mongo). */
export function createAdoption({ clock }: { clock: Clock }): Adoption {
  const renderList = createRenderList(clock);
  const posts = createPostDirectory();

  async function save(post: AdoptionPostDraft & { id?: number | undefined }): Promise<number> {
    const no = await savePost(clock, post);
    renderList.changed();
    posts.forget(no);
    return no;
  }

  return {
    listRenderRecords: renderList.listRenderRecords,
    findPost: posts.findPost,
    findPosts: posts.findPosts,
    createPost: (draft) => save(draft),
    savePost: save,
    reservePostNumbers,
    async importPosts(imported) {
      const { numbers, outcomes } = await importPosts(clock, imported);
      renderList.changed();
      for (const no of numbers) posts.forget(no);
      return outcomes;
    },
  };
}
