import type { Domain } from '../../domain/domain.js';
import { DONE } from '../respond.js';
import { type Route, route } from '../route.js';
import { articleBody, articleChanges, articlePath, listPath, listQuery } from './articles.schema.js';

/** The documented calls on articles. */
export function articleRoutes({ community }: Pick<Domain, 'community'>): Route[] {
  return [
    route({
      method: 'get',
      path: '/community/article/:articleId',
      auth: 'optional',
      limit: 'read',
      params: articlePath,
      handle: ({ actor, params, peek }) => community.readArticle(actor, params.articleId, peek),
    }),
    route({
      method: 'get',
      path: '/community/list/:order',
      auth: 'optional',
      limit: 'read',
      params: listPath,
      query: listQuery,
      handle: ({ params, query }) => community.listArticles({ ...params, ...query }),
    }),
    route({
      method: 'post',
      path: '/community/article',
      auth: 'required',
      limit: 'write',
      body: articleBody,
      async handle({ actor, body }) {
        await community.createArticle(actor, body);
        return DONE;
      },
    }),
    route({
      method: 'patch',
      path: '/community/article/:articleId',
      auth: 'required',
      limit: 'write',
      params: articlePath,
      body: articleChanges,
      async handle({ actor, params, body }) {
        await community.editArticle(actor, params.articleId, body);
        return DONE;
      },
    }),
    route({
      method: 'delete',
      path: '/community/article/:articleId',
      auth: 'required',
      limit: 'write',
      params: articlePath,
      async handle({ actor, params }) {
        await community.deleteArticle(actor, params.articleId);
        return DONE;
      },
    }),
  ];
}
