import { forEachConcurrently } from '../load/pacing.js';
import type { Account, Author } from '../run-accounts/accounts.js';
import { must, rest } from '../run-accounts/rest.js';
import { openRoom } from '../run-accounts/rooms.js';

/** Rooms and articles of a run, and who is in them. */
export interface Community {
  /** In the titles of its articles. */
  run: string;
  members: Account[];
  rooms: { room: number; author: Account; asker: Account; saleNo: number; saleTitle: string }[];
  articles: { article: number; author: Account; title: string; text: string; images: Image[] }[];
  /** Articles that clients publish during the run; `article`: its number, once it was found. */
  published: { title: string; author: Account; article?: number }[];
  /** What the service adds to UTC for local times, ms; undefined where that is not known. */
  localOffsetMs?: number;
}

interface Image {
  no: number;
  url: string;
}

/** The command, in the names of what it creates and as User-Agent of its requests. */
export const CLIENT = 'prove';

/** Articles of a run, one for so many members. */
const MEMBERS_PER_ARTICLE = 4;

/** Calls at the same time. */
const CONCURRENCY = 8;

/** Who asks whom: each member the one before, so that everybody is in two rooms, and each fourth one another. */
function pairsOf(members: Author[]): [author: Author, asker: Author][] {
  const at = (i: number) => members[i % members.length] as Author;
  const ring = members.map((author, i): [Author, Author] => [author, at(i + 1)]);
  const across = Math.floor(members.length / 2);
  const others = members.flatMap((author, i): [Author, Author][] =>
    i % 4 === 0 && across > 1 ? [[author, at(i + across)]] : [],
  );
  return [...ring, ...others];
}

async function publish(
  base: string,
  run: string,
  author: Account,
  number: number,
): Promise<Community['articles'][0]> {
  const call = { base, token: author.token, client: CLIENT };
  const title = `${run} article ${number}`;
  const text = 'Bori has found a home.';
  const images = [1, 2].map((no) => ({ no, url: `/${run}/${number}-${no}.jpg` }));
  const imageList = images.map(({ no, url }) => ({ id: no, url }));
  const body = { categoryId: 1, title, context: text, imageList, thumbnail: '' };
  await must({ ...call, method: 'POST', path: '/community/article', body });
  const path = `/community/list/recent?size=50&option=title&keyword=${encodeURIComponent(title)}`;
  const { list } = await must<{ list: { id: number; title: string }[] }>({ ...call, method: 'GET', path });
  const found = list.find((article) => article.title === title);
  if (!found) throw new Error(`the article "${title}" was published but is not listed`);
  return { article: found.id, author, title, text, images };
}

/** A run's members, without rooms and articles. */
export const emptyCommunity = (run: string, members: Account[]): Community => ({
  ...{ run, members, rooms: [], articles: [], published: [] },
});

/**
 * Opens the rooms of a run and publishes its articles, over the public interface. What is done is in `community` at once.
 * @throws Error if no room can be opened
 */
export async function openCommunity(base: string, community: Community, members: Author[]): Promise<void> {
  const { run } = community;
  await forEachConcurrently(pairsOf(members), CONCURRENCY, async ([author, asker]) => {
    const opened = await openRoom(base, CLIENT, author, asker);
    // Nobody knows who sent what it holds, as an earlier run did: tokens are those of the same members again.
    if (!opened || opened.isUsed) return;
    const { room, saleNo, saleTitle } = opened;
    community.rooms.push({ room, saleNo, saleTitle, author, asker });
  });
  if (community.rooms.length === 0) {
    throw new Error(
      'no empty room could be opened: none of the members is the author of an adoption post, or their rooms hold messages, as those of an earlier run do',
    );
  }
  community.rooms.sort((a, b) => a.room - b.room);
  const authors = members.filter((_, i) => i % MEMBERS_PER_ARTICLE === 0);
  for (const [i, author] of authors.entries()) {
    community.articles.push(await publish(base, run, author, i + 1));
  }
}

/** Numbers of the articles that clients have published, found by their titles; of deleted ones, too. */
async function findPublished(base: string, { published }: Community): Promise<number[]> {
  for (const one of published.filter(({ article }) => article === undefined)) {
    const { token } = one.author;
    const path = `/community/list/recent?size=50&option=title&keyword=${encodeURIComponent(one.title)}`;
    const outcome = await rest<{ list: { id: number; title: string }[] }>({
      ...{ base, method: 'GET', path, token, client: CLIENT },
    });
    const { list = [] } = 'answer' in outcome ? outcome.answer : {};
    const found = list.find(({ title }) => title === one.title);
    if (found) one.article = found.id;
  }
  return published.flatMap(({ article }) => article ?? []);
}

/** Deletes the articles of a run over the public interface. @returns how many of those that it began with are deleted */
export async function deleteArticles(base: string, community: Community): Promise<number> {
  await findPublished(base, community);
  const remove = async ({ article, author }: { article: number; author: Account }) => {
    const path = `/community/article/${article}`;
    const outcome = await rest({ base, method: 'DELETE', path, token: author.token, client: CLIENT });
    return 'answer' in outcome;
  };
  for (const { article, author } of community.published)
    if (article !== undefined) await remove({ article, author });
  let deleted = 0;
  for (const one of community.articles) if (await remove(one)) deleted += 1;
  return deleted;
}
