import type { Domain } from '../../domain/domain.js';
import { type Route, route } from '../route.js';
import { commentBody, commentChange, commentList, commentPath, commentsPath } from './comments.schema.js';

const tag = 'Comments';
const noArticle = { ARTICLE_NOT_FOUND: 'there is no such article' };
const noComment = { COMMENT_NOT_FOUND: 'there is no such comment' };

/** The documented calls on comments. */
export function commentRoutes({ community }: Pick<Domain, 'community'>): Route[] {
  return [
    route({
      method: 'get',
      path: '/community/comment/:id',
      tag,
      id: 'listComments',
      summary: 'List comments',
      description:
        'Returns all comments of an article, oldest first, each with its replies; an article takes `ARTICLE_COMMENTS` (1,000 by default). A deleted comment that still has replies is listed with an empty text and `deleteStatus` 1.',
      auth: 'optional',
      limit: 'read',
      params: commentsPath,
      answer: commentList,
      errors: noArticle,
      handle: ({ actor, params }) => community.listComments(actor, params.id),
    }),

    route({
      method: 'post',
      path: '/community/comment',
      tag,
      id: 'createComment',
      summary: 'Create comment',
      description:
        'Comments on an article, or replies to a comment of it. The author of the article (`comment`) or of the comment answered (`recomment`) is notified, never the writer.',
      auth: 'required',
      limit: 'write',
      body: commentBody,
      errors: {
        INVALID_INPUT: 'parentId: must be a comment; a reply takes no replies',
        ...noArticle,
        COMMENT_NOT_FOUND: 'parentId: there is no comment 31',
        QUOTA_EXCEEDED: 'more than 1000 comments in 24 h',
        COMMENTS_FULL: 'boardId: the article has 1000 comments',
      },
      handle: ({ actor, body: { boardId: articleId, parentId, context } }) =>
        community.createComment(actor, { articleId, parentId, context }),
    }),

    route({
      method: 'patch',
      path: '/community/comment',
      tag,
      id: 'editComment',
      summary: 'Edit comment',
      description: 'Replaces the text of a comment or reply. Only the author, or role ADMIN, may edit.',
      auth: 'required',
      limit: 'write',
      body: commentChange,
      errors: { FORBIDDEN: 'only its author may edit a comment', ...noComment },
      handle: ({ actor, body }) => community.editComment(actor, body.id, body.context),
    }),

    route({
      method: 'delete',
      path: '/community/comment/:id',
      tag,
      id: 'deleteComment',
      summary: 'Delete comment',
      description:
        'Deletes a comment or reply. With live replies it stays, flagged and without its text, until the last of them goes. Only the author, or role ADMIN, may delete.',
      auth: 'required',
      limit: 'write',
      params: commentPath,
      errors: { FORBIDDEN: 'only its author may delete a comment', ...noComment },
      handle: ({ actor, params }) => community.deleteComment(actor, params.id),
    }),
  ];
}
