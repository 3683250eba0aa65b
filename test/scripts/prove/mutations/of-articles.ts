import type { Fail, HistoryLine, Invoke, Ok } from '../../../../scripts/prove/history.js';
import { calls, type Mutation, the } from './edit-history.js';

/** The last list of this order that holds so many, with what was asked. */
const lastList = (lines: HistoryLine[], order: 'recent' | 'like', least: number) =>
  the(
    calls(lines, 'articles').findLast(
      ({ asked, ok }) =>
        asked.order === order && asked.keyword === undefined && asked.page === 1 && ok.list.length >= least,
    ),
  ).ok;

/** The last article that was edited, as it was shown afterwards. */
function editedArticle(lines: HistoryLine[]) {
  const edit = the(calls(lines, 'edit').at(-1));
  return the(
    calls(lines, 'article').findLast(
      ({ asked }) => asked.article === edit.asked.article && asked.t > edit.ok.t,
    ),
  ).ok;
}

function published(lines: HistoryLine[], title: string) {
  return the(calls(lines, 'publish').find(({ asked }) => asked.title !== title));
}

/** Faults of what its name says, by the rule that finds them. */
export const articleMutations: Mutation[] = [
  {
    fault: 'shows an article as another one',
    rule: 'articles-are-kept',
    apply(lines) {
      const ok = editedArticle(lines);
      const { title, text } = published(lines, ok.title).asked;
      Object.assign(ok, { title, text: `${text} ` });
    },
  },
  {
    fault: 'forgets the edit of an article',
    rule: 'articles-are-kept',
    apply(lines) {
      const edit = the(calls(lines, 'edit').at(-1));
      const ok = editedArticle(lines);
      const before = the(
        calls(lines, 'articles')
          .filter(({ asked }) => asked.t < edit.asked.t)
          .flatMap((one) => one.ok.list)
          .findLast(({ article, title }) => article === edit.asked.article && title !== ok.title),
      );
      Object.assign(ok, { title: before.title, text: before.text });
    },
  },
  {
    fault: 'names another author of an article',
    rule: 'articles-are-kept',
    apply(lines) {
      the(calls(lines, 'article').at(-1)).ok.author = 2;
    },
  },
  {
    fault: 'lists an article with another author’s name',
    rule: 'articles-are-kept',
    apply(lines) {
      the(lastList(lines, 'recent', 1).list[0]).name = 'nobody';
    },
  },
  {
    fault: 'shows a deleted article',
    rule: 'articles-are-kept',
    apply(lines) {
      const deleted = the(calls(lines, 'unpublish').at(-1));
      const asked = the(
        lines.findLast(
          (line): line is Extract<Invoke, { f: 'article' }> =>
            line.e === 'invoke' &&
            line.f === 'article' &&
            line.article === deleted.asked.article &&
            line.t > deleted.ok.t,
        ),
      );
      const at = lines.findIndex((line) => line.e === 'fail' && line.op === asked.op);
      const { t, op } = lines[at] as Fail;
      const seen = the(
        calls(lines, 'articles')
          .flatMap((one) => one.ok.list)
          .findLast(({ article }) => article === asked.article),
      );
      const { title, text, views, likes, comments } = seen;
      lines[at] = {
        ...{ e: 'ok', t, op, f: 'article', title, text, author: asked.member },
        ...{ views: views + 1, likes, comments, at: 0 },
      } as Ok;
    },
  },
  {
    fault: 'loses an article',
    rule: 'articles-are-kept',
    apply(lines) {
      const { ok } = the(calls(lines, 'article').at(-1));
      const { t, op } = ok;
      lines[lines.indexOf(ok)] = { e: 'fail', t, op, status: 404, code: 'ARTICLE_NOT_FOUND' };
    },
  },
  {
    fault: 'leaves an article out of the list',
    rule: 'article-lists-are-whole',
    apply: (lines) => void lastList(lines, 'recent', 2).list.splice(-2, 1),
  },
  {
    fault: 'lists articles from the oldest on',
    rule: 'article-lists-are-whole',
    apply: (lines) => void lastList(lines, 'recent', 2).list.reverse(),
  },
  {
    fault: 'shows the last article of a page again on the next one',
    rule: 'article-lists-are-whole',
    apply(lines) {
      const pages = calls(lines, 'articles').filter(
        ({ asked }) => asked.order === 'recent' && asked.keyword === undefined && asked.size === 1,
      );
      const [first, second] = pages.slice(-2);
      the(second).ok.list = structuredClone(the(first).ok.list);
    },
  },
  {
    fault: 'lists articles with fewer hearts first',
    rule: 'article-lists-are-whole',
    apply: (lines) => void lastList(lines, 'like', 2).list.reverse(),
  },
  {
    fault: 'does not find an article by its title',
    rule: 'article-lists-are-whole',
    apply(lines) {
      const { asked } = the(calls(lines, 'publish').at(-1));
      the(calls(lines, 'articles').findLast((one) => one.asked.keyword === asked.title)).ok.list = [];
    },
  },
  {
    fault: 'shows an article without hearts as hot',
    rule: 'hot-and-weekly-lead',
    apply(lines) {
      const list = lastList(lines, 'like', 2);
      list.hot = the(list.list.find(({ likes }) => likes === 0));
    },
  },
  {
    fault: 'opens a second room for a pair',
    rule: 'rooms-are-opened-once',
    apply(lines) {
      const { ok } = the(calls(lines, 'rooms').findLast((one) => one.ok.rooms.some(({ opened }) => opened)));
      const opened = the(ok.rooms.find((one) => one.opened));
      ok.rooms.push({ ...opened, room: opened.room + 1 });
    },
  },
  {
    fault: 'opens a room that it does not list',
    rule: 'rooms-are-opened-once',
    apply(lines) {
      const { ok } = the(calls(lines, 'rooms').findLast((one) => one.ok.rooms.some(({ opened }) => opened)));
      ok.rooms = ok.rooms.filter(({ opened }) => !opened);
    },
  },
  {
    fault: 'counts a comment too many in a list of articles',
    rule: 'counters-are-records',
    apply(lines) {
      the(the(lastList(lines, 'recent', 1)).list.find(({ article }) => article === 1)).comments += 1;
    },
  },
  {
    fault: 'shows in a list of articles how often one was viewed some time ago',
    rule: 'counters-are-records',
    apply(lines) {
      the(the(lastList(lines, 'recent', 1)).list.find(({ article }) => article === 1)).views = 0;
    },
  },
  {
    fault: 'leaves an article out of the most liked',
    rule: 'article-lists-are-whole',
    apply: (lines) => void lastList(lines, 'like', 2).list.pop(),
  },
  {
    fault: 'lists more articles than were asked for',
    rule: 'article-lists-are-whole',
    apply(lines) {
      const { op, list } = lastList(lines, 'recent', 2);
      the(calls(lines, 'articles').find(({ ok }) => ok.op === op)).asked.size = list.length - 1;
    },
  },
  {
    fault: 'shows the text of a deleted comment',
    rule: 'comments-are-kept',
    apply(lines) {
      const shown = calls(lines, 'comments').flatMap(({ ok }) => ok.comments);
      the(shown.find(({ deleted }) => deleted)).content = 'deleted';
    },
  },
  {
    fault: 'keeps a deleted comment without replies',
    rule: 'comments-are-kept',
    apply(lines) {
      const { comments } = the(calls(lines, 'comments').at(-1)).ok;
      const flagged = the(comments.find(({ deleted }) => deleted));
      for (const reply of comments.filter(({ parent }) => parent === flagged.id))
        comments.splice(comments.indexOf(reply), 1);
    },
  },
  {
    fault: 'leaves a post out of the map',
    rule: 'posts-are-rendered',
    apply: (lines) => void the(calls(lines, 'render').at(-1)).ok.posts.splice(1, 1),
  },
  {
    fault: 'shows a post on the map in two ways',
    rule: 'posts-are-rendered',
    apply(lines) {
      the(the(calls(lines, 'render').at(-1)).ok.posts[0]).hash = 'another';
    },
  },
  {
    fault: 'forgets the edit of a comment',
    rule: 'comments-are-kept',
    apply(lines) {
      const { asked, ok } = the(calls(lines, 'editComment').at(-1));
      const lists = calls(lines, 'comments');
      const before = the(
        lists
          .filter((one) => one.asked.t < asked.t)
          .flatMap((one) => one.ok.comments)
          .findLast(({ id }) => id === asked.comment),
      );
      const after = the(lists.find((one) => one.asked.t > ok.t));
      the(after.ok.comments.find(({ id }) => id === asked.comment)).content = before.content;
    },
  },
];
