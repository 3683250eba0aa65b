import type { Account } from '../../run-accounts/accounts.js';
import { type RestCall, rest } from '../../run-accounts/rest.js';
import type { OperationName, Operations } from '../history.js';
import type { HistoryFile } from '../history-file.js';
import type { Intrusion, Manner } from '../intrusions.js';
import type { Served } from '../served.js';
import { tokenFor } from './identity.js';
import type { Outgoing } from './socket-door.js';

/** Longest wait that a refusal may ask for, ms. */
const MAX_WAIT_MS = 5_000;

/** What a call returns: the answer as recorded; else its refusal, or nothing where the outcome is unknown. */
export type Asked<F extends OperationName> =
  | { ok: Operations[F]['answered'] }
  | { ok?: undefined; refused?: number };

/** What a call sends beside its operation. */
type Call = Pick<RestCall, 'method' | 'path' | 'body'> & {
  door?: 'rest' | 'push';
  isTokenless?: boolean;
  manner?: Manner;
};

const anonymous = (isTokenless: boolean) => (isTokenless ? { anonymous: true } : {});

/** A client's REST calls, recorded. */
export class RestDoor {
  /** When the client may ask again after a 429, by performance.now(). */
  waitUntil = 0;
  readonly #history: HistoryFile;
  readonly #account: Account;
  readonly #client: string;
  readonly #address: () => Served;

  /** @param address the http process for the next call */
  constructor(history: HistoryFile, account: Account, client: string, address: () => Served) {
    this.#history = history;
    this.#account = account;
    this.#client = client;
    this.#address = address;
  }

  /** Asks another process than by chance, once. */
  at(served: Served): RestDoor {
    return new RestDoor(this.#history, this.#account, this.#client, () => served);
  }

  rooms(): Promise<Asked<'rooms'>> {
    return this.#ask('rooms', {}, { method: 'GET', path: '/chatroom' });
  }

  messages(room: number, limit: number, before?: string): Promise<Asked<'messages'>> {
    const path = `/chatroom/${room}?limit=${limit}${before === undefined ? '' : `&before=${before}`}`;
    const asked = { room, limit, ...(before === undefined ? {} : { before }) };
    return this.#ask('messages', asked, { method: 'GET', path });
  }

  article(article: number): Promise<Asked<'article'>> {
    return this.#ask('article', { article }, { method: 'GET', path: `/community/article/${article}` });
  }

  /** @param keyword only articles with it in their title */
  articles(
    order: 'recent' | 'like',
    page: number,
    size: number,
    keyword?: string,
  ): Promise<Asked<'articles'>> {
    const search = keyword === undefined ? '' : `&option=title&keyword=${encodeURIComponent(keyword)}`;
    const path = `/community/list/${order}?page=${page}&size=${size}${search}`;
    const asked = { order, page, size, ...(keyword === undefined ? {} : { keyword }) };
    return this.#ask('articles', asked, { method: 'GET', path });
  }

  publish(title: string, text: string): Promise<Asked<'publish'>> {
    const body = { categoryId: 1, title, context: text, imageList: [], thumbnail: '' };
    return this.#ask('publish', { title, text }, { method: 'POST', path: '/community/article', body });
  }

  edit(article: number, title: string, text: string): Promise<Asked<'edit'>> {
    const call = {
      method: 'PATCH',
      path: `/community/article/${article}`,
      body: { title, context: text },
    } as const;
    return this.#ask('edit', { article, title, text }, call);
  }

  unpublish(article: number): Promise<Asked<'unpublish'>> {
    return this.#ask('unpublish', { article }, { method: 'DELETE', path: `/community/article/${article}` });
  }

  comments(article: number): Promise<Asked<'comments'>> {
    const path = `/community/comment/${article}`;
    return this.#ask('comments', { article }, { method: 'GET', path });
  }

  comment(article: number, content: string, parent?: number): Promise<Asked<'comment'>> {
    const asked = { article, content, ...(parent === undefined ? {} : { parent }) };
    const body = { boardId: article, parentId: parent ?? null, context: content };
    return this.#ask('comment', asked, { method: 'POST', path: '/community/comment', body });
  }

  editComment(article: number, comment: number, content: string): Promise<Asked<'editComment'>> {
    const body = { id: comment, context: content };
    return this.#ask(
      'editComment',
      { article, comment, content },
      { method: 'PATCH', path: '/community/comment', body },
    );
  }

  uncomment(article: number, comment: number): Promise<Asked<'uncomment'>> {
    const path = `/community/comment/${comment}`;
    return this.#ask('uncomment', { article, comment }, { method: 'DELETE', path });
  }

  heart(target: 'article' | 'comment', id: number): Promise<Asked<'heart'>> {
    const body = { target, id };
    const call = { method: 'POST', path: '/community/heart', body } as const;
    return this.#ask('heart', { target, id }, call);
  }

