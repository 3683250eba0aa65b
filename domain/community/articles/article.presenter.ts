import type { Actor } from '../../kernel/actor.js';
import type { LocalDateTime } from '../../kernel/local-date-time.js';
import type { ArticleRecord } from './article.model.js';

/** The documented article detail. */
export interface ArticleDetail {
  id: number;
  mine: boolean;
  header: {
    title: string;
    authorId: number;
    username: string;
    profile: string;
    view: number;
    like: number;
    comment: number;
    publishedAt: string;
  };
  context: { context: string; imageList: { imageNo: number; imageUrl: string }[] };
}

/** The documented article summary: `hot`, `weekly` and the elements of the list. */
export interface ArticleSummary {
  id: number;
  title: string;
  context: string;
  author: string;
  view: number;
  comment: number;
  like: number;
  publishedAt: string;
  thumbnail: string;
}

/** What of an author is shown; a member who is not on record any more has no name to show. */
type Author = Pick<Actor, 'nickname' | 'profile'> | undefined;

/** @param reader who asks, if known: decides `mine` */
export function presentArticle(
  article: ArticleRecord,
  author: Author,
  reader: Actor | undefined,
  localTime: LocalDateTime,
): ArticleDetail {
  return {
    id: article._id,
    mine: article.authorNo === reader?.no,
    header: {
      title: article.title,
      authorId: article.authorNo,
      username: author?.nickname ?? '',
      profile: author?.profile ?? '',
      view: article.views,
      like: article.hearts,
      comment: article.comments,
      publishedAt: localTime.text(article.publishedAt.getTime()),
    },
    context: {
      context: article.context,
      imageList: article.images.map(({ no, url }) => ({ imageNo: no, imageUrl: url })),
    },
  };
}

/** What stands for a thumbnail that is not there: the one text for which the legacy app shows no picture. */
const NO_THUMBNAIL = 'NONE';

/** What of an article its summary needs: lists read no more than this. */
export type SummarisedArticle = Pick<
  ArticleRecord,
  '_id' | 'authorNo' | 'title' | 'context' | 'views' | 'comments' | 'hearts' | 'publishedAt' | 'thumbnail'
>;

export function presentArticleSummary(
  article: SummarisedArticle,
  author: Author,
  localTime: LocalDateTime,
): ArticleSummary {
  return {
    id: article._id,
    title: article.title,
    context: article.context,
    author: author?.nickname ?? '',
    view: article.views,
    comment: article.comments,
    like: article.hearts,
    publishedAt: localTime.text(article.publishedAt.getTime()),
    thumbnail: article.thumbnail || NO_THUMBNAIL,
  };
}
