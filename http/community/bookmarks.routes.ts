import type { Domain } from '../../domain/domain.js';
import { DONE } from '../respond.js';
import { type Route, route } from '../route.js';
import { bookmarkPath } from './bookmarks.schema.js';

/** The documented calls on bookmarks. */
export function bookmarkRoutes({ community }: Pick<Domain, 'community'>): Route[] {
  return [
    route({
      method: 'post',
      path: '/community/bookmark/:targetId',
      auth: 'required',
      limit: 'write',
      params: bookmarkPath,
      async handle({ actor, params }) {
        await community.addBookmark(actor, params.targetId);
        return DONE;
      },
    }),
    route({
      method: 'delete',
      path: '/community/bookmark/:targetId',
      auth: 'required',
      limit: 'write',
      params: bookmarkPath,
      async handle({ actor, params }) {
        await community.removeBookmark(actor, params.targetId);
        return DONE;
      },
    }),
  ];
}
