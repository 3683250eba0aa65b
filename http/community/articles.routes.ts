import type { Domain } from '../../domain/domain.js';
import { limit } from '../middleware/limit.js';
import { MAX_ARTICLE_BODY } from '../read-body.js';
import { type Route, route } from '../route.js';
import { untilGone } from '../until-gone.js';
import {
  articleBody,
  articleChanges,
  articleDetail,
  articleList,
  articlePath,
  listPath,
  listQuery,
} from './articles.schema.js';

const tag = 'Articles';
const noArticle = { ARTICLE_NOT_FOUND: 'there is no such article' };

/** The documented calls on articles. */
export function articleRoutes({ community }: Pick<Domain, 'community'>): Route[] {
  return [
    route({
      method: 'get',
      path: '/community/article/:articleId',
      tag,
      id: 'readArticle',
      summary: 'Read article',
      description: 'Returns one article and adds a view to it. Without a token `mine` is false.',
      auth: 'optional',
      limit: 'read',
      params: articlePath,
      answer: articleDetail,
      errors: noArticle,
      handle: ({ actor, params, peek }) => community.readArticle(actor, params.articleId, peek),
    }),

    route({
      method: 'get',
      path: '/community/list/:order',
      tag,
      id: 'listArticles',
      summary: 'List articles',
      description:
        'Returns the HOT article, the WEEKLY article and a page of articles: `recent` newest first, `like` most liked first. Filters narrow the list alone, never `hot` and `weekly`. In a page with more than 262,144 characters of text the longest texts are shortened.',
      auth: 'optional',
      limit: 'read',
      params: listPath,
      query: listQuery,
      answer: articleList,
      async handle({ actor, params, query, ctx }) {
        if (query.keyword && query.option) await limit(ctx, 'search', actor);
        return community.listArticles({ ...params, ...query }, untilGone(ctx));
      },
    }),

    route({
      method: 'post',
      path: '/community/article',
      tag,
      id: 'createArticle',
      summary: 'Create article',
      description: 'Publishes an article.',
      auth: 'required',
      limit: 'write',
      body: articleBody,
      maxBody: MAX_ARTICLE_BODY,
      errors: { QUOTA_EXCEEDED: 'more than 100 articles in 24 h' },
      handle: ({ actor, body }) => community.createArticle(actor, body),
    }),

    route({
      method: 'patch',
      path: '/community/article/:articleId',
      tag,
      id: 'editArticle',
      summary: 'Edit article',
      description:
        'Replaces the fields that are sent; what is left out or null stays, the thumbnail too. At least one field is needed. Only the author, or a member of role ADMIN, may edit.',
      auth: 'required',
      limit: 'write',
      params: articlePath,
      body: articleChanges,
      maxBody: MAX_ARTICLE_BODY,
      errors: { FORBIDDEN: 'only its author may edit an article', ...noArticle },
      handle: ({ actor, params, body }) => community.editArticle(actor, params.articleId, body),
    }),

    route({
      method: 'delete',
      path: '/community/article/:articleId',
      tag,
      id: 'deleteArticle',
      summary: 'Delete article',
      description:
        'Deletes the article with its hearts and bookmarks; it and its comments answer 404 from then on. Only the author, or a member of role ADMIN, may delete.',
      auth: 'required',
      limit: 'write',
      params: articlePath,
      errors: { FORBIDDEN: 'only its author may delete an article', ...noArticle },
      handle: ({ actor, params }) => community.deleteArticle(actor, params.articleId),
    }),
  ];
}
