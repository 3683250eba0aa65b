import type { SeenArticle } from '../../answers/articles.js';
import type { Invoke } from '../../history.js';
import { type ArticleRecord, textOf } from '../facts/articles.js';
import { type Answered, type Asked, at, type Rule } from '../rule.js';

/** Shown for an article without images. (contract, section 3) */
const NO_THUMBNAIL = 'NONE';

const isChange = ({ f }: Invoke) => f === 'edit' || f === 'unpublish';

/** The article that a request is about. */
const articleOf = (asked: Invoke): number | undefined => {
  if ('target' in asked) return asked.target === 'article' ? asked.id : undefined;
  return 'article' in asked ? asked.article : undefined;
};

/** @returns what is wrong with an article that a read asked for at `askedAt` shows */
function faultOf(record: ArticleRecord, shown: Pick<SeenArticle, 'title' | 'text'>, askedAt: number) {
  const { deletedAt, refused, versions } = record;
  if (refused) return 'its publication was refused';
  if (deletedAt !== undefined && deletedAt < askedAt)
    return `its deletion was acknowledged at ${at(deletedAt)}`;
  return versions.faultOf(textOf(shown), askedAt);
}

export const articles: Rule = {
  name: 'articles-are-kept',
  says: 'An acknowledged article is shown as it was last written, by its author’s name, until it is deleted, and then by nobody',
  source: 'docs/contract.md, section 3, promise 1',
  watch(run, report) {
    const { articles, world } = run;

    function checkSummary(one: SeenArticle, place: string, askedAt: number): void {
      const record = articles.shown(one);
      if (!record) return;
      const shown = `${place} shows article ${one.article} "${textOf(one)}"`;
      const fault = faultOf(record, one, askedAt);
      if (fault) report(`${shown}: ${fault}`);
      if (record.id !== undefined && record.id !== one.article)
        report(`${shown}: it had the number ${record.id}`);
      const name = world.member(record.author)?.nickname;
      if (one.name !== name) report(`${shown} by "${one.name}", and "${name}" wrote it`);
      const thumbnail = record.thumbnail ?? NO_THUMBNAIL;
      if (one.thumbnail !== thumbnail)
        report(`${shown} with the thumbnail ${one.thumbnail}; it is ${thumbnail}`);
    }

    function checkDetail(asked: Asked<'article'>, ok: Answered<'article'>): void {
      const record = articles.byId(asked.article);
      if (!record) return;
      const shown = `article ${asked.article}, asked for at ${at(asked.t)}, is "${textOf(ok)}"`;
      const fault = faultOf(record, ok, asked.t);
      if (fault) report(`${shown}: ${fault}`);
      if (ok.author !== record.author) report(`${shown} by member ${ok.author}; ${record.author} wrote it`);
    }

    return {
      answered(ok, asked) {
        if (ok.f === 'article' && asked.f === 'article') checkDetail(asked, ok);
        if (ok.f !== 'articles') return;
        const list = `the list of articles, asked for at ${at(asked.t)},`;
        for (const one of ok.list) checkSummary(one, list, asked.t);
        for (const one of [ok.hot, ok.weekly])
          if (one) checkSummary(one, `${list} as hot or weekly`, asked.t);
      },
      unanswered(outcome, asked) {
        if (outcome.e !== 'fail') return;
        const record = articles.byId(articleOf(asked) ?? Number.NaN);
        if (!record) return;
        const { code } = outcome;
        if (code === 'ARTICLE_NOT_FOUND' && record.deletionAskedAt === undefined)
          report(`${asked.f} of article ${record.id} is refused as not found, and nobody has deleted it`);
        if (code === 'FORBIDDEN' && isChange(asked) && record.author === asked.member)
          report(`${asked.f} of article ${record.id} is refused to its author`);
      },
    };
  },
};
