import { z } from 'zod';
import { takeLocalTime } from './local-time.js';
import { acknowledged, forgetPicture, no, operation, type Shaped, text } from './operation.js';
import { take, takeList } from './rest.js';

/** Characters that are kept of the texts of articles: those of a run are shorter. */
const KEPT = 200;

const summary = {
  article: no,
  title: text,
  text,
  /** The author's name. */
  name: text,
  views: no,
  comments: no,
  likes: no,
  thumbnail: text,
  /** When it was published: local ms (answers/local-time.ts). */
  at: no,
};
/** An article as a list shows it; texts cut to KEPT. */
export type SeenArticle = Shaped<typeof summary>;

function readSummary(view: unknown): { kept: SeenArticle; rest: unknown } {
  const [{ id, title, context, author, view: views, comment, like, thumbnail }, rest] = take(view, {
    ...{ id: 'int', title: 'text', context: 'text', author: 'text', view: 'int', comment: 'int' },
    ...{ like: 'int', thumbnail: 'text' },
  });
  const at = takeLocalTime(rest, 'publishedAt', 'text');
  return {
    kept: {
      ...{ article: id, title: title.slice(0, KEPT), text: context.slice(0, KEPT), name: author },
      ...{ views, comments: comment, likes: like, thumbnail: thumbnail.slice(0, KEPT), at },
    },
    rest,
  };
}

/** What an article is changed or published with: no two of a run share a title. */
const written = { title: text, text };

export const articleOperations = {
  article: operation({
    asked: { article: no },
    answered: { title: text, text, author: no, views: no, likes: no, comments: no, at: no },
    read(answer, { world }) {
      const [, rest] = take(answer, {});
      const [{ title, authorId, view, like, comment }, header] = take(rest.header, {
        ...{ title: 'text', authorId: 'int', view: 'int', like: 'int', comment: 'int' },
      });
      const [{ context }, content] = take(rest.context, { context: 'text' });
      const at = takeLocalTime(header, 'publishedAt', 'text');
      forgetPicture(header, world, authorId);
      const texts = { title: title.slice(0, KEPT), text: context.slice(0, KEPT) };
      return {
        kept: { ...texts, author: authorId, views: view, likes: like, comments: comment, at },
        rest: [{ ...rest, header, context: content }],
      };
    },
    rest({ world, member, article }, { author }) {
      const { nickname, picture } = world.member(author) ?? {};
      const { images = [] } = world.article(article) ?? {};
      return [
        {
          ...{ id: article, mine: author === member },
          header: { username: nickname, profile: picture },
          context: { imageList: images.map(({ no, url }) => ({ imageNo: no, imageUrl: url })) },
        },
      ];
    },
  }),

  /** A page of the list, from 1, of `size`: the newest first, or the most liked. `keyword`: of those with it in their title. */
  articles: operation({
    asked: { order: z.enum(['recent', 'like']), page: no, size: no, keyword: text.optional() },
    answered: {
      list: z.array(z.object(summary)),
      hot: z.object(summary).optional(),
      weekly: z.object(summary).optional(),
    },
    read(answer) {
      const [, { hot, weekly, ...rest }] = take(answer, {});
      const list = takeList(rest, 'list').map(readSummary);
      const leaders = Object.entries({ hot, weekly }).flatMap(([name, view]) =>
        view === null ? [] : [{ name, ...readSummary(view) }],
      );
      return {
        kept: {
          list: list.map(({ kept }) => kept),
          ...Object.fromEntries(leaders.map(({ name, kept }) => [name, kept])),
        },
        rest: [rest, ...[...list, ...leaders].map((one) => one.rest)],
      };
    },
    rest: (_, { list, hot, weekly }) => [{}, ...[...list, hot, weekly].flatMap((one) => (one ? [{}] : []))],
  }),

  publish: acknowledged(written),
  edit: acknowledged({ article: no, ...written }),
  unpublish: acknowledged({ article: no }),
};
