import type { Choice } from './actions.js';
import type { Device } from './device.js';

/** Lists the comments of an article, which the client then knows. */
export async function listComments(device: Device, article = device.pick(device.articles)): Promise<void> {
  if (article === undefined) return;
  const { ok } = await device.rest.comments(article);
  if (!ok) return;
  device.comments = ok.comments.filter(({ deleted }) => !deleted).map((one) => ({ ...one, article }));
}

async function comment(device: Device): Promise<void> {
  const above = device.choose(2) === 0 ? device.pick(device.comments) : undefined;
  const article = above?.article ?? device.pick(device.articles);
  if (article !== undefined) await device.rest.comment(article, device.text(), above?.parent ?? above?.id);
}

const ownComments = ({ comments, account }: Device) => comments.filter(({ author }) => author === account.no);

async function uncomment(device: Device): Promise<void> {
  const mine = device.pick(ownComments(device));
  if (mine) await device.rest.uncomment(mine.article, mine.id);
}

async function editComment(device: Device): Promise<void> {
  if (ownComments(device).length === 0) await listComments(device);
  const mine = device.pick(ownComments(device));
  if (!mine) return;
  await device.rest.editComment(mine.article, mine.id, device.text());
  await listComments(device, mine.article);
}

/** Writes a comment, answers it, and deletes it: it stays, without its text. */
async function uncommentAnswered(device: Device): Promise<void> {
  const article = device.pick(device.articles);
  if (article === undefined) return;
  const content = device.text();
  await device.rest.comment(article, content);
  await listComments(device, article);
  const mine = ownComments(device).find((one) => one.content === content);
  if (!mine) return;
  await device.rest.comment(article, device.text(), mine.id);
  await device.rest.uncomment(article, mine.id);
  await listComments(device, article);
}

/** An article, or a comment that the client has seen. */
function pickTarget(device: Device): ['article' | 'comment', number] | undefined {
  const seen = device.choose(2) === 0 ? device.pick(device.comments) : undefined;
  const id = seen?.id ?? device.pick(device.articles);
  return id === undefined ? undefined : [seen ? 'comment' : 'article', id];
}

async function heart(device: Device): Promise<void> {
  const target = pickTarget(device);
  if (!target) return;
  if (device.choose(3) === 0) await device.rest.unheart(...target);
  else await device.rest.heart(...target);
}

/** Gives a heart that is not there, by two requests at once, then once more, and removes it twice. */
async function heartTwice(device: Device): Promise<void> {
  const target = pickTarget(device);
  if (!target) return;
  const { rest } = device;
  await rest.unheart(...target);
  await Promise.all([rest.heart(...target), rest.heart(...target)]);
  await rest.heart(...target);
  await rest.unheart(...target);
  await rest.unheart(...target);
}

async function bookmark(device: Device): Promise<void> {
  const article = device.pick(device.articles);
  if (article === undefined) return;
  if (device.choose(3) === 0) await device.rest.unbookmark(article);
  else await device.rest.bookmark(article);
}

/** The same with a bookmark. */
async function bookmarkTwice(device: Device): Promise<void> {
  const article = device.pick(device.articles);
  if (article === undefined) return;
  const { rest } = device;
  await rest.unbookmark(article);
  await Promise.all([rest.bookmark(article), rest.bookmark(article)]);
  await rest.bookmark(article);
  await rest.unbookmark(article);
  await rest.unbookmark(article);
}

const all = (weight: number) => ({ socket: weight, rest: weight, legacy: weight });

export const communityChoices: readonly Choice[] = [
  { act: (device) => listComments(device), weights: all(6), reaches: ['listComments'] },
  { act: comment, weights: all(5), reaches: ['createComment'] },
  { act: uncomment, weights: all(2), reaches: ['deleteComment'] },
  { act: editComment, weights: all(2), reaches: ['editComment'] },
  { act: uncommentAnswered, weights: all(1), reaches: ['flaggedComments', 'deleteComment'] },
  { act: heart, weights: all(6), reaches: ['addLike', 'removeLike'] },
  {
    act: heartTwice,
    weights: all(2),
    reaches: ['racingHearts', 'secondHearts', 'missingHearts', 'removeLike'],
  },
  { act: bookmark, weights: all(3), reaches: ['addBookmark', 'removeBookmark'] },
  {
    act: bookmarkTwice,
    weights: all(2),
    reaches: ['racingBookmarks', 'secondBookmarks', 'missingBookmarks', 'removeBookmark'],
  },
];
