import type { Domain } from '../../domain/domain.js';
import { DONE } from '../respond.js';
import { type Route, route } from '../route.js';
import { heartBody, heartPath, likeCount } from './hearts.schema.js';

const tag = 'Likes';
const noTarget = {
  ARTICLE_NOT_FOUND: 'there is no such article',
  COMMENT_NOT_FOUND: 'there is no such comment',
};

/** The documented calls on likes. */
export function heartRoutes({ community }: Pick<Domain, 'community'>): Route[] {
  return [
    route({
      method: 'post',
      path: '/community/heart',
      tag,
      id: 'addLike',
      summary: 'Add like',
      description: 'Gives a heart to an article or a comment; a member has one for each.',
      auth: 'required',
      limit: 'write',
      body: heartBody,
      answer: likeCount,
      errors: { ...noTarget, ALREADY_HEARTED: 'this member has given that heart already' },
      async handle({ actor, body }) {
        return { ...DONE, data: await community.giveHeart(actor, body.target, body.id) };
      },
    }),

    route({
      method: 'delete',
      path: '/community/heart/:target/:id',
      tag,
      id: 'removeLike',
      summary: 'Remove like',
      description: 'Takes a heart back.',
      auth: 'required',
      limit: 'write',
      params: heartPath,
      answer: likeCount,
      errors: { ...noTarget, HEART_NOT_FOUND: 'there is no such heart' },
      async handle({ actor, params }) {
        return { ...DONE, data: await community.removeHeart(actor, params.target, params.id) };
      },
    }),
  ];
}
