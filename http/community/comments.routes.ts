import type { Domain } from '../../domain/domain.js';
import { DONE } from '../respond.js';
import { type Route, route } from '../route.js';
import { commentBody, commentChange, commentsPath } from './comments.schema.js';

/** The documented calls on comments. */
export function commentRoutes({ community }: Pick<Domain, 'community'>): Route[] {
  return [
    route({
      method: 'get',
      path: '/community/comment/:id',
      auth: 'optional',
      limit: 'read',
      params: commentsPath,
      handle: ({ actor, params }) => community.listComments(actor, params.id),
    }),
    route({
      method: 'post',
      path: '/community/comment',
      auth: 'required',
      limit: 'write',
      body: commentBody,
      async handle({ actor, body }) {
        const { boardId, parentId, context } = body;
        await community.createComment(actor, { articleId: boardId, parentId, context });
        return DONE;
      },
    }),
    route({
      method: 'patch',
      path: '/community/comment',
      auth: 'required',
      limit: 'write',
      body: commentChange,
      async handle({ actor, body }) {
        await community.editComment(actor, body.id, body.context);
        return DONE;
      },
    }),
    route({
      method: 'delete',
      path: '/community/comment/:id',
      auth: 'required',
      limit: 'write',
      params: commentsPath,
      async handle({ actor, params }) {
        await community.deleteComment(actor, params.id);
        return DONE;
      },
    }),
  ];
}
