import { expect } from 'chai';
import { call, type Member, member } from '../../support/api.js';
import { openRoom } from '../../support/chat.js';
import { openStream } from '../../support/streams.js';
import { expectDocumented, expectValid } from './documents.js';

const article = {
  categoryId: 1,
  title: 'A title',
  context: 'A text',
  imageList: [{ id: 1, url: 'image/one.jpg' }],
  thumbnail: 'image/small.jpg',
};

interface ArticleList {
  list: { id: number }[];
}

async function newArticle(author: Member): Promise<number> {
  await author.post('/community/article', article);
  const { body } = await author.get<ArticleList>('/community/list/recent');
  const [newest] = body.list;
  if (!newest) throw new Error('the article is not listed');
  return newest.id;
}

/** What the documents promise is what a client gets. */
describe('answers as /openapi.json documents them', () => {
  it('articles', async () => {
    const author = await member();
    const other = await member();
    expectDocumented('POST /community/article', await author.post('/community/article', article));
    const id = await newArticle(author);
    const path = `/community/article/${id}`;
    expectDocumented('GET /community/article/{article_id}', await author.get(path));
    expectDocumented('GET /community/article/{article_id}', await call('/community/article/999999999'));
    expectDocumented('GET /community/list/{order}', await call('/community/list/recent?size=50'));
    expectDocumented('GET /community/list/{order}', await call('/community/list/oldest'));
    expectDocumented('POST /community/article', await author.post('/community/article', { title: '' }));
    expectDocumented(
      'POST /community/article',
      await call('/community/article', { method: 'POST', json: article }),
    );
    expectDocumented('PATCH /community/article/{article_id}', await author.patch(path, { title: 'New' }));
    expectDocumented('PATCH /community/article/{article_id}', await other.patch(path, { title: 'New' }));
    expectDocumented('DELETE /community/article/{article_id}', await other.delete(path));
    expectDocumented('DELETE /community/article/{article_id}', await author.delete(path));
  });

  it('bookmarks, comments and likes', async () => {
    const author = await member();
    const reader = await member();
    const id = await newArticle(author);
    for (let i = 0; i < 2; i += 1) {
      expectDocumented(
        'POST /community/bookmark/{target_id}',
        await reader.post(`/community/bookmark/${id}`),
      );
    }
    for (let i = 0; i < 2; i += 1) {
      expectDocumented(
        'DELETE /community/bookmark/{target_id}',
        await reader.delete(`/community/bookmark/${id}`),
      );
    }
    const write = (json: object) =>
      reader.post('/community/comment', { boardId: id, context: 'A comment', ...json });
    expectDocumented('POST /community/comment', await write({}));
    const path = `/community/comment/${id}`;
    const { body } = await reader.get<{ id: number }[]>(path);
    const commentId = body[0]?.id as number;
    expectDocumented('POST /community/comment', await write({ parentId: commentId }));
    expectDocumented('POST /community/comment', await write({ parentId: 999_999_999 }));
    const list = await call<{ comments: unknown[] }[]>(path);
    expect(list.body[0]?.comments).to.have.length(1);
    expectDocumented('GET /community/comment/{id}', list);
    const change = { id: commentId, context: 'Changed' };
    expectDocumented('PATCH /community/comment', await reader.patch('/community/comment', change));
    expectDocumented('PATCH /community/comment', await author.patch('/community/comment', change));
    for (let i = 0; i < 2; i += 1) {
      const heart = await reader.post('/community/heart', { target: 'article', id });
      expectDocumented('POST /community/heart', heart);
    }
    for (let i = 0; i < 2; i += 1) {
      const taken = await reader.delete(`/community/heart/article/${id}`);
      expectDocumented('DELETE /community/heart/{target}/{id}', taken);
    }
    expectDocumented(
      'DELETE /community/comment/{id}',
      await reader.delete(`/community/comment/${commentId}`),
    );
  });

  it('chat', async () => {
    const { author, asker, saleNo, chatNo } = await openRoom();
    const stranger = await member();
    const room = { saleNo, createMember: author.no };
    expectDocumented('POST /chatroom', await asker.post('/chatroom', room));
    expectDocumented('POST /chatroom', await asker.post('/chatroom', { ...room, saleNo: 999_999_999 }));
    expectDocumented('GET /chatroom', await asker.get('/chatroom'));
    const push = { chatNo, saleNo, contentType: 'text', content: 'Hello', id: null, sendTime: 1 };
    const path = '/chatroom/notification';
    expectDocumented('POST /chatroom/notification', await asker.post(path, push));
    expectDocumented('POST /chatroom/notification', await stranger.post(path, push));
    expectDocumented('POST /chatroom/notification', await asker.post(path, { id: 'unknown', chatNo }));
    expectDocumented('GET /chatroom', await author.get('/chatroom'));
    expectDocumented('GET /chatroom/{chat_no}', await author.get(`/chatroom/${chatNo}`));
    expectDocumented('GET /chatroom/{chat_no}', await stranger.get(`/chatroom/${chatNo}`));
    const leave = (raw: string) =>
      call(`/chatroom/${chatNo}`, { method: 'POST', raw, headers: { 'Content-Type': 'application/json' } });
    expectDocumented('POST /chatroom/{chat_no}', await leave(`email=${encodeURIComponent(asker.email)}`));
    expectDocumented('POST /chatroom/{chat_no}', await leave(`email=${encodeURIComponent(stranger.email)}`));
    expectDocumented('POST /chatroom/{chat_no}', await leave('email=nobody'));
    expectDocumented('GET /adopt/render', await call('/adopt/render?_csrf=token'));
  });

  it('notifications and the event stream', async () => {
    const author = await member();
    const reader = await member();
    const id = await newArticle(author);
    const stream = await openStream(author);
    const response = { status: stream.status, headers: stream.headers };
    expect(response.headers.get('x-accel-buffering')).to.equal('no');
    expect(response.headers.get('content-type')).to.match(/^text\/event-stream/);
    await reader.post('/community/comment', { boardId: id, context: 'A comment' });
    const first = await stream.next();
    expectValid('rest', { type: 'string', pattern: '^EventStream Created' }, first.data, 'first event');
    const { data } = await stream.next((event) => event.data.startsWith('{'));
    const record = JSON.parse(data) as { id: number };
    expectValid('rest', { $ref: '#/components/schemas/Notification' }, record, 'event');
    expectDocumented('GET /notification/all', await author.get('/notification/all'));
    const check = (no: number) => author.patch(`/notification/checked/${no}`);
    expectDocumented('PATCH /notification/checked/{notification_id}', await check(record.id));
    expectDocumented('PATCH /notification/checked/{notification_id}', await check(999_999_999));
    const remove = (idList: unknown) => author.post('/notification', { idList });
    expectDocumented('POST /notification', await remove([record.id]));
    expectDocumented('POST /notification', await remove([999_999_999]));
    expectDocumented('POST /notification', await remove('all'));
  });
});
