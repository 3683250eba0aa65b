import { createArticleCard } from './article-card.js';
import { make } from './dom.js';

/** Articles per page. */
const SIZE = 6;

/**
 * The community board, read and written as either member.
 *
 * @param place the element it fills
 * @param actors returns the sessions of both sides
 */
export function createBoard(place, actors) {
  let page = 1;
  let acting = 0;
  const chooser = make('fieldset.acting', {}, make('legend', {}, 'Acting as'));
  const list = make('div.cards', {});
  const more = make('button.quiet', { type: 'button', click: () => void load(page + 1) }, 'More articles');
  place.replaceChildren(chooser, list, more);

  const actor = () => actors()[acting];

  function showActors() {
    const choices = actors().map((session, i) =>
      make(
        'label',
        {},
        make('input', {
          type: 'radio',
          name: 'acting',
          value: i,
          checked: i === acting,
          change: () => {
            acting = i;
          },
        }),
        make('span', {}, session.member.nickname),
      ),
    );
    chooser.replaceChildren(make('legend', {}, 'Acting as'), ...choices);
  }

  async function load(number) {
    const {
      hot,
      weekly,
      list: articles,
    } = await actor().get(`/community/list/recent?page=${number}&size=${SIZE}`);
    page = number;
    const leading = number === 1 ? [hot, weekly].filter((article) => article !== null) : [];
    const shown = [...leading, ...articles.filter(({ id }) => !leading.some((article) => article.id === id))];
    const unique = shown.filter(({ id }, i) => shown.findIndex((article) => article.id === id) === i);
    const labelOf = ({ id }) => [hot?.id === id && 'HOT', weekly?.id === id && 'WEEKLY'].filter(Boolean);
    const cards = unique.map((article) =>
      createArticleCard(article, number === 1 ? labelOf(article) : [], actor),
    );
    if (number === 1) list.replaceChildren(...cards);
    else list.append(...cards);
    more.hidden = articles.length < SIZE;
  }

  /** Prepends an article that is on none of the pages shown. */
  async function fetchCard(articleId) {
    const { header, context } = await actor().get(`/community/article/${articleId}`);
    const { username, ...numbers } = header;
    const article = { ...numbers, id: articleId, author: username, context: context.context, thumbnail: '' };
    const card = createArticleCard(article, [], actor);
    list.prepend(card);
    return card;
  }

  return {
    load: () => load(1),
    actorsChanged: showActors,
    /** Opens an article and scrolls to it. */
    async reveal(articleId) {
      const card = list.querySelector(`[data-article="${articleId}"]`) ?? (await fetchCard(articleId));
      card.scrollIntoView({ block: 'center' });
      const opener = card.querySelector('.opener');
      if (opener.getAttribute('aria-expanded') === 'false') opener.click();
    },
  };
}
