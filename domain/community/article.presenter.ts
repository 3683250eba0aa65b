import type { Actor } from '../kernel/actor.js';
import { isImageAddress, shownImage } from '../kernel/image-address.js';
import type { LocalDateTime } from '../kernel/local-date-time.js';
import type { ArticleRecord, SummarisedArticle } from './article.model.js';

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

/** Undefined for a member who is no longer stored: their name is shown as empty. */
type Author = Pick<Actor, 'nickname' | 'profile'> | undefined;

/** @param reader the caller, if known: decides `mine` */
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
      // Without what only earlier versions accepted: an edit that sends the list back would be refused.
      imageList: article.images
        .filter(({ url }) => isImageAddress(url))
        .map(({ no, url }) => ({ imageNo: no, imageUrl: url })),
    },
  };
}

/** A missing thumbnail: the only text for which the legacy app shows no picture. */
const NO_THUMBNAIL = 'NONE';

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
    thumbnail: shownImage(article.thumbnail) || NO_THUMBNAIL,
  };
}
