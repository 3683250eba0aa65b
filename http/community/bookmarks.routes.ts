import type { Domain } from '../../domain/domain.js';
import { type Route, route } from '../route.js';
import { bookmarkPath } from './bookmarks.schema.js';

const tag = 'Bookmarks';
const noArticle = { ARTICLE_NOT_FOUND: 'there is no such article' };

/** The documented calls on bookmarks. */
export function bookmarkRoutes({ community }: Pick<Domain, 'community'>): Route[] {
  return [
    route({
      method: 'post',
      path: '/community/bookmark/:targetId',
      tag,
      id: 'addBookmark',
      summary: 'Add bookmark',
      description: 'Bookmarks an article for the calling member.',
      auth: 'required',
      limit: 'write',
      params: bookmarkPath,
      errors: { ...noArticle, ALREADY_BOOKMARKED: 'this member has that bookmark already' },
      handle: ({ actor, params }) => community.addBookmark(actor, params.targetId),
    }),

    route({
      method: 'delete',
      path: '/community/bookmark/:targetId',
      tag,
      id: 'removeBookmark',
      summary: 'Remove bookmark',
      description: 'Removes a bookmark of the calling member.',
      auth: 'required',
      limit: 'write',
      params: bookmarkPath,
      errors: { ...noArticle, BOOKMARK_NOT_FOUND: 'there is no such bookmark' },
      handle: ({ actor, params }) => community.removeBookmark(actor, params.targetId),
    }),
  ];
}
