import { make, picture } from './dom.js';
import { Refusal } from './session.js';

/** Shortens `2022-08-01T12:34:56.123456` for a card. */
function dateOf(publishedAt) {
  return publishedAt.slice(0, 16).replace('T', ' ');
}

function countText(comments, views) {
  return `${comments} ${comments === 1 ? 'comment' : 'comments'} · ${views} ${views === 1 ? 'view' : 'views'}`;
}

/** Runs a button's action, and shows an error next to it. */
function attempt(status, work) {
  return async (event) => {
    event?.preventDefault?.();
    status.textContent = '';
    try {
      await work();
    } catch (error) {
      status.textContent = error.message;
    }
  };
}

/**
 * Gives a heart, or removes it if the service answers that the member has given one already.
 * @returns the number of hearts of the target, and whether one is this member's
 */
async function toggleHeart(session, target, id) {
  try {
    const { data } = await session.post('/community/heart', { target, id });
    return { hearts: data, given: true };
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'ALREADY_HEARTED') throw error;
    const { data } = await session.delete(`/community/heart/${target}/${id}`);
    return { hearts: data, given: false };
  }
}

function heartButton(count, what, give) {
  const number = make('span', {}, String(count));
  const button = make('button.heart', { type: 'button', 'aria-label': `Like ${what}` }, '♥ ', number);
  return {
    button,
    press: async () => {
      const { hearts, given } = await give();
      number.textContent = String(hearts);
      button.setAttribute('aria-pressed', String(given));
    },
  };
}

function writeForm(label, send) {
  const input = make('input', { type: 'text', maxlength: '2000', placeholder: label, 'aria-label': label });
  const status = make('p.problem', { role: 'alert' });
  const submit = attempt(status, async () => {
    const text = input.value.trim();
    if (!text) return;
    await send(text);
    input.value = '';
  });
  return make('form.write', { submit }, input, make('button.quiet', { type: 'submit' }, 'Send'), status);
}

/** A comment or reply; `reload` reads the comments again. */
function commentItem(comment, articleId, actor, reload) {
  const { id, type, author, context, like, deleteStatus, publishedAt, comments = [] } = comment;
  const status = make('span.problem', { role: 'alert' });
  const heart = heartButton(like, `the comment of ${author}`, () => toggleHeart(actor(), 'comment', id));
  heart.button.addEventListener('click', attempt(status, heart.press));
  const answer = make('div', { hidden: true });
  const reply = make(
    'button.quiet',
    {
      type: 'button',
      click() {
        answer.hidden = !answer.hidden;
        answer.querySelector('input')?.focus();
      },
    },
    'Reply',
  );
  answer.append(
    writeForm(`Reply to ${author}`, async (text) => {
      await actor().post('/community/comment', { boardId: articleId, parentId: id, context: text });
      await reload();
    }),
  );
  const deleted = deleteStatus !== 0;
  return make(
    'li.comment',
    {},
    make('p', {}, make('strong', {}, author), ' ', make('time', {}, dateOf(publishedAt))),
    make(deleted ? 'p.gone' : 'p', {}, deleted ? 'This comment was deleted.' : context),
    !deleted && make('div.row', {}, heart.button, type === 0 && reply, status),
    answer,
    comments.length > 0 &&
      make('ul', {}, ...comments.map((one) => commentItem(one, articleId, actor, reload))),
  );
}

/**
 * An article of the list; opened, it shows its whole text and comments.
 *
 * @param labels such as HOT
 * @param actor returns the session of the acting member
 */
export function createArticleCard(article, labels, actor) {
  const { id, title, context, author, thumbnail, publishedAt } = article;
  let { view } = article;
  const status = make('span.problem', { role: 'alert' });
  const counts = make('span.counts', {}, countText(article.comment, view));
  const heart = heartButton(article.like, title, () => toggleHeart(actor(), 'article', id));
  heart.button.addEventListener('click', attempt(status, heart.press));
  const text = make('p.excerpt', {}, context);
  const comments = make('ul.comments', { 'aria-label': `Comments on ${title}` });
  const more = make('div.more', { hidden: true }, comments);

  async function loadComments() {
    const all = await actor().get(`/community/comment/${id}`);
    comments.replaceChildren(...all.map((comment) => commentItem(comment, id, actor, loadComments)));
    const live = all
      .flatMap((comment) => [comment, ...comment.comments])
      .filter((one) => one.deleteStatus === 0);
    counts.textContent = countText(live.length, view);
    if (all.length === 0) comments.append(make('li.empty', {}, 'No comments yet.'));
  }

  more.append(
    writeForm('Write a comment', async (content) => {
      await actor().post('/community/comment', { boardId: id, parentId: 0, context: content });
      await loadComments();
    }),
  );

  const opener = make('button.opener', { type: 'button', 'aria-expanded': 'false' }, title);
  opener.addEventListener(
    'click',
    attempt(status, async () => {
      const opened = opener.getAttribute('aria-expanded') !== 'true';
      opener.setAttribute('aria-expanded', String(opened));
      more.hidden = !opened;
      text.classList.toggle('whole', opened);
      if (!opened) return;
      const detail = await actor().get(`/community/article/${id}`);
      view = detail.header.view;
      text.textContent = detail.context.context;
      await loadComments();
    }),
  );

  return make(
    'article.card',
    { 'data-article': id },
    picture(thumbnail, 72),
    make(
      'div.card-body',
      {},
      make('h3', {}, ...labels.map((label) => make('span.label', {}, label)), opener),
      make('p.by', {}, `${author} · ${dateOf(publishedAt)}`),
      text,
      make('div.row', {}, heart.button, counts, status),
      more,
    ),
  );
}
