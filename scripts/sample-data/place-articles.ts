import type { RestoredArticle, RestoredComment, RestoredHeart } from '../../domain/community/index.js';
import type { Actor } from '../../domain/kernel/actor.js';
import type { SampleArticle, SampleComment } from './article.js';
import { earlierArticles } from './articles-earlier.js';
import { latelyArticles } from './articles-lately.js';
import { type MemberKey, memberKeys } from './members.js';

const HOUR_MS = 3_600_000;

type Members = Record<MemberKey, Actor>;

/** A comment that knows its time and place but not its number yet. */
interface PlacedComment extends Omit<RestoredComment, 'id' | 'parentId'> {
  parent?: PlacedComment;
}

/**
 * Hearts of `count` members other than the author, spread from the publication to now, denser at first
 * as people see new things; which members they are depends on the seed alone.
 */
function hearts(
  members: Members,
  author: MemberKey,
  count: number,
  from: number,
  until: number,
  seed: number,
): RestoredHeart[] {
  const others = memberKeys.filter((key) => key !== author);
  return Array.from({ length: Math.min(count, others.length) }, (_, i) => ({
    memberNo: members[others[(i + seed) % others.length] as MemberKey].no,
    at: new Date(from + (until - from) * ((i + 1) / (count + 1)) ** 2),
  }));
}

/** An article's comments with their times: over the ten hours behind it, or what there is until now. */
function placeComments(
  members: Members,
  comments: SampleComment[],
  from: number,
  now: number,
  seed: number,
): PlacedComment[] {
  const lines = comments.reduce((sum, { replies = [] }) => sum + 1 + replies.length, 0);
  const step = Math.min(10 * HOUR_MS, now - from) / (lines + 1);
  let at = from;
  const next = () => {
    at += step;
    return new Date(at);
  };
  return comments.flatMap(({ by, text, hearts: count = 0, replies = [] }, i) => {
    const publishedAt = next();
    const comment: PlacedComment = {
      authorNo: members[by].no,
      context: text,
      publishedAt,
      hearts: hearts(members, by, count, publishedAt.getTime(), now, seed + i * 3),
    };
    const answers = replies.map(([replier, context]) => ({
      parent: comment,
      authorNo: members[replier].no,
      context,
      publishedAt: next(),
      hearts: [],
    }));
    return [comment, ...answers];
  });
}

function placeArticle(members: Members, sample: SampleArticle, i: number, now: number) {
  const { by, category, hoursAgo, title, text, picture, views, hearts: count, comments } = sample;
  const from = now - hoursAgo * HOUR_MS;
  const image = picture ? `/demo/pets/${picture}.svg` : '';
  return {
    id: i + 1,
    authorNo: members[by].no,
    categoryId: category,
    title,
    context: text,
    imageList: image ? [{ id: 1, url: image }] : [],
    thumbnail: image,
    views,
    publishedAt: new Date(from),
    hearts: hearts(members, by, count, from, now, i * 5),
    comments: placeComments(members, comments, from, now, i),
  };
}

/**
 * The sample articles as records: numbered in the order of time, as the domain numbers its own, and so
 * alike in every run that only the times differ.
 *
 * @param now epoch ms that the samples' ages count back from
 */
export function placeArticles(members: Members, now: number): RestoredArticle[] {
  const articles = [...earlierArticles, ...latelyArticles]
    .sort((a, b) => b.hoursAgo - a.hoursAgo)
    .map((sample, i) => placeArticle(members, sample, i, now));
  const inTime = articles
    .flatMap(({ comments }) => comments)
    .sort((a, b) => a.publishedAt.getTime() - b.publishedAt.getTime());
  const numbers = new Map(inTime.map((comment, i) => [comment, i + 1]));
  const numbered = ({ parent, ...comment }: PlacedComment, id: number): RestoredComment => ({
    ...comment,
    id,
    parentId: (parent && numbers.get(parent)) ?? 0,
  });
  return articles.map((article) => ({
    ...article,
    comments: article.comments.map((comment) => numbered(comment, numbers.get(comment) as number)),
  }));
}
