import type { Choice } from './actions.js';
import type { Device } from './device.js';

/** Articles of a page when the list is read page by page, and most pages. */
const PAGE = 3;
const MAX_PAGES = 4;

/** Of a page at most, as a search reads it. */
const LONGEST_PAGE = 50;

async function read(device: Device): Promise<void> {
  const chosen = device.pick(device.articles);
  if (chosen !== undefined) await device.rest.article(chosen);
}

/** A title that no other article of the run has, nor begins with. */
const newTitle = (device: Device): string => `${device.community.run} ${device.text()}.`;

const textOf = (title: string): string => `About ${title}`;

/** Publishes an article, finds it by its title, and reads it. */
async function publish(device: Device): Promise<void> {
  const { rest, account, community, published } = device;
  const title = newTitle(device);
  const written: (typeof community.published)[0] = { title, author: account };
  community.published.push(written);
  await rest.publish(title, textOf(title));
  const { ok } = await rest.articles('recent', 1, LONGEST_PAGE, title);
  const found = ok?.list.find((one) => one.title === title);
  if (!found) return;
  written.article = found.article;
  published.push(found.article);
  await rest.article(found.article);
}

/** Changes an article of its own. */
async function edit(device: Device): Promise<void> {
  if (device.published.length === 0) await publish(device);
  const article = device.pick(device.published);
  if (article === undefined) return;
  const title = newTitle(device);
  await device.rest.edit(article, title, textOf(title));
  await device.rest.article(article);
}

/** Deletes an article of its own, and asks for it. */
async function unpublish(device: Device): Promise<void> {
  if (device.published.length === 0) await publish(device);
  const article = device.pick(device.published);
  if (article === undefined) return;
  device.published.splice(device.published.indexOf(article), 1);
  await device.rest.unpublish(article);
  await device.rest.article(article);
}

/** Reads the list page by page. */
async function list(device: Device): Promise<void> {
  const order = device.choose(3) === 0 ? 'like' : 'recent';
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const { ok } = await device.rest.articles(order, page, PAGE);
    if (!ok || ok.list.length < PAGE) return;
  }
}

const all = (weight: number) => ({ socket: weight, rest: weight, legacy: weight });

export const articleChoices: readonly Choice[] = [
  { act: read, weights: all(5), reaches: ['readArticle'] },
  { act: list, weights: all(3), reaches: ['listArticles', 'articlePages'] },
  { act: publish, weights: all(1), reaches: ['createArticle', 'articlePages'] },
  { act: edit, weights: all(1), reaches: ['editArticle'] },
  { act: unpublish, weights: all(1), reaches: ['deleteArticle', 'articlesNotFound'] },
  { act: (device) => device.rest.render(), weights: all(1), reaches: ['listRenderRecords'] },
  { act: (device) => device.rest.me(), weights: all(1), reaches: ['readCaller'] },
];
