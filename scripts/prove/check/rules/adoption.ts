import { ANIMAL } from '../../../run-accounts/accounts.js';
import { hashOfPost } from '../../answers/adoption.js';
import { at, type Rule } from '../rule.js';

export const renderList: Rule = {
  name: 'posts-are-rendered',
  says: 'The adoption listing holds the posts that rooms are about, newest first, each once and as it is',
  source: 'docs/interface.md; docs/contract.md, section 2',
  watch(run, report) {
    const sales = new Set<number>();
    /** As each post was first shown. */
    const hashes = new Map<number, string>();
    return {
      header({ rooms, options }) {
        for (const { saleNo } of rooms) sales.add(saleNo);
        if (options.foreign !== false) return;
        for (const sale of sales) hashes.set(sale, hashOfPost({ ...ANIMAL, modal: false }));
      },
      answered(ok, asked) {
        if (ok.f !== 'render') return;
        const list = `the adoption listing, asked for at ${at(asked.t)},`;
        const numbers = ok.posts.map(({ sale }) => sale);
        if (numbers.some((sale, i) => sale >= (numbers[i - 1] ?? Number.POSITIVE_INFINITY)))
          report(`${list} shows the posts ${numbers.join()}, and not the newest first, each once`);
        const missing = [...sales].filter((sale) => !numbers.includes(sale));
        // Elsewhere there may be more posts than it holds.
        if (missing.length > 0 && !run.isShared) report(`${list} lacks the posts ${missing.join()}`);
        for (const { sale, hash } of ok.posts) {
          const known = hashes.get(sale) ?? hash;
          if (known !== hash)
            report(`${list} shows post ${sale} otherwise than it is: hash ${hash}, not ${known}`);
          hashes.set(sale, known);
        }
      },
    };
  },
};
