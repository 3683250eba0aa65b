import type { Client } from './model-lines.js';
import { ARTICLE_AUTHOR, ModelRest, ROOMS } from './model-rest.js';

interface ModelArticle {
  id: number;
  title: string;
  text: string;
  author: number;
  thumbnail: string;
  isDeleted: boolean;
  views: number;
}

/** What clients do with articles and posts. */
export class ModelArticles extends ModelRest {
  /** The first one is the header's. */
  readonly articles: ModelArticle[] = [
    {
      ...{ id: 1, title: 'one', text: 'Bori', author: ARTICLE_AUTHOR, thumbnail: '/1.jpg' },
      ...{ isDeleted: false, views: 0 },
    },
  ];

  #article(id: number): ModelArticle {
    return this.articles[id - 1] as ModelArticle;
  }

  #live(): ModelArticle[] {
    return this.articles.filter(({ isDeleted }) => !isDeleted).reverse();
  }

  #likes({ id }: ModelArticle): number {
    return this.service.likes(`article ${id}`);
  }

  #comments({ id }: ModelArticle): number {
    return id === 1 ? this.service.comments.filter(({ deleted }) => !deleted).length : 0;
  }

  article(client: Client, id = 1): void {
    this.call(client, 'rest', { f: 'article', article: id }, () => {
      const one = this.#article(id);
      if (one.isDeleted) return { code: 'ARTICLE_NOT_FOUND', status: 404 };
      one.views += 1;
      const { title, text, author, views } = one;
      return { title, text, author, views, likes: this.#likes(one), comments: this.#comments(one), at: 0 };
    });
  }

  articleList(client: Client, order: 'recent' | 'like', page: number, size: number, keyword?: string): void {
    const asked = { order, page, size, ...(keyword === undefined ? {} : { keyword }) };
    const show = (one: ModelArticle) => {
      const { id, title, text, author, thumbnail, views } = one;
      const counts = { views, likes: this.#likes(one), comments: this.#comments(one) };
      return { article: id, title, text, name: `member ${author}`, thumbnail, ...counts, at: 0 };
    };
    this.call(client, 'rest', { f: 'articles', ...asked }, () => {
      const byLikes = this.#live().sort((a, b) => this.#likes(b) - this.#likes(a));
      const all = order === 'like' ? byLikes : this.#live();
      const found = all.filter(({ title }) => keyword === undefined || title.includes(keyword));
      const [best] = byLikes;
      return {
        list: found.slice((page - 1) * size, page * size).map(show),
        ...(best ? { hot: show(best), weekly: show(best) } : {}),
      };
    });
  }

  #newTitle(): string {
    this.texts += 1;
    return `title ${this.texts}.`;
  }

  /** Publishes an article, and finds it by its title. It is there without an answer, too: pages may repeat for one still to come. */
  publish(client: Client): void {
    const title = this.#newTitle();
    const text = `text of ${title}`;
    this.call(client, 'rest', { f: 'publish', title, text }, () => {
      this.articles.push({
        ...{ id: this.articles.length + 1, title, text, author: client.member, thumbnail: 'NONE' },
        ...{ isDeleted: false, views: 0 },
      });
      return this.isLost() ? undefined : {};
    });
    this.articleList(client, 'recent', 1, 50, title);
  }

  /** The client's last article. */
  #own({ member }: Client): ModelArticle | undefined {
    return this.articles.findLast(({ author, isDeleted, id }) => author === member && !isDeleted && id > 1);
  }

  edit(client: Client): void {
    const own = this.#own(client);
    if (!own) return;
    const title = this.#newTitle();
    const text = `text of ${title}`;
    this.call(client, 'rest', { f: 'edit', article: own.id, title, text }, () => {
      const isLost = this.isLost();
      if (!isLost || this.below(2) === 0) Object.assign(own, { title, text });
      return isLost ? undefined : {};
    });
    this.article(client, own.id);
  }

  unpublish(client: Client): void {
    const own = this.#own(client);
    if (!own) return;
    this.call(client, 'rest', { f: 'unpublish', article: own.id }, () => {
      own.isDeleted = true;
      return {};
    });
    this.article(client, own.id);
  }

  editComment(client: Client): void {
    const mine = this.service.comments.find(({ author, deleted }) => author === client.member && !deleted);
    if (!mine) return;
    this.comments(client);
    this.texts += 1;
    const content = `comment ${this.texts}`;
    this.call(client, 'rest', { f: 'editComment', article: 1, comment: mine.id, content }, () => {
      mine.content = content;
      return {};
    });
    this.comments(client);
  }

  /** The posts that rooms are about. */
  render(client: Client): void {
    this.call(client, 'rest', { f: 'render' }, () => ({
      posts: ROOMS.map(({ saleNo }) => ({ sale: saleNo, hash: `hash ${saleNo}` })).reverse(),
    }));
  }

  /** Writes a comment, answers it, and removes it. */
  uncommentAnswered(client: Client): void {
    this.comment(client);
    const mine = this.service.comments.at(-1);
    this.comment(client, mine?.id);
    this.uncomment(client, mine);
    this.comments(client);
  }

  me(client: Client): void {
    this.call(client, 'rest', { f: 'me' }, () => ({}));
  }
}
