import type { Domain } from '../../domain/domain.js';
import { DONE } from '../respond.js';
import { type Route, route } from '../route.js';
import { heartBody, heartPath } from './hearts.schema.js';

/** The documented calls on likes; `data` is the target's like count after the call. */
export function heartRoutes({ community }: Pick<Domain, 'community'>): Route[] {
  return [
    route({
      method: 'post',
      path: '/community/heart',
      auth: 'required',
      limit: 'write',
      body: heartBody,
      async handle({ actor, body }) {
        return { ...DONE, data: await community.giveHeart(actor, body.target, body.id) };
      },
    }),
    route({
      method: 'delete',
      path: '/community/heart/:target/:id',
      auth: 'required',
      limit: 'write',
      params: heartPath,
      async handle({ actor, params }) {
        return { ...DONE, data: await community.takeHeart(actor, params.target, params.id) };
      },
    }),
  ];
}
