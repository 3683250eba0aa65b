import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RestoredArticle, RestoredHeart } from '../../domain/community/index.js';
import type { Actor } from '../../domain/kernel/actor.js';
import { projectRoot } from '../../domain/platform/process/project-root.js';

/** A line of activity.ndjson, oldest first. Members are named by e-mail address. */
export type ActivityRow = { hoursAgo: number } & (
  | {
      record: 'article';
      id: number;
      author: string;
      categoryId: number;
      title: string;
      context: string;
      thumbnail?: string;
      views: number;
      /** How many hours ago each was given, in the order of the members other than the author. */
      hearts: number[];
    }
  | {
      record: 'comment';
      id: number;
      article: number;
      /** The comment that this one replies to. */
      parent?: number;
      author: string;
      context: string;
      hearts?: number[];
    }
  | {
      record: 'message';
      /** Number of the adoption post. */
      post: number;
      author: string;
      recipient: string;
      content: string;
      /** The recipient reads it at once. */
      read?: boolean;
    }
  | { record: 'announcement'; content: string; url: string }
);

export type ActivityOf<R extends ActivityRow['record']> = Extract<ActivityRow, { record: R }>;

/** Members by e-mail address, in the order of the file. */
export type Members = Map<string, Actor>;

/** The rows of a file of this folder. */
export function readRows<T>(name: string): T[] {
  const text = readFileSync(join(projectRoot(), 'scripts', 'sample-data', name), 'utf8');
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}

/** The rows of one kind, in order. */
function rowsOf<R extends ActivityRow['record']>(rows: ActivityRow[], record: R): ActivityOf<R>[] {
  return rows.filter((row): row is ActivityOf<R> => row.record === record);
}

/** The time so many hours before `now` (epoch ms). */
export const timeOf = (now: number, hoursAgo: number) => new Date(now - hoursAgo * 3_600_000);

/** @throws Error when the sample data has no such member */
export function memberOf(members: Members, email: string): Actor {
  const member = members.get(email);
  if (!member) throw new Error(`the sample data has no member ${email}`);
  return member;
}

/** The articles with their comments and hearts, as of `now` (epoch ms). */
export function articlesOf(rows: ActivityRow[], members: Members, now: number): RestoredArticle[] {
  const heartsOf = (author: string, hearts: number[] = []): RestoredHeart[] => {
    const others = [...members.values()].filter(({ email }) => email !== author);
    return hearts.map((hoursAgo, i) => ({ memberNo: (others[i] as Actor).no, at: timeOf(now, hoursAgo) }));
  };
  const comments = rowsOf(rows, 'comment');
  return rowsOf(rows, 'article').map(
    ({ id, author, categoryId, title, context, thumbnail = '', ...row }) => ({
      ...{ id, categoryId, title, context, thumbnail },
      authorNo: memberOf(members, author).no,
      imageList: thumbnail ? [{ id: 1, url: thumbnail }] : [],
      views: row.views,
      publishedAt: timeOf(now, row.hoursAgo),
      hearts: heartsOf(author, row.hearts),
      comments: comments
        .filter(({ article }) => article === id)
        .map((comment) => ({
          id: comment.id,
          parentId: comment.parent ?? 0,
          authorNo: memberOf(members, comment.author).no,
          context: comment.context,
          publishedAt: timeOf(now, comment.hoursAgo),
          hearts: heartsOf(comment.author, comment.hearts),
        })),
    }),
  );
}