  unheart(target: 'article' | 'comment', id: number): Promise<Asked<'unheart'>> {
    const call = { method: 'DELETE', path: `/community/heart/${target}/${id}` } as const;
    return this.#ask('unheart', { target, id }, call);
  }

  bookmark(article: number): Promise<Asked<'bookmark'>> {
    return this.#ask('bookmark', { article }, { method: 'POST', path: `/community/bookmark/${article}` });
  }

  unbookmark(article: number): Promise<Asked<'unbookmark'>> {
    return this.#ask('unbookmark', { article }, { method: 'DELETE', path: `/community/bookmark/${article}` });
  }

  notifications(): Promise<Asked<'notifications'>> {
    return this.#ask('notifications', {}, { method: 'GET', path: '/notification/all' });
  }

  check(notification: number): Promise<Asked<'check'>> {
    const path = `/notification/checked/${notification}`;
    return this.#ask('check', { notification }, { method: 'PATCH', path });
  }

  delete(notifications: number[]): Promise<Asked<'delete'>> {
    const call = { method: 'POST', path: '/notification', body: { idList: notifications } } as const;
    return this.#ask('delete', { notifications }, call);
  }

  /** @param creator the author of the post: the member joins */
  openRoom(sale: number, creator: number): Promise<Asked<'openRoom'>> {
    const body = { saleNo: sale, createMember: creator };
    return this.#ask('openRoom', { sale, creator }, { method: 'POST', path: '/chatroom', body });
  }

  me(): Promise<Asked<'me'>> {
    return this.#ask('me', {}, { method: 'GET', path: '/me' });
  }

  render(): Promise<Asked<'render'>> {
    const call = { method: 'GET', path: '/adopt/render?_csrf=none', isTokenless: true } as const;
    return this.#ask('render', {}, call);
  }

  /** Takes the member out of a room, as the legacy app does when its page closes. */
  leave(room: number): Promise<Asked<'leave'>> {
    const body = { email: this.#account.email };
    return this.#ask('leave', { room }, { method: 'POST', path: `/chatroom/${room}`, body });
  }

  /**
   * The legacy push call.
   * @param sendTime epoch ms; the same again is a retry
   * @param isTokenless the service is to know the caller by the client
   */
  push(
    { room, saleNo, key, content, type }: Outgoing & { saleNo: number },
    sendTime: number,
    isTokenless: boolean,
  ): Promise<Asked<'send'>> {
    const nobody = { id: null, senderName: null, senderNo: null, readCount: null, senderEmail: null };
    const body = { ...nobody, chatNo: room, contentType: type ?? 'text', content, saleNo, sendTime };
    const call = { method: 'POST', path: '/chatroom/notification', body, door: 'push', isTokenless } as const;
    return this.#ask(
      'send',
      { room, key, content, ...(type ? { type } : {}), ...anonymous(isTokenless) },
      call,
    );
  }

  /** Posts a broadcast back, as legacy receivers do. @param payload as received */
  postBack(payload: { chatNo: number; id: string }, isTokenless: boolean): Promise<Asked<'postback'>> {
    const { chatNo: room, id } = payload;
    const body = { ...payload, senderEmail: this.#account.email };
    const call = { method: 'POST', path: '/chatroom/notification', body, door: 'push', isTokenless } as const;
    return this.#ask('postback', { room, message: id, ...anonymous(isTokenless) }, call);
  }

  /** Tries what is not the member's to do. @param on number of the room, notification, comment or article */
  intrude(
    call: Intrusion,
    manner: Manner,
    on: number,
    rest: Pick<RestCall, 'method' | 'path' | 'body'>,
  ): Promise<Asked<'intrude'>> {
    return this.#ask(
      'intrude',
      { call, manner, on },
      { ...rest, manner, door: call === 'push' ? 'push' : 'rest' },
    );
  }

  async #ask<F extends OperationName>(
    f: F,
    asked: Operations[F]['asked'],
    { door = 'rest', isTokenless = false, manner, ...call }: Call,
  ): Promise<Asked<F>> {
    const { name, base } = this.#address();
    const asker = { client: this.#client, member: this.#account.no, process: name, door };
    const pending = this.#history.begin(asker, f, asked);
    const token = isTokenless ? undefined : tokenFor(this.#account, manner);
    // The service knows nobody by this one.
    const client = manner === 'tokenless' ? 'nobody' : this.#client;
    const outcome = await rest<unknown>({ ...call, base, token, client: `prove/${client}` });
    if ('answer' in outcome) return { ok: pending.ok(outcome.answer) };
    if ('unknown' in outcome) {
      pending.info(outcome.unknown);
      return {};
    }
    const { status, code, isCertain, retryAfterMs } = outcome.refusal;
    if (!isCertain) {
      pending.info(`${status} ${code}`);
      return {};
    }
    pending.fail(status, code);
    if (status === 429 || status === 503)
      this.waitUntil = performance.now() + Math.min(retryAfterMs, MAX_WAIT_MS);
    return { refused: status };
  }
}
